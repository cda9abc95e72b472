import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// Connections to servers, which any number of ``S3ObjectStore``s share.
///
/// Whoever makes one shuts it down, after the stores that use it. One that is forgotten closes its connections when it
/// is released.
public final class S3Connections: Sendable {
    private let client: HTTPClient
    private let isShutDown = Atomic(false)

    /// Opens nothing yet.
    ///
    /// - Parameters:
    ///   - mostPerServer: How many connections to one server are kept; more requests than that wait for one.
    ///   - connectTimeout: How long a connection may take, its TLS handshake included.
    ///   - idleTimeout: How long a server may send nothing, or take nothing, before a request fails.
    public init(
        mostPerServer: Int = 16, connectTimeout: Duration = .seconds(10), idleTimeout: Duration = .seconds(30)
    ) {
        var configuration = HTTPClient.Configuration(
            // Signatures are made for one address.
            redirectConfiguration: .disallow,
            timeout: .init(
                connect: TimeAmount(connectTimeout), read: TimeAmount(idleTimeout), write: TimeAmount(idleTimeout)),
            // An object's bytes are wanted as they are stored.
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, mostPerServer)
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
        guard !isShutDown.load(ordering: .acquiring) else { return }
        // The client may not be released before it is shut down, which a deinitialiser cannot wait for.
        client.shutdown { _ in }
    }

    /// Fails what is under way, and closes all connections. Later requests throw.
    public func shutdown() async {
        guard !isShutDown.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // It only throws if it was shut down before.
        try? await client.shutdown()
    }

    func exchange(_ exchange: HTTPExchange) async throws(HTTPFailure) -> HTTPAnswer {
        if isShutDown.load(ordering: .acquiring) { throw .impossible("the connections are shut down") }
        do {
            return try await perform(exchange)
        } catch {
            if Task.isCancelled { throw .cancelled }
            throw Self.failure(error)
        }
    }

    private func perform(_ exchange: HTTPExchange) async throws -> HTTPAnswer {
        var request = HTTPClientRequest(url: exchange.url)
        request.method = exchange.method
        request.headers = exchange.headers
        request.tlsConfiguration = exchange.tls
        if !exchange.body.isEmpty || exchange.method == .PUT || exchange.method == .POST {
            request.body = .bytes(ByteBuffer(bytes: exchange.body))
        }
        // The deadline is that of the answer's head; its body has one of its own.
        let response = try await client.execute(request, deadline: .now() + TimeAmount(exchange.timeout))
        // An answer to HEAD says how long another one would be. Its end is waited for all the same: who lets go of an
        // answer before its end closes the connection.
        let length =
            exchange.method == .HEAD ? 0 : response.headers.first(name: "content-length").flatMap(Int.init)
        let answer = HTTPAnswer(status: Int(response.status.code), headers: response.headers, body: [])
        if let length, length > exchange.largestAnswer { throw Self.tooLong(exchange) }
        let patience = exchange.timeout + HTTPExchange.time(for: length ?? exchange.largestAnswer)
        return try await withThrowingTaskGroup(of: HTTPAnswer?.self) { group in
            group.addTask {
                var answer = answer
                answer.body.reserveCapacity(length ?? 0)
                for try await part in response.body {
                    guard part.readableBytes <= exchange.largestAnswer - answer.body.count else {
                        throw Self.tooLong(exchange)
                    }
                    answer.body.append(contentsOf: part.readableBytesView)
                }
                return answer
            }
            group.addTask {
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() ?? nil else {
                throw HTTPFailure.unanswered("the answer took longer than \(patience)")
            }
            return answer
        }
    }

    private static func tooLong(_ exchange: HTTPExchange) -> HTTPFailure {
        .impossible("the answer is longer than \(exchange.largestAnswer) bytes")
    }

    /// What an error of the client says of the request. Texts with names or values of headers are left out.
    private static func failure(_ error: any Error) -> HTTPFailure {
        switch error {
        case let failure as HTTPFailure:
            return failure
        case let error as HTTPClientError:
            let unsent: [HTTPClientError] = [
                .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .httpProxyHandshakeTimeout,
                .socksHandshakeTimeout,
            ]
            if unsent.contains(error) { return .notSent(error.shortDescription) }
            let impossible: [HTTPClientError] = [.alreadyShutdown, .invalidURL, .emptyHost, .emptyScheme]
            if impossible.contains(error) { return .impossible(error.shortDescription) }
            return .unanswered(error.shortDescription)
        case let error as NIOConnectionError:
            return .notSent("no connection to \(error.host):\(error.port)")
        case let error as NIOSSLError:
            return .impossible("TLS failed: \(String(describing: error).prefix(300))")
        case let error as NIOSSLExtraError:
            return .impossible("TLS failed: \(error.description.prefix(300))")
        case let error as BoringSSLError:
            return .impossible("TLS failed: \(String(describing: error).prefix(300))")
        case let error as ChannelError:
            if case .connectTimeout = error { return .notSent("the connection took too long") }
            return .unanswered("the connection broke")
        case let error as IOError:
            if [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ENETDOWN].contains(error.errnoCode) {
                return .notSent("no connection: \(error.description)")
            }
            return .unanswered("the connection broke: \(error.description)")
        default:
            return .unanswered("the connection broke: \(type(of: error))")
        }
    }
}

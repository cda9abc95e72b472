import Foundation
import Synchronization

/// An HTTP server within the test's process that answers as it is told, and worse.
///
/// Each connection has a thread; every call is recorded before it is answered.
final class MischievousServer: Sendable {
    struct Call: Sendable {
        var method: String
        /// As it was sent.
        var path: String
        var query: String
        /// Names in lower case.
        var headers: [String: String]
        var body: [UInt8]
        /// How many calls came before it.
        var number: Int
        /// When it came, by the monotonic clock.
        var time: ContinuousClock.Instant
    }

    enum Reply: Sendable {
        /// An answer with the right length.
        case answer(Int, [String: String] = [:], [UInt8] = [])
        /// The answer to HEAD: headers as given, no body.
        case head(Int, [String: String])
        /// Ends the connection and says nothing.
        case drop
        /// Says that the body is as long as this, sends half of it, and ends the connection.
        case half(Int, [String: String], [UInt8])
        /// Says nothing for so many seconds, then answers.
        case slow(Double, Int, [String: String], [UInt8])
        /// Sends the head at once and a byte of the body in so many seconds.
        case trickle(Double, Int, [String: String], [UInt8])
        /// Bytes as they are.
        case raw(String)
    }

    let port: UInt16
    private let listener: Int32
    private let handler: @Sendable (Call) -> Reply
    private let state = Mutex((calls: [Call](), isStopped: false))
    private let accepted = Atomic(0)

    /// Listens on a free port of the loopback interface.
    init(_ handler: @escaping @Sendable (Call) -> Reply) {
        self.handler = handler
        (listener, port) = Self.listen()
        let thread = Thread { [listener, weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                guard let server = self, !server.state.withLock(\.isStopped) else {
                    close(connection)
                    return
                }
                let thread = Thread { server.serve(connection) }
                thread.start()
            }
        }
        thread.start()
    }

    deinit { stop() }

    func stop() {
        let wasStopped = state.withLock { state in
            defer { state.isStopped = true }
            return state.isStopped
        }
        guard !wasStopped else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    var url: String { "http://127.0.0.1:\(port)" }
    var calls: [Call] { state.withLock(\.calls) }
    /// How many connections it has had.
    var connections: Int { accepted.load(ordering: .relaxed) }

    private static func listen() -> (Int32, UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                precondition(bind(listener, address, length) == 0 && Glibc.listen(listener, 64) == 0, "no port is free")
                getsockname(listener, address, &length)
            }
        }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    /// A port that nobody listens on.
    static func freePort() -> UInt16 {
        let (listener, port) = listen()
        close(listener)
        return port
    }

    private func serve(_ connection: Int32) {
        accepted.add(1, ordering: .relaxed)
        defer { close(connection) }
        var pending: [UInt8] = []
        while let call = read(connection, &pending) {
            switch handler(call) {
            case .answer(let status, let headers, let body):
                guard send(connection, Self.head(status, headers, length: body.count) + body) else { return }
            case .head(let status, let headers):
                guard send(connection, Self.head(status, headers, length: nil)) else { return }
            case .drop:
                return
            case .half(let status, let headers, let body):
                _ = send(connection, Self.head(status, headers, length: body.count) + body.prefix(body.count / 2))
                return
            case .slow(let seconds, let status, let headers, let body):
                Thread.sleep(forTimeInterval: seconds)
                guard send(connection, Self.head(status, headers, length: body.count) + body) else { return }
            case .trickle(let seconds, let status, let headers, let body):
                guard send(connection, Self.head(status, headers, length: body.count)) else { return }
                for byte in body {
                    Thread.sleep(forTimeInterval: seconds)
                    guard send(connection, [byte]) else { return }
                }
            case .raw(let text):
                _ = send(connection, Array(text.utf8))
                return
            }
        }
    }

    private static func head(_ status: Int, _ headers: [String: String], length: Int?) -> [UInt8] {
        var text = "HTTP/1.1 \(status) Status\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let length { text += "Content-Length: \(length)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    private func send(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func read(_ connection: Int32, _ pending: inout [UInt8]) -> Call? {
        func more() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            pending += buffer.prefix(count)
            return true
        }
        let end = Array("\r\n\r\n".utf8)
        var split: Int?
        while split == nil {
            split = pending.count < 4 ? nil : (0...pending.count - 4).first { pending[$0..<$0 + 4].elementsEqual(end) }
            if split == nil, !more() { return nil }
        }
        let lines = String(decoding: pending[..<split!], as: UTF8.self).components(separatedBy: "\r\n")
        let start = lines[0].split(separator: " ")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers[line[..<colon].lowercased()] = value
        }
        let length = headers["content-length"].flatMap(Int.init) ?? 0
        while pending.count < split! + 4 + length { if !more() { return nil } }
        let body = Array(pending[(split! + 4)..<(split! + 4 + length)])
        pending.removeFirst(split! + 4 + length)
        let target = start[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return state.withLock { state in
            let call = Call(
                method: String(start[0]), path: String(target[0]), query: target.count > 1 ? String(target[1]) : "",
                headers: headers, body: body, number: state.calls.count, time: .now)
            state.calls.append(call)
            return call
        }
    }
}

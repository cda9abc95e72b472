import Foundation
import NIOHTTP1
import NIOSSL
import StrataObjectStore
import Synchronization

/// Signs requests, sends them, and sends them again as long as that may help.
final class S3Caller: Sendable {
    /// What is learned of a server while speaking to it.
    private struct Learned {
        var region: String
        var endpoint: S3Endpoint
        /// What the server's clock is ahead of ours, in seconds.
        var clockOffset = 0.0
    }

    let configuration: S3Configuration
    let connections: S3Connections
    private let cache: CredentialCache
    private let gate: RequestGate
    private let tls: TLSConfiguration?
    private let learned: Mutex<Learned>
    private let clock: @Sendable () -> Double

    init(
        configuration: S3Configuration, credentials: any S3CredentialProvider, connections: S3Connections,
        clock: @escaping @Sendable () -> Double
    ) throws(S3ConfigurationError) {
        self.configuration = configuration
        self.connections = connections
        self.clock = clock
        cache = CredentialCache(provider: credentials, connections: connections, now: clock)
        gate = RequestGate(limit: configuration.mostRequests)
        let endpoint = try S3Endpoint(configuration, region: configuration.region)
        learned = Mutex(Learned(region: configuration.region, endpoint: endpoint))
        if let path = configuration.certificateAuthorities {
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw S3ConfigurationError("the file of certificate authorities \(path) cannot be read")
            }
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(path)
            self.tls = tls
        } else {
            tls = nil
        }
    }

    /// What has gone wrong in the tries of one request so far.
    private struct Course {
        let start = ContinuousClock.now
        var failures = 0
        /// A try may have been carried out, so that a later one may meet what it wrote.
        var isSuspect = false
        /// A try has had no answer, or one that leaves open whether it was carried out.
        var mayBeDone = false
        var hasSetClock = false
        var redirects = 0
        var garbled = 0
    }

    private enum Verdict {
        /// No further try would be answered in another way.
        case done
        /// Something has been learned that the next try will do better with.
        case again
        case later(problem: String, retryAfter: Duration?)
    }

    /// Sends a request until there is an answer that further tries would not change.
    ///
    /// - Parameter name: The key for errors.
    /// - Throws: If there is none in time, or there are no credentials. All other answers are returned, errors too.
    func call(_ request: S3Request, name: String) async throws(ObjectStoreError) -> S3Answer {
        var course = Course()
        do throws(ObjectStoreError) {
            return try await call(request, name: name, course: &course)
        } catch {
            // Whatever has gone wrong last: an earlier try may have been carried out.
            switch error {
            case .cancelled, .unanswered: throw error
            default:
                guard course.mayBeDone, request.method != .GET, request.method != .HEAD else { throw error }
                throw .unanswered(key: name, message: error.description)
            }
        }
    }

    private func call(
        _ request: S3Request, name: String, course: inout Course
    ) async throws(ObjectStoreError) -> S3Answer {
        while true {
            let credentials = try await cache.credentials()
            let verdict: Verdict
            switch await gated(request, credentials: credentials) {
            case .success(var answer):
                verdict = try judge(answer, of: request, credentials: credentials, course: &course)
                if case .done = verdict {
                    answer.followsUnanswered = course.isSuspect
                    return answer
                }
            case .failure(.cancelled): throw .cancelled
            case .failure(.impossible(let message)): throw .unavailable(key: name, message: message)
            case .failure(.notSent(let message)): verdict = .later(problem: message, retryAfter: nil)
            case .failure(.unanswered(let message)):
                course.isSuspect = true
                course.mayBeDone = true
                verdict = .later(problem: message, retryAfter: nil)
            }
            guard case .later(let problem, let retryAfter) = verdict else { continue }
            course.failures += 1
            let policy = RetryPolicy(deadline: configuration.retryDeadline)
            let pause = policy.pause(after: course.failures, retryAfter: retryAfter)
            guard course.start.duration(to: .now) + pause <= policy.deadline else {
                let tries = course.failures == 1 ? "" : " (\(course.failures) tries)"
                throw .unavailable(key: name, message: problem + tries)
            }
            do { try await Task.sleep(for: pause) } catch { throw .cancelled }
        }
    }

    private func gated(_ request: S3Request, credentials: S3Credentials) async -> Result<S3Answer, HTTPFailure> {
        guard await gate.enter() else { return .failure(.cancelled) }
        defer { gate.leave() }
        do throws(HTTPFailure) {
            return .success(try await attempt(request, credentials: credentials))
        } catch {
            return .failure(error)
        }
    }

    private func attempt(
        _ request: S3Request, credentials: S3Credentials
    ) async throws(HTTPFailure) -> S3Answer {
        let (region, endpoint, offset) = learned.withLock { ($0.region, $0.endpoint, $0.clockOffset) }
        let moment = Timestamp(seconds: clock() + offset)
        var headers = request.headers
        headers.append(("host", endpoint.host))
        headers.append(("x-amz-content-sha256", request.payload))
        headers.append(("x-amz-date", moment.basic))
        if let token = credentials.sessionToken { headers.append(("x-amz-security-token", token)) }
        let path = endpoint.path(of: request.key)
        let signed = SignatureV4.Request(
            method: request.method.rawValue, path: path, query: request.query, headers: headers,
            payload: request.payload)
        let authorization = SignatureV4(credentials: credentials, region: region)
            .authorization(of: signed, at: moment)
        headers.append(("authorization", authorization))
        let query = SignatureV4.queryString(request.query)
        let exchange = HTTPExchange(
            method: request.method,
            url: "\(endpoint.scheme)://\(endpoint.host)\(path)" + (query.isEmpty ? "" : "?\(query)"),
            headers: HTTPHeaders(headers), body: request.body, tls: tls,
            timeout: configuration.attemptTimeout + HTTPExchange.time(for: request.body.count),
            largestAnswer: request.largestAnswer)
        let answer = try await connections.exchange(exchange)
        var result = S3Answer(status: answer.status, headers: answer.headers, body: answer.body)
        if !result.isSuccess {
            result.failure = S3Failure(status: answer.status, headers: answer.headers, body: answer.body)
        } else if request.mayFailLate {
            let late = S3Failure(status: answer.status, headers: answer.headers, body: answer.body)
            if !late.code.isEmpty {
                result.status = late.code == "SlowDown" ? 503 : late.code == "InternalError" ? 500 : 400
                result.failure = late
            }
        }
        if let message = result.failure?.message { result.failure?.message = credentials.redacted(message) }
        return result
    }

    /// Codes of keys that a server does not know, or not any more.
    private static let refusals: Set = [
        "ExpiredToken", "InvalidToken", "TokenRefreshRequired", "InvalidAccessKeyId", "InvalidClientTokenId",
        "ExpiredTokenException",
    ]

    private func judge(
        _ answer: S3Answer, of request: S3Request, credentials: S3Credentials, course: inout Course
    ) throws(ObjectStoreError) -> Verdict {
        guard let failure = answer.failure else { return .done }
        // The answers to HEAD have no body that says why.
        let isSilent = request.method == .HEAD
        if isElsewhere(answer, failure: failure, isSilent: isSilent, course: &course) { return .again }
        if failure.code == "RequestTimeTooSkewed" || (isSilent && answer.status == 403),
            correctClock(by: answer, course: &course)
        {
            return .again
        }
        if Self.refusals.contains(failure.code) {
            if cache.refuse(credentials, isCertain: true) { return .again }
            throw .credentials(message: answer.summary)
        }
        if isSilent, [400, 401, 403].contains(answer.status), cache.refuse(credentials, isCertain: false) {
            return .again
        }
        let retryAfter = (answer.headers.first(name: "retry-after").flatMap(Int.init)).map {
            Duration.seconds(min(max(0, $0), 86_400))
        }
        switch (answer.status, failure.code) {
        case (409, "ConditionalRequestConflict"), (409, "OperationAborted"):
            return request.conflictsEndIt ? .done : .later(problem: answer.summary, retryAfter: retryAfter)
        case (429, _), (503, _):
            course.isSuspect = true
            return .later(problem: answer.summary, retryAfter: retryAfter)
        case (501, _):
            return .done
        case (500..., _), (408, _), (400, "RequestTimeout"):
            course.isSuspect = true
            course.mayBeDone = true
            return .later(problem: answer.summary, retryAfter: retryAfter)
        case (400, "XAmzContentSHA256Mismatch"), (400, "BadDigest"), (400, "IncompleteBody"):
            course.garbled += 1
            return course.garbled < 3 ? .later(problem: answer.summary, retryAfter: nil) : .done
        default:
            return .done
        }
    }

    /// Whether the server has named another region, which the next try goes to.
    private func isElsewhere(
        _ answer: S3Answer, failure: S3Failure, isSilent: Bool, course: inout Course
    ) -> Bool {
        let isRedirect = [301, 307, 308].contains(answer.status) || failure.code == "AuthorizationHeaderMalformed"
        guard isRedirect || (isSilent && answer.status == 400), let region = failure.region, course.redirects < 2
        else { return false }
        return learned.withLock { learned in
            guard region != learned.region, let endpoint = try? S3Endpoint(configuration, region: region) else {
                return false
            }
            course.redirects += 1
            learned.region = region
            learned.endpoint = endpoint
            return true
        }
    }

    /// Takes the server's time for ours, once a request. Returns whether that changes anything.
    private func correctClock(by answer: S3Answer, course: inout Course) -> Bool {
        guard !course.hasSetClock, let date = answer.headers.first(name: "date").flatMap(Timestamp.init(header:)) else {
            return false
        }
        let offset = date.seconds - clock()
        return learned.withLock { learned in
            // Servers take five to fifteen minutes. Less than that is not why this request was refused.
            guard abs(offset - learned.clockOffset) > 240 else { return false }
            learned.clockOffset = offset
            course.hasSetClock = true
            return true
        }
    }
}

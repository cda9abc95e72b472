import NIOHTTP1
import StrataObjectStore

/// A request to a service that hands out credentials.
struct MetadataRequest {
    var url: String
    var method = HTTPMethod.GET
    var headers = HTTPHeaders()
    var body: [UInt8] = []
    var timeout: Duration
    var tries = 3

    /// The answer's body. What is asked for is named in errors, the address and the headers are not.
    func text(over connections: S3Connections, of what: String) async throws(ObjectStoreError) -> String {
        var problem = "no answer"
        for attempt in 1...tries {
            do {
                let answer = try await connections.exchange(exchange)
                if (200..<300).contains(answer.status) { return String(decoding: answer.body, as: UTF8.self) }
                problem = "status \(answer.status)"
                if answer.status < 500 && answer.status != 429 { break }
            } catch {
                if error == .cancelled { throw .cancelled }
                problem = error.message
            }
            if attempt < tries {
                do { try await Task.sleep(for: .milliseconds(200 << attempt)) } catch { throw .cancelled }
            }
        }
        throw .credentials(message: "\(what) could not be had: \(problem)")
    }

    /// The answer's body, or nil where nobody answers or there is no such thing.
    func textIfReached(over connections: S3Connections) async -> String? {
        for _ in 1...tries {
            if let answer = try? await connections.exchange(exchange) {
                return answer.status == 200 ? String(decoding: answer.body, as: UTF8.self) : nil
            }
        }
        return nil
    }

    private var exchange: HTTPExchange {
        HTTPExchange(
            method: method, url: url, headers: headers, body: body, tls: nil, timeout: timeout, largestAnswer: 1 << 20)
    }
}

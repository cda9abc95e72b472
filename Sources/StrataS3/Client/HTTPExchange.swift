import NIOHTTP1
import NIOSSL

/// A request that is sent once.
struct HTTPExchange: Sendable {
    var method: HTTPMethod
    var url: String
    var headers: HTTPHeaders
    var body: [UInt8]
    var tls: TLSConfiguration?
    /// Until the answer begins, sending included. Its body may take as long again, and the time that its bytes take.
    var timeout: Duration
    /// A longer answer fails.
    var largestAnswer: Int

    /// A second for each 256 KiB: who is slower than that is not there.
    static func time(for bytes: Int) -> Duration { .seconds(bytes >> 18) }
}

/// An answer, whole.
struct HTTPAnswer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: [UInt8]
}

/// Why there is no answer. Messages have neither headers nor bodies.
enum HTTPFailure: Error, Hashable {
    /// The server has not seen the request.
    case notSent(String)
    /// It may have, or may even have carried it out.
    case unanswered(String)
    /// It will not get better: certificates that do not hold, a client that is shut down.
    case impossible(String)
    case cancelled

    var message: String {
        switch self {
        case .notSent(let message), .unanswered(let message), .impossible(let message): message
        case .cancelled: "cancelled"
        }
    }
}

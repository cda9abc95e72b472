/// How a ``StrataStore`` is.
public struct StrataHealth: Sendable, Equatable {
    /// What it does with requests.
    public enum Status: String, Sendable {
        /// The stores are being opened; requests wait.
        case starting
        /// Requests are served.
        case ready
        /// Requests are served, and somebody should look at the ``StrataHealth/reasons``.
        case degraded
        /// No new requests are taken.
        case draining
        /// The stores are closed.
        case closed
        /// The stores could not be opened.
        case failed
    }

    /// Why the service is degraded.
    public enum Reason: Sendable, Equatable, CustomStringConvertible {
        /// Something in the store could not be read.
        case damage(store: String, places: Int)
        /// The disk has failed twice: the store can be read, and not be written until it is opened again.
        case refusesWrites(store: String)
        /// The store's file system is nearly full.
        case diskNearlyFull(store: String, freeBytes: Int)
        /// A consumer keeps the history of so many transactions, because it has not acknowledged them.
        case consumerBehind(store: String, consumer: String, transactions: Int)

        /// Which reason it is, whatever its numbers are.
        var key: String {
            switch self {
            case .damage(let store, _): "damage \(store)"
            case .refusesWrites(let store): "writes \(store)"
            case .diskNearlyFull(let store, _): "disk \(store)"
            case .consumerBehind(let store, let consumer, _): "consumer \(store) \(consumer)"
            }
        }

        /// For the answer to a probe. Without users' values.
        public var description: String {
            switch self {
            case .damage(let store, let places): "\(store): \(places) places cannot be read"
            case .refusesWrites(let store): "\(store): refuses writes until it is opened again"
            case .diskNearlyFull(let store, let bytes): "\(store): \(bytes) bytes are free on its disk"
            case .consumerBehind(let store, let consumer, let transactions):
                "\(store): the history's consumer \(consumer) is \(transactions) transactions behind"
            }
        }
    }

    /// What it does with requests.
    public var status: Status
    /// What is wrong, if it is ``Status/degraded``.
    public var reasons: [Reason]

    /// Whether requests are served: the answer to a readiness probe.
    public var isReady: Bool { status == .ready || status == .degraded }

    /// Whether requests that write are served. When it is false while ``isReady`` is true, a store refuses writes until
    /// the program is started anew.
    public var canWrite: Bool {
        isReady
            && !reasons.contains {
                if case .refusesWrites = $0 { true } else { false }
            }
    }
}

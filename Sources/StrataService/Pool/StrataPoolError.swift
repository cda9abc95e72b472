/// Why a pool has no context to give.
public struct StrataPoolError: Error, Sendable, CustomStringConvertible {
    /// What went wrong. More may follow.
    public struct Code: Sendable, Hashable {
        private let name: String

        private init(_ name: String) { self.name = name }

        /// All contexts were taken for as long as the time limit.
        public static let timedOut = Code("timedOut")
        /// The stores were not opened within the time limit.
        public static let notOpen = Code("notOpen")
        /// The pool has been closed.
        public static let closed = Code("closed")
        /// A block for reading has changed objects. Nothing of it was saved.
        public static let changedWhileReading = Code("changedWhileReading")
    }

    /// What went wrong.
    public var code: Code
    /// Whose call failed: what it said, or its file and line.
    public var purpose: String
    /// For what it wanted a context.
    public var access: StrataContextPool.Access
    /// The name of the pool.
    public var pool: String
    /// For how long it waited.
    public var waited: Duration
    /// Who held the contexts at that time, longest first.
    public var holders: [StrataContextPool.Holder]

    init(
        _ code: Code, _ holder: PoolHolder, _ pool: String, waited: Duration = .zero,
        holders: [StrataContextPool.Holder] = []
    ) {
        self.code = code
        purpose = holder.purpose
        access = holder.access
        self.pool = pool
        self.waited = waited
        self.holders = holders
    }

    /// What went wrong, and who holds the contexts since when.
    public var description: String {
        let subject = "\(purpose) (\(access.rawValue))"
        switch code {
        case .timedOut:
            let list = holders.map(\.description).joined(separator: "; ")
            return "\(subject) waited \(waited) for a context of the pool \"\(pool)\". All are taken: \(list)"
        case .notOpen: return "\(subject) waited \(waited) for the stores of the pool \"\(pool)\" to be opened"
        case .changedWhileReading:
            return "\(subject) has changed objects, and nothing of it was saved. Use withContext(.writing)"
        default: return "\(subject) wants a context of the pool \"\(pool)\", which has been closed"
        }
    }
}

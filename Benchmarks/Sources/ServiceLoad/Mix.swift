public import DataSet

/// What a kind of client asks, each with its share.
public struct Mix: Sendable {
    public let shares: [(kind: RequestKind, percent: Int)]

    public init(_ shares: [(kind: RequestKind, percent: Int)]) {
        self.shares = shares
    }

    /// A single kind.
    public init(_ kind: RequestKind) {
        shares = [(kind, 100)]
    }

    /// Half reads by ID, the rest lists, durable inserts and updates, and aggregates.
    public static let mixed = Mix([(.point, 50), (.list, 20), (.insert, 10), (.update, 10), (.aggregate, 10)])
    /// Durable inserts and updates.
    public static let writes = Mix([(.insert, 50), (.update, 50)])
    /// Reads by ID and lists.
    public static let reads = Mix([(.point, 75), (.list, 25)])

    public func kind(_ random: inout SplitMix64) -> RequestKind {
        var draw = Int(random.next() % 100)
        for share in shares {
            draw -= share.percent
            if draw < 0 { return share.kind }
        }
        return shares[0].kind
    }
}

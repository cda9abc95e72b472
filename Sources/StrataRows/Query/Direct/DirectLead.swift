import StrataLog

/// One way from the constants of a plan to rows of a store: an ordered index or postings, and which of the plan's terms
/// make the key. Terms and conjuncts are named by their positions in the ``DirectCondition``.
struct DirectLead: Sendable {
    enum Source: Sendable {
        /// The position of an ordered index.
        case index(Int)
        /// The number of a to-one relationship's postings.
        case postings(UInt16)
    }

    struct Element: Sendable {
        let term: Int
        let isDescending: Bool
    }

    /// Bounds of the element behind those that have one value; at least one is there.
    struct Bounds: Sendable {
        var lower: Int?
        var upper: Int?
        let isDescending: Bool
    }

    let source: Source
    /// Entity and index, or relationship, for people.
    let name: String
    /// The first elements, each with one value.
    let fixed: [Element]
    /// The element behind them, which has a list of values.
    var list: Element?
    var bounds: Bounds?
    /// The conjuncts that the key does not say.
    let rest: [Int]
    /// Whether there are rows of entities that are not asked for.
    let hasOthers: Bool
    /// Whether the rows come in the order of the request.
    let isOrdered: Bool
    /// Whether that is against the order of the index.
    let isDescending: Bool
    /// Whether a constraint allows one row at most.
    let isUnique: Bool

    /// Whether the key says anything at all.
    var isRestricted: Bool { !fixed.isEmpty || list != nil || bounds != nil }

    /// Leads that are likely to find fewer rows come first.
    var rank: Int {
        if isUnique { return 0 }
        if isOrdered, isRestricted, rest.isEmpty { return 1 }
        if !fixed.isEmpty { return fixed.count > 1 ? 2 : 3 }
        return isOrdered && isRestricted ? 4 : list != nil ? 5 : isOrdered ? 6 : 7
    }
}

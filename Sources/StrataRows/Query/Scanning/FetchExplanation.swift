/// What a fetch did to find its results; see ``NSManagedObjectContext/explain(_:)``.
public struct FetchExplanation: Sendable, CustomStringConvertible {
    /// How rows were found. The later in the list, the more rows have to be looked at one by one.
    public enum Path: String, Sendable, Comparable {
        /// The store knows the number without looking at rows.
        case counters = "counters"
        /// The predicate names objects: only they were looked up.
        case references = "references"
        /// The predicate names the target of a relationship: its referrers were looked up.
        case postings = "postings"
        /// The rows lie in ranges of an ordered index, or have its order.
        case orderedIndex = "ordered index"
        /// A condition on the members of a to-many relationship was answered first: it led to the rows.
        case semiJoin = "semi-join"
        /// There is no predicate: every row of the entity matches.
        case allRows = "all rows"
        /// The predicate was compiled as a whole and ran over columns.
        case compiledScan = "compiled scan"
        /// A part of the predicate was compiled; the rows that satisfied it were interpreted.
        case partlyCompiledScan = "compiled scan, rest interpreted"
        /// Every row was interpreted.
        case interpretedScan = "interpreted scan"
        /// A parent context was asked.
        case parentContext = "parent context"
        /// A store of the program's own was asked.
        case customStore = "custom store"

        private var rank: Int {
            switch self {
            case .counters: 0
            case .references: 1
            case .postings: 2
            case .orderedIndex: 3
            case .semiJoin: 4
            case .allRows: 5
            case .compiledScan: 6
            case .partlyCompiledScan: 7
            case .interpretedScan: 8
            case .parentContext: 9
            case .customStore: 10
            }
        }

        public static func < (left: Path, right: Path) -> Bool { left.rank < right.rank }
    }

    /// How rows were found; of several stores what cost most.
    public package(set) var path: Path
    /// The index that was used, as "Entity.index"; nil when none was.
    public package(set) var index: String?
    /// Whether the plan itself said where to look, so that nothing was counted, compared or chosen: of requests for few
    /// rows by an ordered index or the target of a relationship.
    public package(set) var isDirect: Bool
    /// Whether the plan was there from an earlier request that differs in nothing but the values of constants.
    public package(set) var reusesPlan: Bool
    /// How many constants of the predicate are parameters of the plan: requests with others have the same plan.
    public package(set) var parameterCount: Int
    /// How many rows lie in the ranges of the index.
    public package(set) var rowsEstimated: Int
    /// The to-many relationships whose members the predicate was answered by, each as "tags from members" (those that
    /// satisfy a condition led to their owners) or "tags from owners" (those of a few owners were asked). What lies
    /// behind them counts as a part of them.
    public package(set) var semiJoins: [String]
    /// Whether the sort descriptors were compared as columns of numbers and bytes, not as values.
    public package(set) var sortsColumns: Bool
    /// Whether groups and aggregates were computed over columns.
    public package(set) var groupsColumns: Bool
    /// Blocks with rows of the entity that a compiled scan came to. One whose rows lie scattered counts several times.
    public package(set) var blocks: Int
    /// Of these, those that their zone maps ruled out: none of their columns was read.
    public package(set) var blocksPruned: Int
    /// Of these, those whose columns were asked.
    public package(set) var blocksDecoded: Int
    /// Of these, those that were in the cache already.
    public package(set) var blocksCached: Int
    /// Rows that the compiled predicate was asked about.
    public package(set) var rowsTested: Int
    /// Rows that the interpreter was asked about.
    public package(set) var rowsInterpreted: Int
    /// Stored rows that satisfied the predicate before anyone had enough.
    public package(set) var rowsMatched: Int
    /// Results, with the context's unsaved changes and the request's limit.
    public package(set) var results: Int
    /// From the call to the results.
    public package(set) var duration: Duration

    /// The explanation in lines.
    public var description: String {
        """
        plan: \(reusesPlan ? "reused" : "made"), \(parameterCount) parameters
        path: \(isDirect ? "direct, " : "")\(path.rawValue)\(index.map { " \($0), \(rowsEstimated) rows expected" } ?? "")\(sortsColumns ? ", sorted by columns" : "")\(groupsColumns ? ", grouped by columns" : "")\(semiJoins.isEmpty ? "" : ", " + semiJoins.joined(separator: ", "))
        blocks: \(blocks) (\(blocksPruned) pruned, \(blocksDecoded) decoded, \(blocksCached) cached)
        rows: \(rowsTested) tested, \(rowsInterpreted) interpreted, \(rowsMatched) matched
        results: \(results) in \(duration)
        """
    }
}

/// What a fetch asks while it looks at rows: whether it should stop, and, when they become many, for its turn among the
/// large scans. Belongs to the thread that runs the fetch, but for ``control``.
final class ScanTurn {
    /// From so many rows on a scan is a large one: less takes about a millisecond.
    static let rowsOfLargeScan = 1 << 17
    /// A row that is interpreted costs as much as so many that a compiled predicate is asked about.
    static let costOfInterpretedRow = 16

    let control: RequestControl?
    private let gate: ScanGate?
    private var rows = 0
    private var isInside = false
    /// Whether the thread has a place among those that search.
    private var isSearching = false
    /// Whether what the program is to be told waits until the turn is over.
    private var isQuiet = false
    /// Whether the thread does not count among those of contexts meanwhile.
    private var isAside = false

    /// - Parameter gate: where large scans wait; nil for those that may not wait, since the program's code runs in
    ///   them.
    init(_ control: RequestControl?, _ gate: ScanGate?) {
        self.control = control
        self.gate = gate
    }

    deinit { leave() }

    /// About to search: waits until one of the processors is free for it. Nested searches need no turn of their own.
    ///
    /// - Throws: why the request should stop.
    func begin() throws {
        guard gate != nil, !isSearching, !isInside else { return }
        isSearching = try SearchGate.shared.enter(control)
        beQuiet()
    }

    /// About to look at so many rows more: the first time that they are many, waits until the scan may run.
    ///
    /// - Throws: why the request should stop.
    func willLook(at count: Int, isInterpreted: Bool = false) throws {
        try control?.check()
        guard let gate, !isInside else { return }
        rows += isInterpreted ? count * Self.costOfInterpretedRow : count
        guard rows >= Self.rowsOfLargeScan else { return }
        // Small searches go on beside the large ones.
        endSearch()
        try gate.enter(control)
        isInside = true
        isAside = ContextPool.stepAside()
        beQuiet()
    }

    private func beQuiet() {
        if !isQuiet { AfterSearch.begin() }
        isQuiet = true
    }

    private func endSearch() {
        if isSearching { SearchGate.shared.leave() }
        isSearching = false
    }

    /// The scan is over.
    func leave() {
        rows = 0
        endSearch()
        if isInside {
            isInside = false
            if isAside { ContextPool.stepBack() }
            gate?.leave()
        }
        guard isQuiet else { return }
        isQuiet = false
        AfterSearch.end()
    }
}

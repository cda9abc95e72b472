import Foundation

/// What a fetch asks while it works: whether it should stop, and, when it has become long, for its turn among the long
/// searches. Belongs to the thread that runs the fetch, but for ``control``.
@usableFromInline
package final class ScanTurn {
    /// From so many rows on a scan is a long one: less takes about a millisecond.
    package static let rowsOfLongScan = 1 << 17
    // All times are in nanoseconds.

    /// From so much processor time on a search is a long one, whatever it looks at.
    static let timeOfLongSearch: UInt64 = 2_000_000
    /// For so long a long search runs before others that wait for their turn.
    package static let slice: UInt64 = 10_000_000
    /// From so much on a search comes after those that have taken less.
    static let timeOfLongestSearches: UInt64 = 50_000_000

    @usableFromInline package let control: RequestControl?
    private let gate: ScanGate?
    private var rows = 0
    /// When the turn began and when its slice did, by the clock of the thread; 0 before it has been looked at.
    private var began: UInt64 = 0
    private var sliceBegan: UInt64 = 0
    /// Whether the turn has looked at rows before.
    private var hasLooked = false
    private var isInside = false
    /// Whether the thread has a place among those that search.
    private var isSearching = false
    /// Whether what the program is to be told waits until the turn is over.
    private var isQuiet = false
    /// Whether the thread does not count among those of contexts meanwhile.
    private var isAside = false

    /// - Parameter gate: where long searches wait; nil for those that may not wait, since the program's code runs in
    ///   them.
    package init(_ control: RequestControl?, _ gate: ScanGate?) {
        self.control = control
        self.gate = gate
    }

    deinit { leave() }

    /// About to search: waits until one of the processors is free for it. Nested searches need no turn of their own.
    ///
    /// - Throws: why the request should stop.
    package func begin() throws {
        guard gate != nil, !isSearching, !isInside else { return }
        isSearching = try SearchGate.shared.enter(control)
        beQuiet()
    }

    /// About to look at so many rows more: waits until the scan may run when that has become long, and lets others run
    /// now and then.
    ///
    /// - Throws: why the request should stop.
    @usableFromInline
    package func willLook(at count: Int) throws {
        rows += count
        try goOn()
    }

    /// As ``willLook(at:)`` between steps of other work.
    @usableFromInline
    package func goOn() throws {
        try control?.check()
        guard let gate else { return }
        // To ask for the time takes longer than many a search.
        guard hasLooked else {
            hasLooked = true
            return rows < Self.rowsOfLongScan ? () : try beginLong(gate)
        }
        let now = ThreadClock.now
        if began == 0 { began = now }
        if !isInside {
            if rows >= Self.rowsOfLongScan || now - began >= Self.timeOfLongSearch { try beginLong(gate) }
        } else if sliceBegan == 0 {
            sliceBegan = now
        } else if now - sliceBegan >= Self.slice {
            sliceBegan = now
            isInside = false
            // Whoever is stopped here has left already.
            try gate.pass(control, isLast: now - began >= Self.timeOfLongestSearches)
            isInside = true
        }
    }

    private func beginLong(_ gate: ScanGate) throws {
        // Short searches go on beside the long ones.
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

    /// The search is over.
    package func leave() {
        (rows, began, sliceBegan, hasLooked) = (0, 0, 0, false)
        endSearch()
        if isAside { ContextPool.stepBack() }
        isAside = false
        if isInside { gate?.leave() }
        isInside = false
        guard isQuiet else { return }
        isQuiet = false
        AfterSearch.end()
    }
}

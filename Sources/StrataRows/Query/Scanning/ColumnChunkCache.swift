import Foundation
import StrataIO
import StrataLog
import StrataSupport

/// The column chunks of one store, within a budget of memory of their own.
///
/// A row group's column chunks hold as long as its rows lie where they lay: places in a log are never written again.
/// What has changed since is brought in from blocks, and the rest copied from the column chunks before.
///
/// When the budget is used up, column chunks go that no scan has asked for since the scan before this one began. If
/// there are none, the new ones are not kept: a scan over more than fits must not drive out what the next one could
/// use.
package final class ColumnChunkCache: MemoryHolder {
    /// A row group of a root entity, by where its keys begin.
    package struct Key: Hashable {
        package let root: UInt16
        package let number: UInt64
    }

    private struct Entry {
        var rowGroup: RowGroup
        /// The last scan that asked for a column.
        var uses: [ColumnID: UInt64]
    }

    private struct Cut {
        var cut: RowGroupCut
        /// The last scan that asked for it.
        var use: UInt64
    }

    private struct State {
        /// Of root entities.
        var cuts: [UInt16: Cut] = [:]
        var entries: [Key: Entry] = [:]
        var byteCount = 0
        var scans: UInt64 = 0
        /// How many had begun when unused column chunks were given back last.
        var scansOfRound: UInt64 = 0
    }

    package let budgetBytes: Int
    package let pages: ColumnPages
    private let state = AdaptiveMutex(State())
    /// What the column chunks share with those of other stores and with blocks.
    private let shared: MemoryBudget

    package init(budgetBytes: Int, sharing shared: MemoryBudget = .shared) {
        self.budgetBytes = budgetBytes
        self.shared = shared
        pages = ColumnPages(budgetBytes: budgetBytes)
        shared.register(self)
    }

    deinit {
        shared.unregister(ObjectIdentifier(self), heldBytes: heldBytes)
    }

    /// A fifth of what the process may keep; blocks of a store may take the rest.
    static var defaultBudgetBytes: Int { MemoryBudget.shared.limitBytes / 5 }

    /// The number of a scan that begins.
    func beginScan() -> UInt64 {
        state.withLock { state in
            state.scans += 1
            return state.scans
        }
    }

    /// A cut that takes more is not kept: its runs alone would drive out the columns.
    var cutMaximumBytes: Int { budgetBytes / 4 }

    /// How the rows of a root entity were cut last.
    func cut(of root: UInt16) -> RowGroupCut? {
        state.withLock { state in
            state.cuts[root]?.use = state.scans
            return state.cuts[root]?.cut
        }
    }

    /// Keeps how the rows of a root entity have been cut, if there is room.
    func keep(_ cut: RowGroupCut, of root: UInt16) {
        let allowance = shared.allowance(adding: cut.byteCount) ?? budgetBytes
        let byteCount = cut.byteCount
        guard byteCount <= cutMaximumBytes else { return }
        let change = state.withLock { state in
            let held = state.byteCount
            // What is there may stay.
            let limit = min(budgetBytes, max(allowance, held))
            if let before = state.cuts.removeValue(forKey: root) { state.byteCount -= before.cut.byteCount }
            if state.byteCount + byteCount <= limit {
                state.cuts[root] = Cut(cut: cut, use: state.scans)
                state.byteCount += byteCount
            }
            return state.byteCount - held
        }
        shared.record(change)
    }

    /// What there is of a row group, whether its rows still lie there or not; its columns count as used.
    func rowGroup(_ key: Key, ids: [ColumnID], scan: UInt64) -> RowGroup? {
        state.withLock { state in
            guard let position = state.entries.index(forKey: key) else { return nil }
            for id in ids where state.entries.values[position].uses[id] != nil {
                state.entries.values[position].uses[id] = scan
            }
            return state.entries.values[position].rowGroup
        }
    }

    /// Keeps the columns of a row group, as far as there is room. Those of other places of the same rows go.
    func keep(_ rowGroup: RowGroup, _ key: Key, scan: UInt64) {
        let allowance = shared.allowance(adding: rowGroup.byteCount) ?? budgetBytes
        let change = state.withLock { state in
            let before = state.byteCount
            // What is there may stay.
            let limit = min(budgetBytes, max(allowance, before))
            Self.keep(rowGroup, key, scan: scan, within: limit, &state)
            return state.byteCount - before
        }
        shared.record(change)
    }

    private static func keep(_ rowGroup: RowGroup, _ key: Key, scan: UInt64, within limit: Int, _ state: inout State) {
        var rowGroup = rowGroup
        var uses: [ColumnID: UInt64] = [:]
        let before = state.entries.removeValue(forKey: key)
        if let entry = before {
            if entry.rowGroup.runs == rowGroup.runs {
                // Another thread may have brought in other columns meanwhile.
                var more: [ColumnID: ColumnChunk] = [:]
                for id in entry.rowGroup.columnIDs { more[id] = entry.rowGroup.column(id) }
                rowGroup = rowGroup.adding(more)
            }
            for id in rowGroup.columnIDs { uses[id] = entry.uses[id] }
            state.byteCount -= entry.rowGroup.byteCount
        }
        for id in rowGroup.columnIDs where uses[id] == nil { uses[id] = scan }
        let needed = rowGroup.byteCount
        if state.byteCount + needed > limit { makeRoom(needed, before: scan, within: limit, &state) }
        if state.byteCount + needed <= limit {
            state.entries[key] = Entry(rowGroup: rowGroup, uses: uses)
            state.byteCount += needed
        } else if let before, before.rowGroup.runs == rowGroup.runs {
            state.entries[key] = before
            state.byteCount += before.rowGroup.byteCount
        }
    }

    /// Drops columns that were not asked for since the scan before one, all that are as old as the oldest at a time.
    private static func makeRoom(_ needed: Int, before scan: UInt64, within limit: Int, _ state: inout State) {
        while state.byteCount + needed > limit {
            let uses = state.entries.values.lazy.flatMap({ $0.uses.values }).min()
            let oldest = min(uses ?? .max, state.cuts.values.lazy.map(\.use).min() ?? .max)
            // Nothing is as old as the last number.
            guard oldest < .max, oldest + 1 < scan else { return }
            drop(upTo: oldest, &state)
        }
    }

    /// Drops what no scan of a later number has asked for.
    private static func drop(upTo scan: UInt64, _ state: inout State) {
        for (root, cut) in state.cuts where cut.use <= scan {
            state.byteCount -= cut.cut.byteCount
            state.cuts[root] = nil
        }
        for (key, entry) in state.entries {
            let old = entry.uses.filter { $0.value <= scan }.map(\.key)
            if old.isEmpty { continue }
            state.byteCount -= entry.rowGroup.byteCount
            state.entries[key] = nil
            let rest = entry.rowGroup.removing(old)
            if rest.columnIDs.isEmpty { continue }
            state.entries[key] = Entry(rowGroup: rest, uses: entry.uses.filter { $0.value > scan })
            state.byteCount += rest.byteCount
        }
    }
}

// MARK: - Giving back memory

extension ColumnChunkCache {
    package var heldBytes: Int { state.withLock { $0.byteCount } }

    package func giveBackUnused() -> Int {
        var scans: UInt64 = 0
        changing { state in
            Self.drop(upTo: state.scansOfRound, &state)
            scans = state.scans - state.scansOfRound
            state.scansOfRound = state.scans
        }
        return Int(clamping: scans)
    }

    package func shrink(to byteCount: Int) {
        changing { Self.makeRoom(0, before: .max, within: byteCount, &$0) }
    }

    private func changing(_ body: (inout State) -> Void) {
        let change = state.withLock { state in
            let before = state.byteCount
            body(&state)
            return state.byteCount - before
        }
        shared.record(change)
        // Scans that are under way may still read what has gone: its pages go the next time.
        pages.giveBackFree()
    }
}

/// Whether scans put columns together to column chunks. Only tests change it, to compare the results.
package enum ColumnChunkUse: Sendable {
    /// For row groups of many rows, most of whose blocks have to be read.
    case automatic
    case never
    /// For every row group.
    case always

    package static let setting = ScopedSetting(ColumnChunkUse.automatic)

    package static var current: ColumnChunkUse { setting.value }

    package static let budgetSetting = ScopedSetting<Int?>(nil)

    /// The budget of stores that are scanned for the first time; nil for the usual one.
    package static var budgetBytes: Int? { budgetSetting.value }
}

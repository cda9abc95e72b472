import Foundation
import StrataIO
import StrataLog

/// The strips of one store, within a budget of memory of their own.
///
/// A chunk's strips hold as long as its rows lie where they lay: places in a log are never written again. What has
/// changed since is brought in from blocks, and the rest copied from the strips before.
///
/// When the budget is used up, strips go that no scan has asked for since the scan before this one began. If there are
/// none, the new ones are not kept: a scan over more than fits must not drive out what the next one could use.
final class StripCache: MemoryHolder {
    /// A chunk of a root entity, by where its keys begin.
    struct Key: Hashable {
        let root: UInt16
        let place: UInt64
    }

    private struct Entry {
        var chunk: StripChunk
        /// The last scan that asked for a slot, by slot.
        var uses: [Int: UInt64]
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var byteCount = 0
        var scans: UInt64 = 0
        /// How many had begun when unused strips were given back last.
        var scansOfRound: UInt64 = 0
    }

    let budgetBytes: Int
    let pages: ColumnPages
    private let state = AdaptiveMutex(State())
    /// What the strips share with those of other stores and with blocks.
    private let shared: MemoryBudget

    init(budgetBytes: Int, sharing shared: MemoryBudget = .shared) {
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

    /// What there is of a chunk, whether its rows still lie there or not; its columns count as used.
    func chunk(_ key: Key, slots: [Int], scan: UInt64) -> StripChunk? {
        state.withLock { state in
            guard let position = state.entries.index(forKey: key) else { return nil }
            for slot in slots where state.entries.values[position].uses[slot] != nil {
                state.entries.values[position].uses[slot] = scan
            }
            return state.entries.values[position].chunk
        }
    }

    /// Keeps the columns of a chunk, as far as there is room. Those of other places of the same rows go.
    func keep(_ chunk: StripChunk, _ key: Key, scan: UInt64) {
        let allowance = shared.allowance(adding: Self.byteCount(chunk)) ?? budgetBytes
        let change = state.withLock { state in
            let before = state.byteCount
            // What is there may stay.
            let limit = min(budgetBytes, max(allowance, before))
            Self.keep(chunk, key, scan: scan, within: limit, &state)
            return state.byteCount - before
        }
        shared.note(change)
    }

    private static func keep(_ chunk: StripChunk, _ key: Key, scan: UInt64, within limit: Int, _ state: inout State) {
        var chunk = chunk
        var uses: [Int: UInt64] = [:]
        let before = state.entries.removeValue(forKey: key)
        if let entry = before {
            if entry.chunk.runs == chunk.runs {
                // Another thread may have brought in other columns meanwhile.
                var more: [Int: ColumnStrip] = [:]
                for slot in entry.chunk.slots { more[slot] = entry.chunk.column(slot) }
                chunk = chunk.adding(more)
            }
            for slot in chunk.slots { uses[slot] = entry.uses[slot] }
            state.byteCount -= byteCount(entry.chunk)
        }
        for slot in chunk.slots where uses[slot] == nil { uses[slot] = scan }
        let needed = byteCount(chunk)
        if state.byteCount + needed > limit { makeRoom(needed, before: scan, within: limit, &state) }
        if state.byteCount + needed <= limit {
            state.entries[key] = Entry(chunk: chunk, uses: uses)
            state.byteCount += needed
        } else if let before, before.chunk.runs == chunk.runs {
            state.entries[key] = before
            state.byteCount += byteCount(before.chunk)
        }
    }

    private static func byteCount(_ chunk: StripChunk) -> Int {
        chunk.slots.reduce(chunk.runs.count * 32) { $0 + (chunk.column($1)?.byteCount ?? 0) }
    }

    /// Drops columns that were not asked for since the scan before one, all that are as old as the oldest at a time.
    private static func makeRoom(_ needed: Int, before scan: UInt64, within limit: Int, _ state: inout State) {
        while state.byteCount + needed > limit {
            guard let oldest = state.entries.values.lazy.flatMap({ $0.uses.values }).min(), oldest + 1 < scan else {
                return
            }
            drop(upTo: oldest, &state)
        }
    }

    /// Drops columns that no scan of a later number has asked for.
    private static func drop(upTo scan: UInt64, _ state: inout State) {
        for (key, entry) in state.entries {
            let old = entry.uses.filter { $0.value <= scan }.map(\.key)
            if old.isEmpty { continue }
            state.byteCount -= byteCount(entry.chunk)
            state.entries[key] = nil
            let rest = entry.chunk.removing(old)
            if rest.slots.isEmpty { continue }
            state.entries[key] = Entry(chunk: rest, uses: entry.uses.filter { $0.value > scan })
            state.byteCount += byteCount(rest)
        }
    }
}

// MARK: - Giving back memory

extension StripCache {
    var heldBytes: Int { state.withLock { $0.byteCount } }

    func giveBackUnused() -> Int {
        var scans: UInt64 = 0
        changing { state in
            Self.drop(upTo: state.scansOfRound, &state)
            scans = state.scans - state.scansOfRound
            state.scansOfRound = state.scans
        }
        return Int(clamping: scans)
    }

    func shrink(to byteCount: Int) {
        changing { Self.makeRoom(0, before: .max, within: byteCount, &$0) }
    }

    private func changing(_ body: (inout State) -> Void) {
        let change = state.withLock { state in
            let before = state.byteCount
            body(&state)
            return state.byteCount - before
        }
        shared.note(change)
        // Scans that are under way may still read what has gone: its pages go the next time.
        pages.giveBackFree()
    }
}

/// Whether scans put columns together to strips. Only tests change it, to compare the results.
package enum StripUse: Sendable {
    /// For chunks of many rows, most of whose blocks have to be read.
    case automatic
    case never
    /// For every chunk.
    case always

    @TaskLocal package static var current = StripUse.automatic
    /// The budget of stores that are scanned for the first time; nil for the usual one.
    @TaskLocal package static var budgetBytes: Int?
}

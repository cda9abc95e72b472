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
final class StripCache: Sendable {
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
    }

    let budgetBytes: Int
    let pages: ColumnPages
    private let state = AdaptiveMutex(State())

    init(budgetBytes: Int) {
        self.budgetBytes = budgetBytes
        pages = ColumnPages(budgetBytes: budgetBytes)
    }

    /// A quarter of what decoded blocks may take: a hundred-and-twenty-eighth of the machine's memory, at least 64 MiB
    /// and at most 256.
    static let defaultBudgetBytes: Int = {
        let share = Int(clamping: ProcessInfo.processInfo.physicalMemory / 128)
        return min(max(share, 64 << 20), 256 << 20)
    }()

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
        state.withLock { state in
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
                state.byteCount -= Self.byteCount(entry.chunk)
            }
            for slot in chunk.slots where uses[slot] == nil { uses[slot] = scan }
            let needed = Self.byteCount(chunk)
            if state.byteCount + needed > budgetBytes { makeRoom(needed, scan, &state) }
            if state.byteCount + needed <= budgetBytes {
                state.entries[key] = Entry(chunk: chunk, uses: uses)
                state.byteCount += needed
            } else if let before, before.chunk.runs == chunk.runs {
                state.entries[key] = before
                state.byteCount += Self.byteCount(before.chunk)
            }
        }
    }

    private static func byteCount(_ chunk: StripChunk) -> Int {
        chunk.slots.reduce(chunk.runs.count * 32) { $0 + (chunk.column($1)?.byteCount ?? 0) }
    }

    /// Drops columns that were not asked for since the scan before, all that are as old as the oldest at a time.
    private func makeRoom(_ needed: Int, _ scan: UInt64, _ state: inout State) {
        while state.byteCount + needed > budgetBytes {
            guard let oldest = state.entries.values.lazy.flatMap({ $0.uses.values }).min(), oldest + 1 < scan else {
                return
            }
            for (key, entry) in state.entries {
                let old = entry.uses.filter { $0.value == oldest }.map(\.key)
                if old.isEmpty { continue }
                state.byteCount -= Self.byteCount(entry.chunk)
                state.entries[key] = nil
                let rest = entry.chunk.removing(old)
                if rest.slots.isEmpty { continue }
                state.entries[key] = Entry(chunk: rest, uses: entry.uses.filter { $0.value != oldest })
                state.byteCount += Self.byteCount(rest)
            }
        }
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

/// One version of the map from each target to the objects that refer to it through one relationship.
///
/// A *base* in the checkpoint file under a few *runs* of later changes in memory, as in a log-structured merge tree: a
/// target with a million referrers is never rewritten because one came, and counting them reads none of them. Versions
/// share the base and the runs. Immutable and safe to use from any thread.
package final class Postings: Sendable {
    let base: PostingsBase
    let runs: SortedRuns<PostingsRun>

    /// Empty postings.
    package convenience init() {
        self.init(PostingsBase([], pairCount: 0, source: nil), SortedRuns())
    }

    init(_ base: PostingsBase, _ runs: SortedRuns<PostingsRun>) {
        self.base = base
        self.runs = runs
    }

    /// The version after one transaction.
    ///
    /// The caller adds only pairs that are absent and removes only pairs that are present, as the changes of the
    /// transaction follow each other; otherwise counts and lists are wrong.
    ///
    /// - Complexity: O(changes), and a logarithmic number of moves of each pair over time.
    package func adding(_ changes: [PostingChange]) -> Postings {
        if changes.isEmpty { return self }
        var runs = runs
        runs.append(PostingsRun(changes, generation: runs.generation + 1))
        return Postings(base, runs)
    }

    // MARK: Reading

    /// The number of pairs of all targets.
    package var pairCount: Int { runs.list.reduce(base.pairCount) { $0 + $1.netCount } }

    package var isEmpty: Bool { pairCount == 0 }

    /// Bytes that this version holds, most of them shared with its neighbours.
    package var memoryByteCount: Int { runs.list.reduce(base.memoryByteCount) { $0 + $1.memoryByteCount } }

    /// The number of referrers, read from sums and not from their list.
    ///
    /// - Throws: `.io` or `.corruption` when a block of the checkpoint has to be read (two at most) and cannot be.
    /// - Complexity: O(log n) for each of the O(log n) runs.
    package func count(of target: ObjectRef) throws(StoreError) -> Int {
        try base.count(of: target.rawValue) + runs.netCount(of: target.rawValue)
    }

    /// The referrers, ascending by raw value.
    ///
    /// - Throws: `.io` or `.corruption` when a block of the checkpoint has to be read and cannot be.
    /// - Complexity: O(referrers + log n)
    package func referrers(of target: ObjectRef) throws(StoreError) -> [ObjectRef] {
        var result: [ObjectRef] = []
        result.reserveCapacity(max(try count(of: target), 0))
        try forEachReferrer(of: target) { referrer throws(StoreError) in
            result.append(referrer)
            return true
        }
        return result
    }

    /// Calls the body with each referrer, ascending by raw value; false stops.
    ///
    /// - Throws: what the body throws, otherwise as ``referrers(of:)``.
    package func forEachReferrer(
        of target: ObjectRef, _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let (adds, removals) = runs.referrers(of: target.rawValue)
        var sum = ReferrerSum(adds, removals)
        let goesOn = try base.forEachReferrer(of: target.rawValue) { referrer throws(StoreError) in
            guard try sum.advance(to: referrer, body) else { return false }
            return try sum.finish(referrer, countBefore: 1, body)
        }
        if goesOn { _ = try sum.drain(body) }
    }
}

/// Lays sorted additions and removals over ascending referrers.
private struct ReferrerSum {
    private let adds: [UInt64]
    private let removals: [UInt64]
    private var nextAdd = 0
    private var nextRemoval = 0

    init(_ adds: [UInt64], _ removals: [UInt64]) {
        self.adds = adds
        self.removals = removals
    }

    /// Reports what was added below `limit`.
    @inline(__always)
    mutating func advance(
        to limit: UInt64, _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        while nextAdd < adds.count, adds[nextAdd] < limit {
            if try !finish(adds[nextAdd], countBefore: 0, body) { return false }
        }
        return true
    }

    mutating func drain(_ body: (ObjectRef) throws(StoreError) -> Bool) throws(StoreError) -> Bool {
        while nextAdd < adds.count {
            if try !finish(adds[nextAdd], countBefore: 0, body) { return false }
        }
        return true
    }

    /// Reports the referrer if it is there after all its additions and removals.
    @inline(__always)
    mutating func finish(
        _ referrer: UInt64, countBefore: Int, _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        var count = countBefore
        while nextAdd < adds.count, adds[nextAdd] == referrer {
            count += 1
            nextAdd += 1
        }
        while nextRemoval < removals.count, removals[nextRemoval] <= referrer {
            if removals[nextRemoval] == referrer { count -= 1 }
            nextRemoval += 1
        }
        return count > 0 ? try body(ObjectRef(rawValue: referrer)) : true
    }
}

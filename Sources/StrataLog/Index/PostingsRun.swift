/// What one or several neighbouring transactions added to and removed from postings.
///
/// Removing a pair and adding it again, in either order, cancel out: the engine adds only absent pairs and removes only
/// present ones. So the sum of additions and removals over the base and all runs is 1 for a present pair, else 0.
struct PostingsRun: Sendable {
    /// Sorted, without pairs in common.
    let adds: [PostingPair]
    let removals: [PostingPair]
    /// The number of the newest transaction in it.
    let generation: UInt64

    private init(adds: [PostingPair], removals: [PostingPair], generation: UInt64) {
        self.adds = adds
        self.removals = removals
        self.generation = generation
    }

    init(_ changes: [PostingChange], generation: UInt64) {
        var adds: [PostingPair] = []
        var removals: [PostingPair] = []
        adds.reserveCapacity(changes.count)
        for change in changes {
            let pair = PostingPair(change.target.rawValue, change.referrer.rawValue)
            if change.isRemoval { removals.append(pair) } else { adds.append(pair) }
        }
        PostingPairs.sort(&adds)
        PostingPairs.sort(&removals)
        PostingPairs.cancel(&adds, &removals)
        self.init(adds: adds, removals: removals, generation: generation)
    }

    var count: Int { adds.count + removals.count }
    var netCount: Int { adds.count - removals.count }
    var memoryByteCount: Int { count * MemoryLayout<PostingPair>.stride }

    /// This run and the one after it as one.
    private func merged(with newer: PostingsRun) -> PostingsRun {
        var adds = PostingPairs.merged(adds, newer.adds)
        var removals = PostingPairs.merged(removals, newer.removals)
        PostingPairs.cancel(&adds, &removals)
        return PostingsRun(adds: adds, removals: removals, generation: newer.generation)
    }
}

extension PostingsRun: SortedRun {
    /// A run is merged with the one before it unless that is more than this many times as large: so the number of
    /// runs is logarithmic, and each pair is moved a logarithmic number of times.
    private static let ratio = 4
    /// Smaller runs count as this large: copying them costs less than searching one run more.
    private static let smallRunCount = 32

    static func dueCount(_ runs: ArraySlice<PostingsRun>) -> Int {
        guard let newest = runs.last, let before = runs.dropLast().last else { return 0 }
        return before.count < ratio * max(newest.count, smallRunCount) ? 2 : 0
    }

    static func merged(_ runs: ArraySlice<PostingsRun>) throws(Never) -> PostingsRun {
        var runs = runs
        guard var newest = runs.popLast() else { preconditionFailure("nothing to merge") }
        while let run = runs.popLast() { newest = run.merged(with: newest) }
        return newest
    }
}

extension SortedRuns<PostingsRun> {
    /// Additions less removals for a target.
    func netCount(of target: UInt64) -> Int {
        var sum = 0
        for run in list {
            sum += PostingPairs.range(run.adds, target: target).count
            if !run.removals.isEmpty { sum -= PostingPairs.range(run.removals, target: target).count }
        }
        return sum
    }

    /// The target's referrers in all additions and in all removals, each sorted, repeated as often as they occur.
    func referrers(of target: UInt64) -> (adds: [UInt64], removals: [UInt64]) {
        var adds: [UInt64] = []
        var removals: [UInt64] = []
        // Newest, that is smallest, first: all merges together copy little more than the result.
        for run in list.reversed() {
            Self.gather(run.adds, target, into: &adds)
            if !run.removals.isEmpty { Self.gather(run.removals, target, into: &removals) }
        }
        return (adds, removals)
    }

    private static func gather(_ pairs: [PostingPair], _ target: UInt64, into list: inout [UInt64]) {
        let range = PostingPairs.range(pairs, target: target)
        if range.isEmpty { return }
        let earlier = list
        list = pairs.withUnsafeBufferPointer { pairs in
            Array(unsafeUninitializedCapacity: range.count + earlier.count) { output, count in
                var next = range.lowerBound
                for referrer in earlier {
                    while next < range.upperBound, pairs[next].referrer < referrer {
                        output[count] = pairs[next].referrer
                        count += 1
                        next += 1
                    }
                    output[count] = referrer
                    count += 1
                }
                while next < range.upperBound {
                    output[count] = pairs[next].referrer
                    count += 1
                    next += 1
                }
            }
        }
    }
}

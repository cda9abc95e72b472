/// A target and an object that refers to it, as raw values of ``ObjectRef``; ordered by target, then referrer.
struct PostingPair: Hashable, Comparable, Sendable {
    var target: UInt64
    var referrer: UInt64

    @inline(__always)
    init(_ target: UInt64, _ referrer: UInt64) {
        self.target = target
        self.referrer = referrer
    }

    @inline(__always)
    static func < (a: PostingPair, b: PostingPair) -> Bool {
        a.target < b.target || (a.target == b.target && a.referrer < b.referrer)
    }
}

/// An object began or ceased to refer to another.
package struct PostingChange: Hashable, Sendable {
    package var target: ObjectRef
    package var referrer: ObjectRef
    package var isRemoval: Bool

    @inline(__always)
    package init(target: ObjectRef, referrer: ObjectRef, isRemoval: Bool = false) {
        self.target = target
        self.referrer = referrer
        self.isRemoval = isRemoval
    }
}

/// Sorting, merging and searching of sorted lists of pairs.
enum PostingPairs {
    private static let insertionSortMaximum = 48

    /// The index of the first pair that is not below `pair`.
    @inline(__always)
    static func lowerBound(_ pairs: UnsafeBufferPointer<PostingPair>, _ pair: PostingPair) -> Int {
        var low = 0
        var count = pairs.count
        while count > 0 {
            let half = count >> 1
            let isBelow = pairs[low + half] < pair
            low = isBelow ? low + half + 1 : low
            count = isBelow ? count - half - 1 : half
        }
        return low
    }

    /// Where the pairs of a target lie in a sorted list.
    static func range(_ pairs: [PostingPair], target: UInt64) -> Range<Int> {
        pairs.withUnsafeBufferPointer { pairs in
            guard let last = pairs.last, pairs[0].target <= target, last.target >= target else { return 0..<0 }
            let start = lowerBound(pairs, PostingPair(target, 0))
            if start == pairs.count || pairs[start].target != target { return start..<start }
            // Gallop: most targets have few referrers.
            var step = 1
            while start + step < pairs.count, pairs[start + step].target == target { step <<= 1 }
            let from = start + step >> 1
            let rest = UnsafeBufferPointer(rebasing: pairs[from..<min(start + step, pairs.count)])
            guard target < .max else { return start..<pairs.count }
            return start..<(from + lowerBound(rest, PostingPair(target + 1, 0)))
        }
    }

    /// Sorts in place: by byte digits, and only by those that differ between the pairs.
    static func sort(_ pairs: inout [PostingPair]) {
        guard pairs.count > 1 else { return }
        let count = pairs.count
        pairs.withUnsafeMutableBufferPointer { pairs in
            var isSorted = true
            var referrersAscend = true
            var targetBits: UInt64 = 0
            var referrerBits: UInt64 = 0
            for index in 1..<count {
                let (a, b) = (pairs[index - 1], pairs[index])
                if b < a { isSorted = false }
                if b.referrer < a.referrer { referrersAscend = false }
                targetBits |= a.target ^ b.target
                referrerBits |= a.referrer ^ b.referrer
            }
            if isSorted { return }
            if count <= insertionSortMaximum {
                insertionSort(pairs)
            } else {
                radixSort(pairs, targetBits: targetBits, referrerBits: referrersAscend ? 0 : referrerBits)
            }
        }
    }

    private static func insertionSort(_ pairs: UnsafeMutableBufferPointer<PostingPair>) {
        for index in 1..<pairs.count {
            let pair = pairs[index]
            var hole = index
            while hole > 0, pair < pairs[hole - 1] {
                pairs[hole] = pairs[hole - 1]
                hole -= 1
            }
            pairs[hole] = pair
        }
    }

    /// Least significant digit first, so that each stable pass keeps the order of the digits below.
    private static func radixSort(
        _ pairs: UnsafeMutableBufferPointer<PostingPair>, targetBits: UInt64, referrerBits: UInt64
    ) {
        let count = pairs.count
        let scratch = UnsafeMutablePointer<PostingPair>.allocate(capacity: count)
        let offsets = UnsafeMutablePointer<Int>.allocate(capacity: 256)
        defer {
            scratch.deallocate()
            offsets.deallocate()
        }
        scratch.initialize(repeating: PostingPair(0, 0), count: count)
        // SAFETY: both areas hold `count` pairs; offsets are counts below `count`.
        var from = pairs.baseAddress.unsafelyUnwrapped
        var to = scratch
        func pass(_ shift: UInt64, _ byTarget: Bool) {
            offsets.initialize(repeating: 0, count: 256)
            for index in 0..<count {
                let value = byTarget ? from[index].target : from[index].referrer
                offsets[Int(truncatingIfNeeded: value >> shift & 0xFF)] += 1
            }
            var sum = 0
            for digit in 0..<256 {
                let digits = offsets[digit]
                offsets[digit] = sum
                sum += digits
            }
            for index in 0..<count {
                let value = byTarget ? from[index].target : from[index].referrer
                let digit = Int(truncatingIfNeeded: value >> shift & 0xFF)
                to[offsets[digit]] = from[index]
                offsets[digit] += 1
            }
            swap(&from, &to)
        }
        for shift in stride(from: UInt64(0), to: 64, by: 8) where referrerBits >> shift & 0xFF != 0 {
            pass(shift, false)
        }
        for shift in stride(from: UInt64(0), to: 64, by: 8) where targetBits >> shift & 0xFF != 0 {
            pass(shift, true)
        }
        if from == scratch { to.update(from: from, count: count) }
    }

    /// One sorted list of two. A pair that both hold comes once.
    static func merged(_ a: [PostingPair], _ b: [PostingPair]) -> [PostingPair] {
        guard let aLast = a.last, let bFirst = b.first else { return a.isEmpty ? b : a }
        if aLast < bFirst { return a + b }
        return a.withUnsafeBufferPointer { a in
            b.withUnsafeBufferPointer { b in
                Array(unsafeUninitializedCapacity: a.count + b.count) { output, count in
                    count = merge(a, b, into: output.baseAddress.unsafelyUnwrapped)
                }
            }
        }
    }

    private static func merge(
        _ a: UnsafeBufferPointer<PostingPair>, _ b: UnsafeBufferPointer<PostingPair>,
        into output: UnsafeMutablePointer<PostingPair>
    ) -> Int {
        // SAFETY: both lists are not empty, and `output` has room for all their pairs.
        var (x, y) = (a.baseAddress.unsafelyUnwrapped, b.baseAddress.unsafelyUnwrapped)
        let (xEnd, yEnd) = (x + a.count, y + b.count)
        var out = output
        while x < xEnd, y < yEnd {
            let (p, q) = (x.pointee, y.pointee)
            if p == q {
                x += 1
                continue
            }
            // Branch-free: which list is next cannot be predicted.
            let takesX = p < q
            out.initialize(
                to: PostingPair(takesX ? p.target : q.target, takesX ? p.referrer : q.referrer))
            x += takesX ? 1 : 0
            y += takesX ? 0 : 1
            out += 1
        }
        out.initialize(from: x, count: xEnd - x)
        out += xEnd - x
        out.initialize(from: y, count: yEnd - y)
        out += yEnd - y
        return out - output
    }

    /// Takes the pairs that both sorted lists hold out of both.
    static func cancel(_ a: inout [PostingPair], _ b: inout [PostingPair]) {
        guard let aFirst = a.first, let aLast = a.last, let bFirst = b.first, let bLast = b.last else { return }
        guard aFirst <= bLast, bFirst <= aLast else { return }
        var (keptA, keptB): ([PostingPair], [PostingPair]) = ([], [])
        var (i, j) = (0, 0)
        while i < a.count, j < b.count {
            if a[i] == b[j] {
                i += 1
                j += 1
            } else if a[i] < b[j] {
                keptA.append(a[i])
                i += 1
            } else {
                keptB.append(b[j])
                j += 1
            }
        }
        if keptA.count + keptB.count == a.count + b.count { return }
        keptA += a[i...]
        keptB += b[j...]
        (a, b) = (keptA, keptB)
    }
}

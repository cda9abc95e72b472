internal import CStrataSupport
internal import StrataSupport
internal import Synchronization

/// Memory for the blocks of one cache. Thread-safe.
///
/// One stretch of address space as long as the cache's budget, on large pages where the system has them: a block that
/// is read costs no page faults (which cost more than reading it), and a look-up in a cache of hundreds of megabytes
/// misses the processor's page tables less. The first large page is made of small ones until the second is needed: a
/// process that reads a few rows needs neither 2 MiB nor the time to clear them.
///
/// It is divided into units of 1 KiB by a bitmap, lowest first as long as something is free near the lowest free unit,
/// so that hardly more of it is touched than is in use at a time. What does not fit comes from the heap.
///
/// Unchecked: the bitmaps are guarded by the mutex; everything else is constant.
final class BlockMemory: @unchecked Sendable {
    private static let unitBytes = 1024
    private static let largePageBytes = 2 << 20
    /// Less is not worth a large page.
    private static let minimumByteCount = 1024

    private let base: UnsafeMutableRawPointer
    private let byteCount: Int
    private let units: AdaptiveMutex<UnitMap>
    /// The last large page that memory has been taken of.
    private let reached = Atomic<Int>(0)
    /// Whether something was given back since ``giveBackFree()``.
    private let hasFreed = Atomic<Bool>(false)

    /// Nil when the budget is too small for large pages, or there is no address space.
    init?(budgetBytes: Int) {
        let byteCount = (budgetBytes + budgetBytes / 8) / Self.largePageBytes * Self.largePageBytes
        guard byteCount > 0, let base = strata_pages_map(byteCount) else { return nil }
        guard let units = UnitMap(count: byteCount / Self.unitBytes) else {
            strata_pages_unmap(base, byteCount)
            return nil
        }
        self.base = base
        self.byteCount = byteCount
        self.units = AdaptiveMutex(units)
    }

    deinit {
        strata_pages_unmap(base, byteCount)
    }

    /// Uninitialised memory of at least `count` bytes, aligned to 16; to be given back with ``deallocate(_:)``.
    ///
    /// - Complexity: O(1) amortised, O(units / 64) when the stretch is nearly full.
    func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        if count >= Self.minimumByteCount {
            let needed = (count + Self.unitBytes - 1) / Self.unitBytes
            if let unit = units.withLock({ $0.take(needed) }) {
                backNext((unit + needed - 1) * Self.unitBytes / Self.largePageBytes)
                return base + unit * Self.unitBytes
            }
        }
        return .allocate(byteCount: count, alignment: 16)
    }

    /// Has another thread touch the large page behind one that is being used for the first time: the system clears it
    /// then, which takes milliseconds. Not for the first one, more than which small stores need not have: that becomes
    /// a large page with the second.
    private func backNext(_ page: Int) {
        let before = reached.load(ordering: .relaxed)
        guard page > before, (page + 2) * Self.largePageBytes <= byteCount,
            reached.compareExchange(expected: before, desired: page, ordering: .relaxed).exchanged
        else { return }
        HelperPool.shared.async { [self] in
            if before == 0 { strata_pages_enlarge(base) }
            guard reached.load(ordering: .relaxed) == page else { return }
            strata_pages_touch(base + (page + 1) * Self.largePageBytes, Self.largePageBytes)
        }
    }

    func deallocate(_ pointer: UnsafeMutableRawPointer) {
        let offset = pointer - base
        guard offset >= 0, offset < byteCount else {
            pointer.deallocate()
            return
        }
        units.withLock { $0.release(offset / Self.unitBytes) }
        if !hasFreed.load(ordering: .relaxed) { hasFreed.store(true, ordering: .relaxed) }
    }

    /// Gives pages that nothing lies on back to the system, if anything was given back since the last call. Parts of
    /// large pages, too: the system divides them then.
    ///
    /// - Complexity: O(units / 64), and a system call for each stretch of free memory.
    func giveBackFree() {
        guard hasFreed.exchange(false, ordering: .relaxed) else { return }
        let pageUnits = min(max(1, Int(strata_page_bytes()) / Self.unitBytes), 64)
        var unit = 0
        // Each stretch is taken while its pages go, so that nobody writes there.
        while let free = units.withLock({ $0.takeFree(from: unit, multipleOf: pageUnits) }) {
            strata_pages_drop(base + free.lowerBound * Self.unitBytes, free.count * Self.unitBytes)
            units.withLock { $0.release(free.lowerBound) }
            unit = free.upperBound
        }
        reached.store(0, ordering: .relaxed)
    }
}

/// Which units of a stretch of memory are taken.
struct UnitMap: ~Copyable {
    private let wordCount: Int
    /// Of both bitmaps, in whole pages.
    private let byteCount: Int
    /// Bit set = taken.
    private let used: UnsafeMutablePointer<UInt64>
    /// Bit set = the last unit of what was taken together.
    private let ends: UnsafeMutablePointer<UInt64>
    /// No unit below this word is free.
    private var firstFreeWord = 0
    /// Where the last search that went far ended.
    private var cursor = 0
    private static let nearWords = 64
    /// No unit from here on has ever been taken.
    private var takenEnd = 0
    /// More units are not taken at once to be given back.
    private static let stretchMaximum = 8_192

    /// Nil when there is no address space.
    init?(count: Int) {
        precondition(count > 0 && count % 64 == 0)
        wordCount = count / 64
        let pageBytes = Int(strata_page_bytes())
        byteCount = (2 * wordCount * MemoryLayout<UInt64>.stride + pageBytes - 1) / pageBytes * pageBytes
        // Zero, and none of it is there before it is used.
        guard let memory = strata_pages_map_small(byteCount) else { return nil }
        used = memory.bindMemory(to: UInt64.self, capacity: 2 * wordCount)
        ends = used + wordCount
    }

    deinit {
        strata_pages_unmap(used, byteCount)
    }

    /// Takes neighbouring units and returns the first; nil when there are not as many together.
    mutating func take(_ needed: Int) -> Int? {
        while firstFreeWord < wordCount, used[firstFreeWord] == .max { firstFreeWord += 1 }
        // Between many small holes the search goes on where the last one ended instead of trying them all each time.
        let near = min(wordCount, firstFreeWord + Self.nearWords + needed / 64)
        if let first = search(firstFreeWord, near, needed) { return first }
        let start = max(cursor, firstFreeWord)
        guard let first = search(start, wordCount, needed) ?? search(firstFreeWord, wordCount, needed) else {
            return nil
        }
        cursor = first >> 6
        return first
    }

    /// Searches the words from `word` up to, not including, `end`.
    private mutating func search(_ word: Int, _ end: Int, _ needed: Int) -> Int? {
        var word = word
        var length = 0
        while word < end {
            let bits = used[word]
            if bits == 0 {
                length += 64
                if length >= needed { return mark(from: word * 64 + 64 - length, needed) }
            } else if bits == .max {
                length = 0
            } else {
                var bit = 0
                while bit < 64 {
                    let free = min((bits >> UInt64(bit)).trailingZeroBitCount, 64 - bit)
                    length += free
                    bit += free
                    if length >= needed { return mark(from: word * 64 + bit - length, needed) }
                    if bit == 64 { break }
                    length = 0
                    bit += min((~(bits >> UInt64(bit))).trailingZeroBitCount, 64 - bit)
                }
            }
            word += 1
        }
        return nil
    }

    private mutating func mark(from first: Int, _ count: Int) -> Int {
        // As locals: the compiler fails at changing in place what a noncopyable value points to, when it compiles for
        // the thread sanitizer.
        let (used, ends) = (used, ends)
        for unit in first..<first + count { used[unit >> 6] |= 1 << UInt64(unit & 63) }
        let last = first + count - 1
        takenEnd = max(takenEnd, last + 1)
        ends[last >> 6] |= 1 << UInt64(last & 63)
        return first
    }

    /// Takes the next stretch of free units that begins and ends at a multiple of some number of units, at or behind a
    /// unit, among those that have ever been taken; nil when there is none. A long one is taken in parts.
    ///
    /// - Precondition: the number is a power of two, up to 64.
    mutating func takeFree(from unit: Int, multipleOf multiple: Int) -> Range<Int>? {
        precondition(multiple <= 64 && multiple.nonzeroBitCount == 1)
        let used = used
        let mask = multiple == 64 ? UInt64.max : (1 << UInt64(multiple)) - 1
        func isFree(_ first: Int) -> Bool { used[first >> 6] >> UInt64(first & 63) & mask == 0 }
        let end = (takenEnd + multiple - 1) / multiple * multiple
        var first = (unit + multiple - 1) / multiple * multiple
        while first < end, !isFree(first) { first += multiple }
        guard first < end else { return nil }
        var last = first + multiple
        while last < min(end, first + Self.stretchMaximum), isFree(last) { last += multiple }
        _ = mark(from: first, last - first)
        return first..<last
    }

    /// Gives back what was taken together from `first` on.
    mutating func release(_ first: Int) {
        let (used, ends) = (used, ends)
        firstFreeWord = min(firstFreeWord, first >> 6)
        var unit = first
        while true {
            let (word, bit) = (unit >> 6, UInt64(1) << UInt64(unit & 63))
            precondition(used[word] & bit != 0, "memory was given back twice")
            used[word] &= ~bit
            if ends[word] & bit != 0 {
                ends[word] &= ~bit
                return
            }
            unit += 1
        }
    }
}

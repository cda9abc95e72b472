/// A set of primary keys: a bit for each, in pages, since most are close together.
package struct KeySet {
    private var pages: [UInt64: SIMD8<UInt64>] = [:]
    /// The page of the last key, which the next one mostly is in, too.
    private var index = UInt64.max
    private var page = SIMD8<UInt64>()

    /// Creates the empty set.
    package init() {}

    /// Whether the key is new.
    package mutating func insert(_ key: UInt64) -> Bool {
        if key / 512 != index {
            if index != .max { pages[index] = page }
            index = key / 512
            page = pages[index] ?? SIMD8()
        }
        let (word, bit) = Self.bit(key)
        guard page[word] & bit == 0 else { return false }
        page[word] |= bit
        return true
    }

    /// Whether the key is in the set.
    package func contains(_ key: UInt64) -> Bool {
        let (word, bit) = Self.bit(key)
        return (key / 512 == index ? page : pages[key / 512] ?? SIMD8())[word] & bit != 0
    }

    /// The least key that another set does not have; nil if there is none.
    ///
    /// - Complexity: O(n) in the number of pages.
    package func least(notIn other: KeySet) -> UInt64? {
        var pages = self.pages
        if index != .max { pages[index] = page }
        var others = other.pages
        if other.index != .max { others[other.index] = other.page }
        return pages.compactMap { index, page in
            let rest = page & ~(others[index] ?? SIMD8())
            let word = (0..<8).first { rest[$0] != 0 }
            return word.map { index * 512 + UInt64($0) * 64 + UInt64(rest[$0].trailingZeroBitCount) }
        }.min()
    }

    private static func bit(_ key: UInt64) -> (word: Int, bit: UInt64) {
        (Int(key % 512 / 64), UInt64(1) << (key % 64))
    }
}

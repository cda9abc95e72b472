/// How open-addressing tables are searched: linear probing in a table whose capacity is a power of two.
///
/// A table keeps its entries as it likes and says by closures what is in them. All is inlined, so that a search is
/// the loop that would be written by hand.
@frozen @usableFromInline
package struct Probing {
    /// The capacity less one.
    @usableFromInline let mask: Int

    /// - Parameter capacity: a power of two.
    @inlinable @inline(__always)
    package init(capacity: Int) {
        mask = capacity &- 1
    }

    /// Where the search for a hash begins.
    @inlinable @inline(__always)
    package func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & mask }

    /// The first entry where a search that begins at `home` ends.
    ///
    /// - Parameter isEnd: whether the entry at an index is free, or the one that is looked for. It must be true of one
    ///   entry at least: a table never becomes full.
    @inlinable @inline(__always)
    package func first<Failure>(
        from home: Int, where isEnd: (Int) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        var index = home
        while try !isEnd(index) { index = (index &+ 1) & mask }
        return index
    }

    /// Moves entries behind a hole up into it, so that searches need no marks where something once was.
    ///
    /// - Parameters:
    ///   - hole: the entry whose contents are no longer wanted.
    ///   - home: where the search for the entry at an index begins; nil if it is free.
    ///   - move: copies an entry from one index to another.
    /// - Returns: the entry that is free now. The caller marks it so.
    @inlinable @inline(__always)
    package func close(_ hole: Int, home: (Int) -> Int?, move: (_ source: Int, _ target: Int) -> Void) -> Int {
        var hole = hole
        var index = hole
        while true {
            index = (index &+ 1) & mask
            guard let home = home(index) else { return hole }
            if (index &- home) & mask >= (index &- hole) & mask {
                move(index, hole)
                hole = index
            }
        }
    }
}

/// How the keys of hash tables are mixed.
@frozen @usableFromInline
package enum Hashing {
    /// Spreads a number's bits upwards: the lowest ones of the product are no better than the number's own.
    @inlinable @inline(__always)
    package static func spread(_ number: UInt64) -> UInt64 { number &* 0x9E37_79B9_7F4A_7C15 }

    /// Mixes all bits of a number with each other, by a product of 128 bits.
    @inlinable @inline(__always)
    package static func fold(_ number: UInt64) -> UInt64 {
        let product = number.multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)
        return product.high ^ product.low
    }
}

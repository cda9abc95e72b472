import StrataLog

/// One bit for each row of a block, in words of 64, lowest bit first.
@frozen
@usableFromInline
struct RowBits {
    @usableFromInline let words: UnsafeMutablePointer<UInt64>
    @usableFromInline let wordCount: Int

    static func wordCount(rows: Int) -> Int { (rows + 63) >> 6 }

    var isEmpty: Bool {
        for index in 0..<wordCount where words[index] != 0 { return false }
        return true
    }

    var count: Int {
        var count = 0
        for index in 0..<wordCount { count += words[index].nonzeroBitCount }
        return count
    }

    func clear() { words.update(repeating: 0, count: wordCount) }

    func copy(from other: RowBits) { words.update(from: other.words, count: wordCount) }

    func formUnion(_ other: RowBits) {
        for index in 0..<wordCount { words[index] |= other.words[index] }
    }

    func subtract(_ other: RowBits) {
        for index in 0..<wordCount { words[index] &= ~other.words[index] }
    }

    @inline(__always)
    func contains(_ row: Int) -> Bool { words[row >> 6] >> UInt64(row & 63) & 1 != 0 }

    @inlinable @inline(__always)
    func remove(_ row: Int) { words[row >> 6] &= ~((1 as UInt64) << UInt64(row & 63)) }

    /// Sets the bits of neighbouring rows.
    func insert(_ rows: Range<Int>) {
        Self.forEachWord(of: rows) { words[$0] |= $1 }
    }

    /// Clears the bits of neighbouring rows.
    func remove(_ rows: Range<Int>) {
        Self.forEachWord(of: rows) { words[$0] &= ~$1 }
    }

    /// Calls the body with the words that the rows' bits are in, and those bits.
    @inline(__always)
    private static func forEachWord(of rows: Range<Int>, _ body: (_ index: Int, _ bits: UInt64) -> Void) {
        var row = rows.lowerBound
        while row < rows.upperBound {
            let bit = row & 63
            let count = min(64 - bit, rows.upperBound - row)
            body(row >> 6, count == 64 ? UInt64.max : ((1 as UInt64) << UInt64(count) - 1) << UInt64(bit))
            row += count
        }
    }

    /// Calls the body with the set rows of a range, ascending.
    @inlinable @inline(__always)
    func forEach<Failure: Error>(in rows: Range<Int>, _ body: (Int) throws(Failure) -> Void) throws(Failure) {
        var index = rows.lowerBound >> 6
        while index << 6 < rows.upperBound {
            var word = words[index]
            let base = index << 6
            if base < rows.lowerBound { word &= UInt64.max << UInt64(rows.lowerBound - base) }
            if base + 64 > rows.upperBound { word &= UInt64.max >> UInt64(base + 64 - rows.upperBound) }
            while word != 0 {
                try body(base + word.trailingZeroBitCount)
                word &= word - 1
            }
            index += 1
        }
    }

    /// Keeps the rows for which the test holds; null ones where `nullResult` says so.
    ///
    /// Where most of a word's rows are asked for, all are tested, without branches: the test must be cheap, and must
    /// stand rows that are null.
    @inline(__always)
    func filter(_ column: ColumnView, nullResult: Bool, _ test: (Int) -> Bool) {
        let rows = column.rowCount
        for index in 0..<wordCount {
            let asked = words[index]
            if asked == 0 { continue }
            let base = index << 6
            var found: UInt64 = 0
            if asked.nonzeroBitCount > 16 {
                for bit in 0..<min(64, rows - base) { found |= (test(base + bit) ? 1 : 0) << UInt64(bit) }
            } else {
                var rest = asked
                while rest != 0 {
                    let bit = rest.trailingZeroBitCount
                    found |= (test(base + bit) ? 1 : 0) << UInt64(bit)
                    rest &= rest - 1
                }
            }
            if let nulls = column.nullWord(index) { found = nullResult ? found | nulls : found & ~nulls }
            words[index] = asked & found
        }
    }
}

extension ColumnView {
    /// The null bits of 64 rows; nil when no row of the column is null.
    @inline(__always)
    func nullWord(_ index: Int) -> UInt64? {
        guard let nulls else { return nil }
        let bytes = (rowCount + 7) >> 3
        var word: UInt64 = 0
        for byte in 0..<min(8, bytes - index << 3) { word |= UInt64(nulls[index << 3 + byte]) << UInt64(byte << 3) }
        return word
    }
}

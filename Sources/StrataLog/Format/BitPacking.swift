/// Unsigned integers of a given number of bits, one after the other, lowest bit first.
enum BitPacking {
    /// A value is read with one unaligned 64-bit load, so it may not be wider than this.
    static let bitsMaximum = 56
    /// Bytes that may be read past the end of packed bytes, and written past it while packing.
    static let slackBytes = 8

    @inline(__always)
    static func byteCount(_ count: Int, bits: Int) -> Int {
        (count * bits + 7) / 8
    }

    /// Bits that hold every value from 0 to `range`.
    @inline(__always)
    static func bits(range: UInt64) -> Int {
        UInt64.bitWidth - range.leadingZeroBitCount
    }

    /// Packs `count` values, each below 2^bits, at `target`, which has room for ``slackBytes`` more than needed.
    /// - Returns: The bytes written.
    @inline(__always)
    static func pack(
        count: Int, bits: Int, into target: UnsafeMutableRawPointer, value: (Int) -> UInt64
    ) -> Int {
        if bits == 0 { return 0 }
        var pending: UInt64 = 0
        var fill = 0
        var cursor = target
        for index in 0..<count {
            let next = value(index)
            pending |= next &<< UInt64(fill)
            fill &+= bits
            if fill >= 64 {
                cursor.storeBytes(of: pending, as: UInt64.self)
                cursor += 8
                fill &-= 64
                // What did not fit; a shift by all of `bits` leaves nothing since the value has no more of them.
                pending = next &>> UInt64(bits &- fill)
            }
        }
        cursor.storeBytes(of: pending, as: UInt64.self)
        return byteCount(count, bits: bits)
    }

    /// Calls `body` with each index and value.
    ///
    /// - Precondition: the packed bytes are followed by ``slackBytes`` readable ones.
    @inline(__always)
    static func forEach(
        _ source: UnsafeRawPointer, count: Int, bits: Int, _ body: (Int, UInt64) -> Void
    ) {
        if bits == 0 {
            for index in 0..<count { body(index, 0) }
            return
        }
        let mask = (1 as UInt64) &<< UInt64(bits) &- 1
        var position = 0
        for index in 0..<count {
            let word = source.loadUnaligned(fromByteOffset: position &>> 3, as: UInt64.self)
            body(index, (word &>> UInt64(position & 7)) & mask)
            position &+= bits
        }
    }
}

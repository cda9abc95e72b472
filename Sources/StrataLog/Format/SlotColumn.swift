/// The values of one slot while rows are gathered. Plain memory: the row buffer owns it, see ``RowMemory``.
@usableFromInline
struct SlotColumn {
    /// Fixed kinds: values of `kind.fixedWidth` bytes. Variable kinds: UInt32 offsets, one more than rows.
    @usableFromInline var values: UnsafeMutableRawPointer
    /// Variable kinds: the values' bytes. Few of them lie in the memory of the rows, more in the column's own.
    @usableFromInline var heap: UnsafeMutableRawPointer?
    @usableFromInline var heapCount = 0
    @usableFromInline var heapCapacity = 0
    /// Bit set = null. Allocated with the first null; as many whole words as the row capacity needs.
    @usableFromInline var nulls: UnsafeMutablePointer<UInt8>?
    /// Bit set = the bytes are an ``ExternalValue``.
    @usableFromInline var externals: UnsafeMutablePointer<UInt8>?
    /// Rows below this one have a value or are marked null. A slot that a row does not set costs nothing then: it is
    /// filled up with nulls when the slot is next set or the rows are taken.
    @usableFromInline var filled: Int32 = 0
    @usableFromInline let kind: ValueKind
    @usableFromInline let width: UInt8

    /// What a heap in the memory of the rows has room for. One that is larger is the column's own.
    static let sharedHeapByteCount = 64

    /// - Parameter heap: ``sharedHeapByteCount`` bytes that somebody else owns, or nil.
    init(kind: ValueKind, values: UnsafeMutableRawPointer, heap: UnsafeMutableRawPointer?) {
        self.kind = kind
        self.width = UInt8(kind.fixedWidth)
        self.values = values
        self.heap = heap
        heapCapacity = heap == nil ? 0 : Self.sharedHeapByteCount
    }

    /// What the column's own heap takes; 0 as long as it has none.
    var ownHeapByteCount: Int { heapCapacity > Self.sharedHeapByteCount ? heapCapacity : 0 }

    func deallocate() {
        if ownHeapByteCount > 0 { heap?.deallocate() }
        nulls?.deallocate()
        externals?.deallocate()
    }

    /// Makes room for `count` more bytes in the heap.
    @usableFromInline
    mutating func growHeap(by count: Int) {
        let capacity = Swift.max(heapCount + count, heapCapacity * 2, 2 * Self.sharedHeapByteCount)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        if let heap {
            grown.copyMemory(from: heap, byteCount: heapCount)
            if ownHeapByteCount > 0 { heap.deallocate() }
        }
        heap = grown
        heapCapacity = capacity
    }

    static func isSet(_ bitmap: UnsafeMutablePointer<UInt8>?, _ row: Int) -> Bool {
        guard let bitmap else { return false }
        return bitmap[row >> 3] >> UInt8(row & 7) & 1 != 0
    }

    static func setBit(_ bitmap: inout UnsafeMutablePointer<UInt8>?, _ row: Int, rowCapacity: Int) {
        let bits: UnsafeMutablePointer<UInt8>
        if let bitmap {
            bits = bitmap
        } else {
            bits = makeBitmap(rowCapacity)
            bitmap = bits
        }
        bits[row >> 3] |= 1 << UInt8(row & 7)
    }

    static func clearBit(_ bitmap: UnsafeMutablePointer<UInt8>?, _ row: Int) {
        bitmap?[row >> 3] &= ~(1 << UInt8(row & 7))
    }

    private static func makeBitmap(_ rowCapacity: Int) -> UnsafeMutablePointer<UInt8> {
        let count = BlockFormat.bitmapBytes(rowCapacity)
        let bits = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        bits.initialize(repeating: 0, count: count)
        return bits
    }

    static func growBitmap(_ bitmap: inout UnsafeMutablePointer<UInt8>?, from: Int, to: Int) {
        guard let old = bitmap else { return }
        let bits = makeBitmap(to)
        bits.update(from: old, count: BlockFormat.bitmapBytes(from))
        old.deallocate()
        bitmap = bits
    }

    /// Marks rows `filled ..< row` null, with the values that null stands for.
    mutating func fillNulls(to row: Int, rowCapacity: Int) {
        let first = Int(filled)
        guard first < row else { return }
        for index in first..<row { Self.setBit(&nulls, index, rowCapacity: rowCapacity) }
        if width > 0 {
            let start = values + first * Int(width)
            start.initializeMemory(as: UInt8.self, repeating: 0, count: (row - first) * Int(width))
        } else {
            let offsets = values.assumingMemoryBound(to: UInt32.self)
            for index in first..<row { offsets[index + 1] = UInt32(heapCount) }
        }
        filled = Int32(row)
    }

    /// Takes back the value of row `filled - 1`.
    /// - Returns: The bytes that the heap lost.
    mutating func unset() -> Int {
        let row = Int(filled) - 1
        filled -= 1
        Self.clearBit(nulls, row)
        Self.clearBit(externals, row)
        guard width == 0 else { return 0 }
        let start = Int(values.assumingMemoryBound(to: UInt32.self)[row])
        let lost = heapCount - start
        heapCount = start
        return lost
    }
}

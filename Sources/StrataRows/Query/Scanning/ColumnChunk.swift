import CStrataSupport
import StrataLog

/// The values of one column of some tens of thousands of neighbouring rows, one behind the other, however many blocks
/// they came from: a loop over a column chunk reads nothing but the values. Immutable.
///
/// Unchecked: the memory is written before the column chunk is made, and belongs to it alone.
final class ColumnChunk: @unchecked Sendable {
    let view: ColumnView
    /// What it takes.
    let byteCount: Int
    /// Of text: whether all of it is ASCII.
    let isASCII: Bool
    /// What the zone maps of the rows' blocks say, by segment; empty when there are too many.
    private let zones: [ColumnZone?]
    /// Whether zone maps may rule blocks out: not where each block's values are spread as widely as those of all.
    let zonesTellApart: Bool
    private let memory: [UnsafeMutableRawPointer]
    private let pages: ColumnPages

    /// Takes over what a builder has put together.
    init(_ builder: ColumnChunkBuilder, _ zones: [ColumnZone?]) {
        self.zones = zones
        zonesTellApart = ColumnZone.tellApart(zones)
        pages = builder.pages
        let (view, memory, byteCount) = builder.finish()
        self.view = view
        self.memory = memory
        self.byteCount = byteCount
        if view.kind == .string {
            let end = Int(view.offsets[view.rowCount])
            // Of a value out of line there is no more than its place.
            isASCII = view.externals == nil && strata_find_beyond_ascii(view.heap, end) < 0
        } else {
            isASCII = false
        }
    }

    /// What the zone map of a segment's block says; nil when it is not known.
    func zone(_ segment: Int) -> ColumnZone? { segment < zones.count ? zones[segment] : nil }

    deinit {
        for pointer in memory { pages.deallocate(pointer) }
    }
}

/// Puts a column chunk together, piece by piece.
final class ColumnChunkBuilder {
    /// A column chunk whose text is longer is not made: it would take too much of the memory at once.
    private static let heapMaximumBytes = 32 << 20

    let pages: ColumnPages
    private let kind: ValueKind
    private let width: Int
    private let rowCount: Int
    private let values: UnsafeMutableRawPointer
    private var nulls: UnsafeMutablePointer<UInt8>?
    private var externals: UnsafeMutablePointer<UInt8>?
    private var heap: UnsafeMutableRawPointer?
    private var heapCapacity = 0
    private var heapCount = 0
    /// Rows so far.
    private(set) var count = 0
    private var isFinished = false

    init(_ kind: ValueKind, rowCount: Int, _ pages: ColumnPages) {
        self.pages = pages
        self.kind = kind
        self.rowCount = rowCount
        width = kind.fixedWidth
        values = pages.allocate(width > 0 ? rowCount * width : (rowCount + 1) * 4)
        if width == 0 { values.storeBytes(of: 0, as: UInt32.self) }
    }

    deinit {
        guard !isFinished else { return }
        pages.deallocate(values)
        if let nulls { pages.deallocate(nulls) }
        if let externals { pages.deallocate(externals) }
        if let heap { pages.deallocate(heap) }
    }

    /// Takes in rows of a column. False when they cannot lie in a column chunk: then it is given up.
    func append(_ view: ColumnView, _ rows: Range<Int>) -> Bool {
        precondition(rows.upperBound <= view.rowCount && count + rows.count <= rowCount, "rows out of range")
        guard view.kind == kind else { return false }
        if width > 0 {
            (values + count * width).copyMemory(
                from: view.values + rows.lowerBound * width, byteCount: rows.count * width)
        } else if !appendText(view, rows) {
            return false
        }
        if view.nulls != nil { mark(rows, in: &nulls) { view.isNull($0) } }
        if view.externals != nil { mark(rows, in: &externals) { view.isExternal($0) } }
        count += rows.count
        return true
    }

    /// Takes in one row's bytes. False when the text gets too long.
    func append(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { append($0) } }

    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        precondition(width == 0 && count < rowCount, "rows out of range")
        let needed = heapCount + bytes.count
        guard needed <= heapCapacity || grow(max(needed, min(heapCapacity * 2, Self.heapMaximumBytes))) else {
            return false
        }
        if let heap, let start = bytes.baseAddress {
            (heap + heapCount).copyMemory(from: start, byteCount: bytes.count)
        }
        heapCount += bytes.count
        values.assumingMemoryBound(to: UInt32.self)[count + 1] = UInt32(heapCount)
        count += 1
        return true
    }

    private func appendText(_ view: ColumnView, _ rows: Range<Int>) -> Bool {
        let source = view.offsets
        let start = source[rows.lowerBound]
        let byteCount = Int(source[rows.upperBound] - start)
        if heapCount + byteCount > heapCapacity {
            // What the rows so far take each, and an eighth more.
            let expected = (heapCount + byteCount) * rowCount / (count + rows.count) * 9 / 8 + 64
            guard grow(max(heapCount + byteCount, expected)) else { return false }
        }
        let offsets = values.assumingMemoryBound(to: UInt32.self) + count
        let difference = UInt32(heapCount) &- start
        for (index, row) in rows.enumerated() { offsets[index + 1] = source[row + 1] &+ difference }
        // Rows without a byte need no heap.
        if let heap { (heap + heapCount).copyMemory(from: view.heap + Int(start), byteCount: byteCount) }
        heapCount += byteCount
        return true
    }

    private func grow(_ capacity: Int) -> Bool {
        guard capacity <= Self.heapMaximumBytes else { return false }
        let grown = pages.allocate(capacity)
        if let heap {
            grown.copyMemory(from: heap, byteCount: heapCount)
            pages.deallocate(heap)
        }
        heap = grown
        heapCapacity = capacity
        return true
    }

    /// Takes in rows that do not have the column: they are null.
    func appendNothing(_ more: Int) {
        precondition(count + more <= rowCount, "rows out of range")
        if width > 0 {
            (values + count * width).initializeMemory(as: UInt8.self, repeating: 0, count: more * width)
        } else {
            let offsets = values.assumingMemoryBound(to: UInt32.self) + count
            for index in 0..<more { offsets[index + 1] = UInt32(heapCount) }
        }
        if more > 0 { markNulls(more) }
        count += more
    }

    /// Sets the bits of the next rows.
    private func markNulls(_ more: Int) {
        let known = nulls ?? noBits()
        nulls = known
        var row = count
        let end = count + more
        while row < end {
            if row & 7 == 0, end - row >= 8 {
                let byteCount = (end - row) >> 3
                (known + (row >> 3)).update(repeating: .max, count: byteCount)
                row += byteCount << 3
            } else {
                known[row >> 3] |= 1 << UInt8(row & 7)
                row += 1
            }
        }
    }

    /// Takes in all rows at once, of a kind of fixed width: the body writes them. What it does not write is 0.
    func fill<Value: BitwiseCopyable, Failure: Error>(
        _: Value.Type, _ body: (UnsafeMutablePointer<Value>) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(count == 0 && width == MemoryLayout<Value>.size, "the column has another kind, or rows already")
        values.initializeMemory(as: UInt8.self, repeating: 0, count: rowCount * width)
        try body(values.assumingMemoryBound(to: Value.self))
        count = rowCount
    }

    /// Makes a row null that has been filled or will be.
    @inline(__always)
    func setNull(_ row: Int) {
        precondition(row < rowCount, "row out of range")
        let known = nulls ?? noBits()
        nulls = known
        known[row >> 3] |= 1 << UInt8(row & 7)
    }

    /// Sets the bits of those of the next rows for which something holds.
    @inline(__always)
    private func mark(_ rows: Range<Int>, in bits: inout UnsafeMutablePointer<UInt8>?, _ holds: (Int) -> Bool) {
        for (index, row) in rows.enumerated() where holds(row) {
            let known = bits ?? noBits()
            bits = known
            known[(count + index) >> 3] |= 1 << UInt8((count + index) & 7)
        }
    }

    private func noBits() -> UnsafeMutablePointer<UInt8> {
        let byteCount = (rowCount + 7) / 8
        return pages.allocate(byteCount).initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    /// The view over all rows and what it lies in.
    fileprivate func finish() -> (view: ColumnView, memory: [UnsafeMutableRawPointer], byteCount: Int) {
        precondition(count == rowCount, "rows are missing")
        isFinished = true
        let view = ColumnView(
            over: kind, rows: rowCount, values: values, heap: heap ?? values, nulls: nulls.map { UnsafePointer($0) },
            externals: externals.map { UnsafePointer($0) })
        var memory = [values]
        if let heap { memory.append(heap) }
        let bits = [nulls, externals].compactMap { $0 }
        memory += bits.map { UnsafeMutableRawPointer($0) }
        let fixed = width > 0 ? rowCount * width : (rowCount + 1) * 4
        return (view, memory, fixed + heapCapacity + bits.count * ((rowCount + 7) / 8))
    }
}

/// Writes the rows of one block. The header's sequence and checksum are left for
/// ``EncodedBlock/stamp(at:)``.
struct BlockEncoder {
    let memory: RowMemory
    let advice: CompressionAdvice?
    private let entity: UInt16
    private let schemaVersion: UInt16
    private let storesKeys: Bool
    private let isPlain: Bool
    private let decodedBytes: Int
    /// Bytes written so far.
    private(set) var position = 0
    private(set) var patches: [EncodedBlock.Patch] = []
    private(set) var patchedChunks: [EncodedBlock.PatchedChunk] = []

    init(_ memory: RowMemory, entity: UInt16, schemaVersion: UInt16, advice: CompressionAdvice?) {
        self.memory = memory
        self.advice = advice
        self.entity = entity
        self.schemaVersion = schemaVersion
        storesKeys = !Self.isConsecutive(memory.keys, memory.rowCount)
        let rows = memory.rowCount
        var decoded = 0
        for slot in 0..<memory.slotCount {
            let column = memory.columns[slot]
            decoded += column.width > 0 ? rows * Int(column.width) : (rows + 1) * 4 + column.heapCount
        }
        precondition(decoded <= BlockFormat.decodedMaximumBytes, "a block of \(decoded) bytes is over the limit")
        decodedBytes = decoded
        isPlain =
            rows == 0 || (rows < BlockFormat.plainRows && memory.heapBytes <= BlockFormat.plainHeapBytes)
            || memory.slotCount * BlockFormat.descriptorBytes > decoded / 4
    }

    private static func isConsecutive(_ keys: UnsafeMutablePointer<UInt64>, _ count: Int) -> Bool {
        guard count > 1 else { return true }
        let first = keys[0]
        for row in 1..<count where keys[row] != first &+ UInt64(row) { return false }
        return true
    }

    /// An upper bound of ``position`` once encoded.
    var byteCountMaximum: Int {
        let rows = memory.rowCount
        let columns = memory.slotCount + 2
        // Chunk: values, two bitmaps, packed lengths (in the 4 bytes a row that `decodedBytes` counts), alignment,
        // packing slack.
        let perColumn = BlockFormat.descriptorBytes + 2 * BlockFormat.bitmapBytes(rows) + 24
        return BlockFormat.headerBytes + decodedBytes + columns * perColumn + rows * 16 + Location.alignmentBytes + 8
    }

    mutating func encode(into start: UnsafeMutableRawPointer) {
        var flags: BlockFormat.BlockFlags = []
        if storesKeys { flags.insert(.keys) }
        if memory.sequences != nil { flags.insert(.sequences) }
        var payloadLength = 0
        var payloadChecksum: UInt32 = 0
        var decodedLength = decodedBytes
        if isPlain {
            flags.insert(.plain)
            position = BlockFormat.headerBytes
            encodePlain(start, &flags)
            payloadLength = position - BlockFormat.headerBytes
            payloadChecksum = checksum(start + BlockFormat.headerBytes, count: payloadLength)
            decodedLength = payloadLength
            patchedChunks =
                patches.isEmpty
                ? []
                : [
                    EncodedBlock.PatchedChunk(
                        checksumPosition: BlockFormat.Header.payloadChecksum, start: BlockFormat.headerBytes,
                        count: payloadLength)
                ]
        } else {
            encodeColumns(start)
        }
        pad(start, to: Location.alignmentBytes)
        typealias Field = BlockFormat.Header
        start.initializeMemory(as: UInt8.self, repeating: 0, count: BlockFormat.headerBytes)
        start.storeBytes(of: BlockFormat.magic, toByteOffset: Field.magic, as: UInt32.self)
        start.storeBytes(of: flags.rawValue, toByteOffset: Field.flags, as: UInt16.self)
        start.storeBytes(of: UInt16(memory.slotCount), toByteOffset: Field.slotCount, as: UInt16.self)
        start.storeBytes(of: UInt32(position), toByteOffset: Field.totalLength, as: UInt32.self)
        start.storeBytes(of: UInt32(decodedLength), toByteOffset: Field.decodedLength, as: UInt32.self)
        start.storeBytes(of: entity, toByteOffset: Field.entity, as: UInt16.self)
        start.storeBytes(of: schemaVersion, toByteOffset: Field.schemaVersion, as: UInt16.self)
        start.storeBytes(of: UInt16(memory.rowCount), toByteOffset: Field.rowCount, as: UInt16.self)
        let firstKey = memory.rowCount > 0 ? memory.keys[0] : 0
        start.storeBytes(of: firstKey, toByteOffset: Field.firstKey, as: UInt64.self)
        start.storeBytes(of: payloadChecksum, toByteOffset: Field.payloadChecksum, as: UInt32.self)
        start.storeBytes(of: UInt32(payloadLength), toByteOffset: Field.payloadLength, as: UInt32.self)
    }

    private mutating func pad(_ start: UnsafeMutableRawPointer, to alignment: Int) {
        let next = BlockFormat.aligned(position, to: alignment)
        (start + position).initializeMemory(as: UInt8.self, repeating: 0, count: next - position)
        position = next
    }

    private mutating func append(_ start: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer, count: Int) {
        (start + position).copyMemory(from: bytes, byteCount: count)
        position += count
    }

    private mutating func recordPatches(_ column: SlotColumn, heapPosition: Int) {
        guard let externals = column.externals, let heap = column.heap else { return }
        let offsets = column.values.assumingMemoryBound(to: UInt32.self)
        for row in 0..<memory.rowCount where SlotColumn.isSet(externals, row) {
            let value = ExternalValue(reading: heap + Int(offsets[row]))
            if let number = value.pendingNumber {
                patches.append(.init(position: heapPosition + Int(offsets[row]), number: number))
            }
        }
    }
}

// MARK: - Plain layout

extension BlockEncoder {
    private mutating func encodePlain(_ start: UnsafeMutableRawPointer, _ flags: inout BlockFormat.BlockFlags) {
        let rows = memory.rowCount
        let columns = UnsafeBufferPointer(start: memory.columns, count: memory.slotCount)
        if storesKeys { append(start, memory.keys, count: rows * 8) }
        if let sequences = memory.sequences { append(start, sequences, count: rows * 8) }
        for column in columns where column.width >= 8 { append(start, column.values, count: rows * Int(column.width)) }
        for column in columns where column.width == 4 { append(start, column.values, count: rows * 4) }
        appendSharedOffsets(start, columns)
        for column in columns where column.width == 2 { append(start, column.values, count: rows * 2) }
        for column in columns where column.width == 1 { append(start, column.values, count: rows) }
        let bitmapBytes = BlockFormat.plainBitmapBytes(rows)
        if columns.contains(where: { $0.nulls != nil }) {
            flags.insert(.nulls)
            for column in columns { appendBitmap(start, column.nulls, count: bitmapBytes) }
        }
        if columns.contains(where: { $0.externals != nil }) {
            flags.insert(.externals)
            for column in columns { appendBitmap(start, column.externals, count: bitmapBytes) }
        }
        for column in columns {
            guard let heap = column.heap else { continue }
            recordPatches(column, heapPosition: position)
            append(start, heap, count: column.heapCount)
        }
    }

    /// The variable columns share one heap and one array of offsets: the end of one column is the beginning of the
    /// next.
    private mutating func appendSharedOffsets(
        _ start: UnsafeMutableRawPointer, _ columns: UnsafeBufferPointer<SlotColumn>
    ) {
        guard columns.contains(where: { $0.width == 0 }) else { return }
        var base: UInt32 = 0
        (start + position).storeBytes(of: 0, as: UInt32.self)
        position += 4
        for column in columns where column.width == 0 {
            let offsets = column.values.assumingMemoryBound(to: UInt32.self)
            for row in 0..<memory.rowCount {
                (start + position).storeBytes(of: base + offsets[row + 1], as: UInt32.self)
                position += 4
            }
            base += UInt32(column.heapCount)
        }
    }

    private mutating func appendBitmap(
        _ start: UnsafeMutableRawPointer, _ bitmap: UnsafeMutablePointer<UInt8>?, count: Int
    ) {
        if let bitmap {
            append(start, bitmap, count: count)
        } else {
            (start + position).initializeMemory(as: UInt8.self, repeating: 0, count: count)
            position += count
        }
    }
}

// MARK: - Column layout

extension BlockEncoder {
    private mutating func encodeColumns(_ start: UnsafeMutableRawPointer) {
        let rows = memory.rowCount
        let internals = (storesKeys ? 1 : 0) + (memory.sequences == nil ? 0 : 1)
        var descriptor = BlockFormat.headerBytes
        position = descriptor + (internals + memory.slotCount) * BlockFormat.descriptorBytes
        func finish(_ encoded: ColumnDescriptor) {
            encoded.write(to: start + descriptor)
            descriptor += BlockFormat.descriptorBytes
        }
        for words in [storesKeys ? memory.keys : nil, memory.sequences] {
            guard let words else { continue }
            pad(start, to: 8)
            var column = SlotColumn(kind: .int64, values: words, heap: nil)
            column.filled = Int32(rows)
            finish(encodeChunk(start, column, slot: nil))
        }
        for slot in 0..<memory.slotCount {
            pad(start, to: 8)
            let column = memory.columns[slot]
            let encoded = encodeChunk(start, column, slot: slot)
            if column.externals != nil {
                let before = patches.count
                recordPatches(column, heapPosition: encoded.offset + encoded.storedLength - column.heapCount)
                if patches.count > before {
                    patchedChunks.append(
                        .init(
                            checksumPosition: descriptor + BlockFormat.Descriptor.checksum, start: encoded.offset,
                            count: encoded.storedLength))
                }
            }
            finish(encoded)
        }
    }

    private mutating func encodeChunk(
        _ start: UnsafeMutableRawPointer, _ column: SlotColumn, slot: Int?
    ) -> ColumnDescriptor {
        let chunk = ColumnEncoder(column, rows: memory.rowCount, slot: slot, advice: advice)
        var descriptor = chunk.encode(at: start + position)
        descriptor.offset = position
        position += descriptor.storedLength
        if descriptor.storedLength > 0 {
            descriptor.checksum = checksum(start + descriptor.offset, count: descriptor.storedLength)
        }
        return descriptor
    }
}

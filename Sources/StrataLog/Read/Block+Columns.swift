/// The parts of a chunk, checked to lie in it.
private struct Chunk {
    var descriptor: ColumnDescriptor
    var nulls: UnsafePointer<UInt8>?
    var externals: UnsafePointer<UInt8>?
    /// Values, or the packed lengths.
    var body: UnsafeRawPointer
    var bodyLength: Int
    /// Variable kinds: what follows the packed lengths.
    var heap: UnsafeRawPointer
    var heapLength: Int
}

extension Block {
    /// Checks that the descriptors agree with the header, and decodes keys and row sequences.
    ///
    /// - Returns: What the columns take beside the stored bytes once all are decoded.
    func prepareColumns() throws(StoreError) -> Int {
        var decoded = 0
        var owned = 0
        for slot in 0..<header.slotCount {
            let descriptor = try descriptor(slot)
            let kind = storedLayout.slots[slot].kind
            guard descriptor.kind == kind else { throw damaged("column of another kind than its slot") }
            // Neither product overflows: rows, widths and lengths are at most 32 bits.
            decoded +=
                kind.fixedWidth > 0 ? rowCount * kind.fixedWidth : (rowCount + 1) * 4 + descriptor.rawLength
            owned += ownedByteCount(descriptor)
        }
        guard decoded == header.decodedByteCount else { throw damaged("columns that do not add up") }
        var column = -header.internalColumnCount
        for target in [keys, sequences] {
            guard let target else { continue }
            let descriptor = try descriptor(column)
            column += 1
            guard descriptor.kind == .int64, descriptor.nullCount == 0 else {
                throw damaged("internal column of a wrong kind")
            }
            let chunk = try checkedChunk(descriptor)
            try checkChecksum(descriptor)
            guard decodeFixed(chunk, into: UnsafeMutableRawPointer(target)) else {
                throw damaged("chunk does not inflate")
            }
        }
        try checkKeys()
        return owned
    }

    /// What a column takes beside the stored bytes once it is decoded.
    private func ownedByteCount(_ descriptor: ColumnDescriptor) -> Int {
        let isCompressed = descriptor.flags.contains(.compressed)
        let width = descriptor.kind.fixedWidth
        if descriptor.flags.contains(.allNull) { return rowCount * max(width, 4) + rowCount / 8 + 16 }
        if width == 0 { return (rowCount + 1) * 4 + (isCompressed ? descriptor.rawLength : 0) }
        return descriptor.encoding == .raw && !isCompressed ? 0 : rowCount * width
    }

    /// The descriptor of a slot, or of an internal column (negative), with its bounds checked.
    private func descriptor(_ slot: Int) throws(StoreError) -> ColumnDescriptor {
        guard let descriptor = storedDescriptor(slot) else {
            throw damaged("column descriptor of an unknown form")
        }
        guard descriptor.offset >= header.headerByteCount, descriptor.offset % 8 == 0,
            descriptor.offset <= header.byteCount,
            descriptor.storedLength <= header.byteCount - descriptor.offset,
            descriptor.rawLength <= BlockFormat.decodedMaximumBytes, descriptor.nullCount <= rowCount
        else { throw damaged("column outside its block") }
        return descriptor
    }

    /// The descriptor as it is stored.
    func storedDescriptor(_ slot: Int) -> ColumnDescriptor? {
        let index = slot + header.internalColumnCount
        return ColumnDescriptor(reading: bytes + BlockFormat.headerBytes + index * BlockFormat.descriptorBytes)
    }

    private func checkChecksum(_ descriptor: ColumnDescriptor) throws(StoreError) {
        guard descriptor.storedLength > 0 else { return }
        let crc = checksum(bytes + descriptor.offset, count: descriptor.storedLength)
        guard crc == descriptor.checksum else {
            throw damaged("column checksum is \(crc), expected \(descriptor.checksum)")
        }
    }

    func verifyChunk(_ slot: Int) throws(StoreError) {
        let descriptor = try descriptor(slot)
        try checkChecksum(descriptor)
        let chunk = try checkedChunk(descriptor)
        if descriptor.encoding == .variable, !descriptor.flags.contains(.allNull) {
            try checkLengths(chunk)
        }
    }

    // MARK: Shape of a chunk

    private func checkedChunk(_ descriptor: ColumnDescriptor) throws(StoreError) -> Chunk {
        var cursor = bytes + descriptor.offset
        var rest = descriptor.storedLength
        let bitmapLength = BlockFormat.bitmapBytes(rowCount)
        let flags = descriptor.flags
        func bitmap(_ flag: BlockFormat.ColumnFlags) throws(StoreError) -> UnsafePointer<UInt8>? {
            guard flags.contains(flag) else { return nil }
            guard rest >= bitmapLength else { throw damaged("column shorter than its bitmaps") }
            defer {
                cursor += bitmapLength
                rest -= bitmapLength
            }
            return cursor.assumingMemoryBound(to: UInt8.self)
        }
        let nulls = try bitmap(.hasNulls)
        let externals = try bitmap(.externals)
        var chunk = Chunk(
            descriptor: descriptor, nulls: nulls, externals: externals, body: cursor, bodyLength: rest, heap: cursor,
            heapLength: 0)
        if flags.contains(.allNull) {
            guard flags == .allNull, rest == 0, descriptor.rawLength == 0 else {
                throw damaged("null column with values")
            }
            return chunk
        }
        let isSound =
            descriptor.kind.fixedWidth > 0
            ? externals == nil && isSoundFixed(descriptor, bodyLength: rest) : isSoundVariable(&chunk)
        guard isSound else { throw damaged("column of an impossible shape") }
        return chunk
    }

    private func isSoundFixed(_ descriptor: ColumnDescriptor, bodyLength: Int) -> Bool {
        let width = descriptor.kind.fixedWidth
        let isReal = descriptor.kind == .float || descriptor.kind == .double || descriptor.kind == .date
        let isInteger = !isReal && descriptor.kind != .uuid
        let isCompressed = descriptor.flags.contains(.compressed)
        switch descriptor.encoding {
        case .raw:
            guard descriptor.rawLength == rowCount * width else { return false }
            return isCompressed
                ? descriptor.rawLength <= LZ4.expansionMaximum * bodyLength : bodyLength == descriptor.rawLength
        case .packed, .integral:
            return !isCompressed && (descriptor.encoding == .packed ? isInteger : isReal)
                && descriptor.bits <= BitPacking.bitsMaximum
                && bodyLength == BitPacking.byteCount(rowCount, bits: descriptor.bits)
        case .consecutive:
            return isInteger && !isCompressed && bodyLength == 0
        case .constant:
            return isReal && !isCompressed && bodyLength == 0
        case .variable:
            return false
        }
    }

    private func isSoundVariable(_ chunk: inout Chunk) -> Bool {
        let descriptor = chunk.descriptor
        guard descriptor.encoding == .variable, descriptor.bits <= 32, descriptor.base <= UInt64(UInt32.max) else {
            return false
        }
        let packed = BitPacking.byteCount(rowCount, bits: descriptor.bits)
        guard packed <= chunk.bodyLength else { return false }
        chunk.heap = chunk.body + packed
        chunk.heapLength = chunk.bodyLength - packed
        chunk.bodyLength = packed
        if descriptor.flags.contains(.compressed) {
            return chunk.externals == nil && descriptor.rawLength <= LZ4.expansionMaximum * chunk.heapLength
        }
        return chunk.heapLength == descriptor.rawLength
    }

    /// The lengths add up to the heap, and external values have theirs.
    private func checkLengths(_ chunk: Chunk) throws(StoreError) {
        var total: UInt64 = 0
        let base = chunk.descriptor.base
        var externalsAreSound = true
        if let externals = chunk.externals {
            BitPacking.forEach(chunk.body, count: rowCount, bits: chunk.descriptor.bits) { row, value in
                total &+= base &+ value
                guard externals[row >> 3] >> UInt8(row & 7) & 1 != 0 else { return }
                let isNull = chunk.nulls.map { $0[row >> 3] >> UInt8(row & 7) & 1 != 0 } ?? false
                if isNull || base &+ value != UInt64(ExternalValue.encodedBytes) { externalsAreSound = false }
            }
        } else {
            BitPacking.forEach(chunk.body, count: rowCount, bits: chunk.descriptor.bits) { total &+= base &+ $1 }
        }
        guard total == UInt64(chunk.descriptor.rawLength), externalsAreSound else {
            throw damaged("lengths that do not add up")
        }
    }

    // MARK: Decoding

    /// Decodes a stored slot's chunk. Called under the block's lock.
    func decodedColumn(_ slot: Int, isVerified: Bool) throws(StoreError) -> DecodedColumn {
        let descriptor = try descriptor(slot)
        if !isVerified { try checkChecksum(descriptor) }
        let chunk = try checkedChunk(descriptor)
        if descriptor.flags.contains(.allNull) { return nullColumn(of: descriptor.kind) }
        if descriptor.encoding == .variable { return try decodedVariable(chunk) }
        let isStored = descriptor.encoding == .raw && !descriptor.flags.contains(.compressed)
        guard !isStored else {
            return DecodedColumn(view: view(chunk, values: chunk.body, heap: bytes), owned: nil)
        }
        let values = allocate(Swift.max(rowCount * descriptor.kind.fixedWidth, 1))
        guard decodeFixed(chunk, into: values) else {
            free(values)
            throw damaged("chunk does not inflate")
        }
        return DecodedColumn(view: view(chunk, values: values, heap: bytes), owned: values)
    }

    private func view(_ chunk: Chunk, values: UnsafeRawPointer, heap: UnsafeRawPointer) -> ColumnView {
        ColumnView(
            kind: chunk.descriptor.kind, rows: rowCount, values: values, heap: heap, nulls: chunk.nulls,
            externals: chunk.externals)
    }

    /// A shown slot's column without any value.
    func nullColumn(_ slot: Int) -> DecodedColumn { nullColumn(of: layout.slots[slot].kind) }

    /// A column without any value.
    func nullColumn(of kind: ValueKind) -> DecodedColumn {
        let valueBytes = BlockFormat.aligned(
            kind.fixedWidth > 0 ? rowCount * kind.fixedWidth : (rowCount + 1) * 4, to: 8)
        let bitmapBytes = BlockFormat.bitmapBytes(rowCount)
        let memory = allocate(valueBytes + bitmapBytes)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: valueBytes)
        let nulls = (memory + valueBytes).initializeMemory(as: UInt8.self, repeating: 0xFF, count: bitmapBytes)
        return DecodedColumn(
            view: ColumnView(
                kind: kind, rows: rowCount, values: memory, heap: bytes, nulls: UnsafePointer(nulls), externals: nil),
            owned: memory)
    }

    private func decodedVariable(_ chunk: Chunk) throws(StoreError) -> DecodedColumn {
        try checkLengths(chunk)
        let descriptor = chunk.descriptor
        let isCompressed = descriptor.flags.contains(.compressed)
        let offsetBytes = (rowCount + 1) * 4
        let memory = allocate(offsetBytes + (isCompressed ? descriptor.rawLength : 0))
        let offsets = memory.bindMemory(to: UInt32.self, capacity: rowCount + 1)
        // The sum was checked, so that no offset passes the heap's end.
        var end = 0 as UInt32
        let base = UInt32(truncatingIfNeeded: descriptor.base)
        offsets[0] = 0
        BitPacking.forEach(chunk.body, count: rowCount, bits: descriptor.bits) { row, value in
            end &+= base &+ UInt32(truncatingIfNeeded: value)
            offsets[row &+ 1] = end
        }
        guard isCompressed else {
            return DecodedColumn(view: view(chunk, values: memory, heap: chunk.heap), owned: memory)
        }
        let heap = memory + offsetBytes
        guard
            LZ4.decompress(
                chunk.heap, count: chunk.heapLength, into: heap, targetCount: descriptor.rawLength)
        else {
            free(memory)
            throw damaged("chunk does not inflate")
        }
        return DecodedColumn(view: view(chunk, values: memory, heap: heap), owned: memory)
    }

    /// Decodes the values of a fixed-width chunk; false when LZ4 does not.
    private func decodeFixed(_ chunk: Chunk, into target: UnsafeMutableRawPointer) -> Bool {
        let descriptor = chunk.descriptor
        switch descriptor.encoding {
        case .raw:
            guard descriptor.flags.contains(.compressed) else {
                target.copyMemory(from: chunk.body, byteCount: chunk.bodyLength)
                return true
            }
            return LZ4.decompress(
                chunk.body, count: chunk.bodyLength, into: target, targetCount: descriptor.rawLength)
        case .packed, .consecutive:
            switch descriptor.kind.fixedWidth {
            case 1: unpack(chunk, target, as: UInt8.self) { UInt8(truncatingIfNeeded: $0) }
            case 2: unpack(chunk, target, as: UInt16.self) { UInt16(truncatingIfNeeded: $0) }
            case 4: unpack(chunk, target, as: UInt32.self) { UInt32(truncatingIfNeeded: $0) }
            default: unpack(chunk, target, as: UInt64.self) { $0 }
            }
        case .integral, .constant:
            let isConstant = descriptor.encoding == .constant
            if descriptor.kind == .float {
                unpack(chunk, target, as: UInt32.self) {
                    isConstant ? UInt32(truncatingIfNeeded: $0) : Float(Int64(bitPattern: $0)).bitPattern
                }
            } else {
                unpack(chunk, target, as: UInt64.self) {
                    isConstant ? $0 : Double(Int64(bitPattern: $0)).bitPattern
                }
            }
        case .variable:
            return false
        }
        return true
    }

    /// Values from the frame of reference; null rows become zero.
    @inline(__always)
    private func unpack<T: FixedWidthInteger>(
        _ chunk: Chunk, _ target: UnsafeMutableRawPointer, as: T.Type, _ value: (UInt64) -> T
    ) {
        let values = target.bindMemory(to: T.self, capacity: rowCount)
        let base = chunk.descriptor.base
        switch chunk.descriptor.encoding {
        case .consecutive:
            for row in 0..<rowCount { values[row] = value(base &+ UInt64(row)) }
        case .constant:
            values.initialize(repeating: value(base), count: rowCount)
        default:
            BitPacking.forEach(chunk.body, count: rowCount, bits: chunk.descriptor.bits) { row, delta in
                values[row] = value(base &+ delta)
            }
        }
        guard let nulls = chunk.nulls else { return }
        for row in 0..<rowCount where nulls[row >> 3] >> UInt8(row & 7) & 1 != 0 { values[row] = 0 }
    }
}

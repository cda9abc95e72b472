/// The fixed part of a block, checked against the place where it lies.
package struct BlockHeader: Sendable {
    /// Bytes that must be there before anything can be said about a block.
    package static let minimumBytes = BlockFormat.headerBytes

    package let entity: UInt16
    package let schemaVersion: UInt16
    package let rowCount: Int
    package let slotCount: Int
    /// Of the transaction that wrote the block.
    package let sequence: UInt64
    /// The key of row 0; the others follow it one by one unless ``hasStoredKeys``.
    package let firstKey: UInt64
    /// Bytes of the block in its segment: a multiple of 64.
    package let byteCount: Int
    /// Bytes of the decoded columns.
    package let decodedByteCount: Int
    let flags: BlockFormat.BlockFlags
    let payloadLength: Int
    let payloadChecksum: UInt32

    package var hasStoredKeys: Bool { flags.contains(.keys) }
    /// Rows carry their own sequence numbers (a compacted block).
    package var hasStoredSequences: Bool { flags.contains(.sequences) }
    /// Columns before those of the slots.
    var internalColumnCount: Int { (hasStoredKeys ? 1 : 0) + (hasStoredSequences ? 1 : 0) }

    /// Of rows in memory, which were never written.
    init(inMemory entity: UInt16, rowCount: Int, slotCount: Int) {
        self.entity = entity
        self.rowCount = rowCount
        self.slotCount = slotCount
        schemaVersion = 0
        sequence = 0
        firstKey = 0
        byteCount = 0
        decodedByteCount = 0
        flags = .plain
        payloadLength = 0
        payloadChecksum = 0
    }

    /// Header and descriptors.
    var headerByteCount: Int {
        Self.headerByteCount(flags: flags, slotCount: slotCount)
    }

    private static func headerByteCount(flags: BlockFormat.BlockFlags, slotCount: Int) -> Int {
        if flags.contains(.plain) { return BlockFormat.headerBytes }
        let columns = slotCount + (flags.contains(.keys) ? 1 : 0) + (flags.contains(.sequences) ? 1 : 0)
        return BlockFormat.headerBytes + columns * BlockFormat.descriptorBytes
    }

    /// How long the block at the start of `bytes` says it is, without checking it: to know how much to read. Nil when
    /// it is no block or the length cannot be right.
    package static func unverifiedByteCount(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress, bytes.count >= minimumBytes,
            start.loadUnaligned(fromByteOffset: BlockFormat.Header.magic, as: UInt32.self) == BlockFormat.magic
        else { return nil }
        let total = Int(start.loadUnaligned(fromByteOffset: BlockFormat.Header.totalLength, as: UInt32.self))
        guard total >= minimumBytes, total % Location.alignmentBytes == 0, total <= byteCountMaximum else { return nil }
        return total
    }

    /// No block is longer: the decoded limit, the most descriptors, and what alignment and bitmaps may add.
    package static let byteCountMaximum =
        2 * BlockFormat.decodedMaximumBytes + (Schema.maximumSlots + 4) * BlockFormat.descriptorBytes

    /// Reads and checks the header (and descriptors) of the block at the start of `bytes`, which may go on after the
    /// block.
    ///
    /// - Throws: ``StoreError/Code/corruption`` when bytes are missing, damaged, or written for another place;
    ///   ``StoreError/Code/unsupportedFormat`` for a sound header with features this version does not know.
    package init(
        parsing bytes: UnsafeRawBufferPointer, location: Location, storeUUID: StoreUUID
    ) throws(StoreError) {
        typealias Field = BlockFormat.Header
        guard let total = Self.unverifiedByteCount(bytes), total <= bytes.count, let start = bytes.baseAddress else {
            throw StoreError(damagedBlock: "no block here", at: location)
        }
        func field<T: FixedWidthInteger>(_ offset: Int, _: T.Type) -> T {
            start.loadUnaligned(fromByteOffset: offset, as: T.self)
        }
        flags = BlockFormat.BlockFlags(rawValue: field(Field.flags, UInt16.self))
        slotCount = Int(field(Field.slotCount, UInt16.self))
        sequence = field(Field.sequence, UInt64.self)
        let headerLength = Self.headerByteCount(flags: flags, slotCount: slotCount)
        guard headerLength <= total else {
            throw StoreError(damagedBlock: "block shorter than its descriptors", at: location)
        }
        let expected = field(Field.checksum, UInt32.self)
        let address = LogAddress(
            storeUUID: storeUUID, segment: location.segment, offset: location.byteOffset, sequence: sequence)
        let found = Self.checksum(start, headerByteCount: headerLength, address: address)
        guard expected == found else {
            throw StoreError(
                damagedBlock: "block header checksum is \(found), expected \(expected)", at: location)
        }
        entity = field(Field.entity, UInt16.self)
        schemaVersion = field(Field.schemaVersion, UInt16.self)
        rowCount = Int(field(Field.rowCount, UInt16.self))
        firstKey = field(Field.firstKey, UInt64.self)
        byteCount = total
        decodedByteCount = Int(field(Field.decodedLength, UInt32.self))
        payloadLength = Int(field(Field.payloadLength, UInt32.self))
        payloadChecksum = field(Field.payloadChecksum, UInt32.self)
        guard flags.isSubset(of: .known), field(Field.cipherNonce, UInt64.self) == 0,
            field(Field.reserved16, UInt16.self) == 0, field(Field.reserved32, UInt32.self) == 0
        else {
            throw StoreError(
                .unsupportedFormat, "block uses a feature of a later version", segment: location.segment,
                offset: location.byteOffset)
        }
        guard slotCount <= Schema.maximumSlots, decodedByteCount <= BlockFormat.decodedMaximumBytes,
            payloadLength <= total - headerLength, firstKey <= ObjectRef.maximumKey,
            flags.contains(.keys) || rowCount == 0
                || (firstKey > 0 && UInt64(rowCount - 1) <= ObjectRef.maximumKey - firstKey)
        else {
            throw StoreError(damagedBlock: "block header fields contradict each other", at: location)
        }
    }

    /// The header's checksum: over everything before it, the descriptors after it, and the place.
    static func checksum(_ start: UnsafeRawPointer, headerByteCount: Int, address: LogAddress) -> UInt32 {
        var crc = StrataLog.checksum(start, count: BlockFormat.Header.checksum)
        crc = StrataLog.checksum(
            start + BlockFormat.headerBytes, count: headerByteCount - BlockFormat.headerBytes, continuing: crc)
        return address.checksum(continuing: crc)
    }

    /// The checksum that is stored in the header of the block at the start of `bytes`.
    static func storedChecksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        bytes.loadUnaligned(fromByteOffset: BlockFormat.Header.checksum, as: UInt32.self)
    }
}

extension StoreError {
    /// A block that is not what was written.
    init(damagedBlock message: String, at location: Location) {
        self.init(.corruption, message, segment: location.segment, offset: location.byteOffset)
    }
}

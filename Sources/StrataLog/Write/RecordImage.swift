/// The bytes of one record in one piece of memory, ready to be written.
final class RecordImage {
    let bytes: UnsafeMutableRawBufferPointer
    /// The footer's checksum, which the next record's header repeats. Goes on with every piece.
    @exclusivity(unchecked) private(set) var checksum: UInt32
    @exclusivity(unchecked) private var filled: Int

    /// Memory for a record, with its header and body in place. The pieces have to follow, and ``finish()``.
    init(_ header: RecordHeader, body: [UInt8], at address: LogAddress) {
        // Zeros, but for what is written: no part of it is aligned, as it is only copied.
        let start = ScratchMemory.records.allocate(byteCount: header.byteCount)
        bytes = UnsafeMutableRawBufferPointer(start: start, count: header.byteCount)
        filled = RecordHeader.byteCount
        start.initializeMemory(as: UInt8.self, repeating: 0, count: filled)
        checksum = RecordFooter.checksum(ofPiece: header.write(to: start, at: address), continuing: 0)
        append(body)
        pad()
    }

    deinit {
        if let start = bytes.baseAddress { ScratchMemory.records.free(start, byteCount: bytes.count) }
    }

    /// Bytes written so far: where the next piece will lie, counted from the record's start.
    var offset: Int { filled }

    /// A block or a large value, whose own checksum enters the footer.
    func append(piece: [UInt8], checksum: UInt32) {
        append(piece)
        self.checksum = RecordFooter.checksum(ofPiece: checksum, continuing: self.checksum)
    }

    /// Large values, each stamped with its place.
    func append(_ largeValues: [(bytes: [UInt8], rawByteCount: Int)], _ placement: RecordPlacement) {
        for value in largeValues {
            var bytes = value.bytes
            let checksum = LargeValue.stamp(&bytes, at: placement.address(at: offset).withoutSequence)
            append(piece: bytes, checksum: checksum)
        }
    }

    private func append(_ source: [UInt8]) {
        UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]).copyBytes(from: source)
        filled += source.count
    }

    private func pad() {
        let end = align(filled)
        UnsafeMutableRawBufferPointer(rebasing: bytes[filled..<end]).initializeMemory(as: UInt8.self, repeating: 0)
        filled = end
    }

    /// Adds the footer.
    func finish() {
        guard let start = bytes.baseAddress else { return }
        let footer = bytes.count - RecordFooter.byteCount
        UnsafeMutableRawBufferPointer(rebasing: bytes[filled..<footer]).initializeMemory(as: UInt8.self, repeating: 0)
        RecordFooter.write(to: start + footer, recordByteCount: bytes.count, checksum: checksum)
    }

    /// Length of a record with a body and pieces of these lengths.
    static func byteCount(body: Int, pieces: Int) -> Int {
        align(align(RecordHeader.byteCount + body) + pieces + RecordFooter.byteCount)
    }

    /// A record without pieces: schema, metadata or preamble.
    static func plain(_ kind: RecordHeader.Kind, body: [UInt8], placement: RecordPlacement) -> RecordImage {
        let header = placement.header(
            kind, byteCount: byteCount(body: body.count, pieces: 0), bodyByteCount: body.count,
            bodyChecksum: body.withUnsafeBytes { StrataLog.checksum($0) })
        let image = RecordImage(header, body: body, at: placement.address(at: 0))
        image.finish()
        return image
    }
}

/// The next multiple of 64.
private func align(_ byteCount: Int) -> Int {
    BlockFormat.aligned(byteCount, to: Location.alignmentBytes)
}

/// Where and as what a record is written.
struct RecordPlacement {
    var storeUUID: StoreUUID
    var position: LogPosition
    var sequence: UInt64
    var timestampNanoseconds: Int64
    var previousChecksum: UInt32
    var durable: LogPosition

    /// The place of a piece at an offset in the record.
    func address(at offset: Int) -> LogAddress {
        LogAddress(
            storeUUID: storeUUID, segment: position.segment, offset: position.offset + offset, sequence: sequence)
    }

    func header(
        _ kind: RecordHeader.Kind, byteCount: Int, bodyByteCount: Int, bodyChecksum: UInt32
    ) -> RecordHeader {
        RecordHeader(
            kind: kind, sequence: sequence, timestampNanoseconds: timestampNanoseconds, byteCount: byteCount,
            bodyByteCount: bodyByteCount, previousChecksum: previousChecksum, durable: durable,
            bodyChecksum: bodyChecksum)
    }

    /// Where a record's large values lie, one behind the other from an offset in the record.
    func largeValueLocations(_ values: [(bytes: [UInt8], rawByteCount: Int)], from offset: Int) -> [ExternalValue] {
        if values.isEmpty { return [] }
        var offset = offset
        return values.map { value in
            defer { offset += value.bytes.count }
            return ExternalValue(
                segment: position.segment, byteOffset: UInt32(position.offset + offset),
                byteCount: UInt64(value.rawByteCount), storedByteCount: UInt64(value.bytes.count), checksum: 0)
        }
    }
}

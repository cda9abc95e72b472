/// The bytes of one record, ready to be written: pieces that stay where they are until the write is done.
struct RecordImage {
    private enum Piece {
        case block(EncodedBlock)
        case bytes([UInt8])
    }

    private var head: [UInt8] = []
    private var pieces: [Piece] = []
    private var tail: [UInt8] = []
    /// The footer's checksum, which the next record's header repeats.
    private(set) var checksum: UInt32 = 0

    mutating func append(_ block: EncodedBlock) {
        pieces.append(.block(block))
    }

    mutating func append(_ bytes: [UInt8]) {
        pieces.append(.bytes(bytes))
    }

    /// Adds header, body and footer around the pieces.
    mutating func finish(
        header: [UInt8], body: [UInt8], bodyPadding blocksOffset: Int, pieceChecksums: [UInt32], byteCount: Int, piecesEnd: Int
    ) {
        head.reserveCapacity(blocksOffset)
        head += header
        head += body
        head += repeatElement(0, count: blocksOffset - head.count)
        let headerChecksum = header.withUnsafeBytes {
            UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 60, as: UInt32.self))
        }
        checksum = RecordFooter.checksum(ofPieces: [headerChecksum] + pieceChecksums)
        tail = [UInt8](repeating: 0, count: byteCount - piecesEnd - RecordFooter.byteCount)
        tail += RecordFooter.encoded(recordByteCount: byteCount, checksum: checksum)
    }

    /// A record without blocks: schema, metadata or preamble.
    static func plain(
        kind: RecordHeader.Kind, body: [UInt8], placement: PreparedTransaction.Placement
    ) -> (image: RecordImage, byteCount: Int) {
        let blocksOffset = align(RecordHeader.byteCount + body.count)
        let byteCount = align(blocksOffset + RecordFooter.byteCount)
        let header = RecordHeader(
            kind: kind, sequence: placement.sequence, timestampNanoseconds: placement.timestampNanoseconds,
            byteCount: byteCount, bodyByteCount: body.count, previousChecksum: placement.previousChecksum,
            durable: placement.durable, bodyChecksum: body.withUnsafeBytes { StrataLog.checksum($0) })
        let place = Place(
            storeUUID: placement.storeUUID, segment: placement.position.segment, offset: placement.position.offset,
            sequence: placement.sequence)
        var image = RecordImage()
        image.finish(
            header: header.encoded(at: place), body: body, bodyPadding: blocksOffset, pieceChecksums: [],
            byteCount: byteCount, piecesEnd: blocksOffset)
        return (image, byteCount)
    }

    private static func align(_ byteCount: Int) -> Int {
        (byteCount + Location.alignmentBytes - 1) & ~(Location.alignmentBytes - 1)
    }

    /// Calls `body` with the record's bytes as a list of buffers. They are valid only during the call.
    static func withBuffers<Result>(
        of images: [RecordImage], _ body: ([UnsafeRawBufferPointer]) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var buffers: [UnsafeRawBufferPointer] = []
        // Arrays give their bytes only for the length of a call: those of a record are small (or large values, which are rare), so they
        // are copied into memory that stays put. Blocks own theirs.
        var owned: [UnsafeMutableRawBufferPointer] = []
        defer { owned.forEach { $0.deallocate() } }
        func copy(_ bytes: [UInt8]) {
            guard !bytes.isEmpty else { return }
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
            memory.copyBytes(from: bytes)
            owned.append(memory)
            buffers.append(UnsafeRawBufferPointer(memory))
        }
        for image in images {
            copy(image.head)
            for piece in image.pieces {
                switch piece {
                case .block(let block): buffers.append(block.bytes)
                case .bytes(let bytes): copy(bytes)
                }
            }
            copy(image.tail)
        }
        return try withExtendedLifetime(images) { () throws(StoreError) -> Result in try body(buffers) }
    }
}

internal import SystemPackage

/// A record in a segment: its header has been read, the rest is read when it is asked for.
struct LogRecord {
    let header: RecordHeader
    /// Of the record in its segment.
    let offset: Int
    let reader: RecordReader
    let source: BlockSource

    var position: LogPosition { LogPosition(segment: reader.segment, offset: offset) }

    /// The body's bytes, which match their checksum; valid until something else is read.
    func bodyBytes() throws(StoreError) -> UnsafeRawBufferPointer {
        guard let bytes = try reader.bytes(at: offset + RecordHeader.byteCount, count: header.bodyByteCount),
            checksum(bytes) == header.bodyChecksum
        else { throw corrupt("checksum mismatch in a record's body") }
        return bytes
    }

    /// The checked and parsed body of a transaction: author, pieces, change table.
    func body() throws(StoreError) -> TransactionBody {
        let bytes = try bodyBytes()
        do {
            return try TransactionBody(bytes)
        } catch {
            throw corrupt("a record's body contradicts itself: \(error.reason)")
        }
    }

    /// The checked and parsed body of a compaction.
    func compactionBody() throws(StoreError) -> CompactionBody {
        let bytes = try bodyBytes()
        do {
            return try CompactionBody(bytes)
        } catch {
            throw corrupt("a record's body contradicts itself: \(error.reason)")
        }
    }

    /// Where the record's blocks lie, in the order of the body's table.
    func blocks(of pieces: RecordPieces) throws(StoreError) -> [Location] {
        guard let ranges = pieces.ranges(in: header), offset + header.byteCount <= Location.segmentMaximumBytes else {
            throw corrupt("a record's pieces are longer than it")
        }
        return ranges.blocks.map {
            Location(segment: reader.segment, byteOffset: offset + $0.lowerBound, row: 0)
        }
    }

    /// Reads a block of the record past the cache: it is looked at once.
    func block(at location: Location, byteCount: Int) throws(StoreError) -> Block {
        guard let bytes = try reader.bytes(at: location.byteOffset, count: byteCount) else {
            throw corrupt("the segment ends inside a record")
        }
        let block = try Block.load(bytes, location: location, storeUUID: source.storeUUID) {
            (version, entity) throws(StoreError) in
            try source.shape(version: version, entity: entity)
        }
        guard BlockHeader.unverifiedByteCount(bytes) == byteCount, block.blockSequence == header.sequence else {
            throw corrupt("a block is not the one its record names")
        }
        return block
    }

    func corrupt(_ what: String) -> StoreError {
        StoreError(
            .corruption, what, path: source.files.segment(reader.segment).string, segment: reader.segment,
            offset: offset)
    }
}

internal import SystemPackage

/// One record, checked to its last byte.
struct RecordContents {
    struct LocatedBlock {
        var role: TransactionBody.BlockRole
        var block: Block
    }

    enum Payload {
        case transaction(TransactionBody, blocks: [LocatedBlock])
        case preamble(StoreState)
        case schema(NumberedSchema)
        case metadata([UInt8])
        case compaction(CompactionBody, blocks: [LocatedBlock])
        case retirement(Retirement)
    }

    var payload: Payload
    /// What the next record's header has to repeat.
    var checksum: UInt32

    /// Checks and parses a record whose header was read from these bytes.
    ///
    /// - Throws: `.corruption`, saying which piece is damaged.
    init(
        _ bytes: UnsafeRawBufferPointer, header: RecordHeader, segment: UInt32, offset: Int, source: BlockSource
    ) throws(StoreError) {
        func corrupt(_ what: String, at position: Int = 0) -> StoreError {
            StoreError(
                .corruption, what, path: source.files.segment(segment).string, segment: segment,
                offset: offset + position)
        }
        let bodyEnd = RecordHeader.byteCount + header.bodyByteCount
        guard bytes.count == header.byteCount, bodyEnd + RecordFooter.byteCount <= bytes.count else {
            throw corrupt("record length \(header.byteCount)")
        }
        let body = UnsafeRawBufferPointer(rebasing: bytes[RecordHeader.byteCount..<bodyEnd])
        guard StrataLog.checksum(body) == header.bodyChecksum else {
            throw corrupt("checksum mismatch in a record's body", at: RecordHeader.byteCount)
        }
        var checksums = [UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 60, as: UInt32.self))]
        do {
            var reader = ByteReader(body)
            switch header.kind {
            case .preamble:
                var storeState = try StoreState(from: &reader)
                storeState.compaction = try CompactionState(fromPreamble: &reader)
                payload = .preamble(storeState)
            case .schema, .migration: payload = .schema(try NumberedSchema(from: &reader))
            case .metadata: payload = .metadata([UInt8](body))
            case .transaction:
                let transaction = try TransactionBody(body)
                let blocks = try Self.blocks(
                    RecordPieces(transaction), bytes, header: header, segment: segment, offset: offset, source: source,
                    checksums: &checksums)
                payload = .transaction(transaction, blocks: blocks)
            case .compaction:
                let compaction = try CompactionBody(body)
                let blocks = try Self.blocks(
                    RecordPieces(compaction), bytes, header: header, segment: segment, offset: offset, source: source,
                    checksums: &checksums)
                let rows = blocks.filter { $0.role == .updated }.map(\.block)
                guard zip(rows, compaction.rows).allSatisfy({ $0.entity == $1.entity && $0.rowCount == $1.rowCount })
                else { throw corrupt("a compaction's rows are not those it names") }
                payload = .compaction(compaction, blocks: blocks)
            case .retirement: payload = .retirement(try Retirement(from: &reader))
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw corrupt("a record's body contradicts itself: \((error as? MalformedBytes)?.reason ?? "")")
        }
        checksum = RecordFooter.checksum(ofPieces: checksums)
        let footer = UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - RecordFooter.byteCount)...])
        guard RecordFooter.matches(footer, recordByteCount: header.byteCount, checksum: checksum) else {
            throw corrupt("a record's footer does not match", at: bytes.count - RecordFooter.byteCount)
        }
    }

    private static func blocks(
        _ pieces: RecordPieces, _ bytes: UnsafeRawBufferPointer, header: RecordHeader, segment: UInt32, offset: Int,
        source: BlockSource, checksums: inout [UInt32]
    ) throws(StoreError) -> [LocatedBlock] {
        guard let ranges = pieces.ranges(in: header) else {
            throw StoreError(.corruption, "a record's pieces are longer than it", segment: segment, offset: offset)
        }
        var blocks: [LocatedBlock] = []
        blocks.reserveCapacity(pieces.blocks.count)
        for (piece, range) in zip(pieces.blocks, ranges.blocks) {
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[range])
            let block = try Self.block(bytes, segment: segment, offset: offset + range.lowerBound, source)
            // Preserved values that compaction archives have the number of their own transaction.
            let isExpected =
                header.kind == .compaction && piece.role == .tombstone
                ? block.blockSequence <= header.sequence : block.blockSequence == header.sequence
            guard BlockHeader.unverifiedByteCount(bytes) == piece.byteCount, isExpected else {
                throw StoreError(
                    .corruption, "a block is not the one its record names", segment: segment,
                    offset: offset + range.lowerBound)
            }
            checksums.append(BlockHeader.storedChecksum(bytes))
            blocks.append(LocatedBlock(role: piece.role, block: block))
        }
        for range in ranges.largeValues {
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[range])
            checksums.append(
                try largeValueChecksum(bytes, segment: segment, offset: offset + range.lowerBound, source))
        }
        return blocks
    }

    /// A block of which every column was checked.
    private static func block(
        _ bytes: UnsafeRawBufferPointer, segment: UInt32, offset: Int, _ source: BlockSource
    ) throws(StoreError) -> Block {
        let block = try Block.load(
            bytes, location: Location(segment: segment, byteOffset: offset, row: 0), storeUUID: source.storeUUID
        ) { source.schema(version: $0) }
        try block.verify()
        return block
    }

    private static func largeValueChecksum(
        _ bytes: UnsafeRawBufferPointer, segment: UInt32, offset: Int, _ source: BlockSource
    ) throws(StoreError) -> UInt32 {
        let address = LogAddress(storeUUID: source.storeUUID, segment: segment, offset: offset, sequence: 0)
        guard let checksum = LargeValue.verify(bytes, at: address) else {
            throw StoreError(.corruption, "a large value is damaged", segment: segment, offset: offset)
        }
        return checksum
    }
}

extension RecordContents {
    /// The blocks and large values of a record that cannot be read; empty when its body, which names them, is what
    /// cannot.
    static func damagedPieces(
        _ bytes: UnsafeRawBufferPointer, header: RecordHeader, segment: UInt32, offset: Int, source: BlockSource
    ) -> [StoreError] {
        let bodyEnd = RecordHeader.byteCount + header.bodyByteCount
        guard bytes.count == header.byteCount, bodyEnd + RecordFooter.byteCount <= bytes.count else { return [] }
        let body = UnsafeRawBufferPointer(rebasing: bytes[RecordHeader.byteCount..<bodyEnd])
        guard StrataLog.checksum(body) == header.bodyChecksum else { return [] }
        let pieces: RecordPieces
        do {
            switch header.kind {
            case .transaction: pieces = RecordPieces(try TransactionBody(body))
            case .compaction: pieces = RecordPieces(try CompactionBody(body))
            case .preamble, .schema, .migration, .metadata, .retirement: return []
            }
        } catch {
            return []
        }
        guard let ranges = pieces.ranges(in: header) else { return [] }
        var damaged: [StoreError] = []
        func check(_ range: Range<Int>, _ read: (UnsafeRawBufferPointer, Int) throws(StoreError) -> Void) {
            do throws(StoreError) {
                try read(UnsafeRawBufferPointer(rebasing: bytes[range]), offset + range.lowerBound)
            } catch {
                damaged.append(error)
            }
        }
        for range in ranges.blocks {
            check(range) { (bytes, offset) throws(StoreError) in
                _ = try block(bytes, segment: segment, offset: offset, source)
            }
        }
        for range in ranges.largeValues {
            check(range) { (bytes, offset) throws(StoreError) in
                _ = try largeValueChecksum(bytes, segment: segment, offset: offset, source)
            }
        }
        return damaged
    }
}

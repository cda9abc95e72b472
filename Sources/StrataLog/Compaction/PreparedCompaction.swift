/// A compaction record whose blocks are encoded: what is missing is which rows are still live, and its place.
///
/// Filled by the compactor; from its commit on used under the writer's lock only. Placing can be repeated: after a
/// failed flush the record is written again elsewhere.
final class PreparedCompaction {
    /// A block of live rows.
    struct RowBlock {
        var encoded: EncodedBlock
        /// Of the rows' values, before packing.
        var rawByteCount: Int
        /// What was encoded, if its rows were in the cache and so shall stay there.
        var rows: PendingBlock?
        var layout: EntityLayout
        var entity: UInt16
        var keys: [UInt64]
        /// Where the rows were copied from, parallel to the keys.
        var sources: [Location]
        var excluded: [UInt64] = []
        var location = Location.absent
        /// Where the block was before a failed flush moved it.
        var replacedLocation = Location.absent
    }

    /// Preserved values of deleted objects.
    struct TombstoneBlock {
        var encoded: EncodedBlock
        /// Of the transaction that deleted them.
        var sequence: UInt64
    }

    var rows: [RowBlock] = []
    var tombstones: [TombstoneBlock] = []
    /// Header and stored bytes, and the value's length.
    var largeValues: [(bytes: [UInt8], rawByteCount: Int)] = []
    var absent: [CompactionBody.AbsentKeys] = []
    /// Their tombstone blocks count from the first block of ``tombstones``.
    var transactions: [CompactionBody.ArchivedTransaction] = []
    /// Sum of the rows' sequence numbers, for their average.
    var sequenceSum: Double = 0
    private var body: [UInt8] = []
    private var bodyChecksum: UInt32 = 0
    private(set) var position: LogPosition?
    /// Where the record was before a failed flush moved it.
    private(set) var replacedPosition: LogPosition?

    var isEmpty: Bool { rows.isEmpty && absent.isEmpty && transactions.isEmpty && tombstones.isEmpty }

    /// Bytes gathered so far, roughly: when to write the record.
    var gatheredByteCount: Int {
        pieceByteCount + transactionByteCount
    }

    /// Roughly what the archived change tables take.
    var transactionByteCount = 0
    /// Changes in them: at most ``TransactionBody/maximumCount``, or no reader takes the record.
    var transactionChangeCount = 0

    private var pieceByteCount: Int {
        rows.reduce(0) { $0 + $1.encoded.byteCount } + tombstones.reduce(0) { $0 + $1.encoded.byteCount }
            + largeValues.reduce(0) { $0 + $1.bytes.count }
    }

    /// No record of this is longer, whatever is excluded.
    ///
    /// - Complexity: O(rows), since the body is encoded.
    func byteCountMaximum() -> Int {
        let body = makeBody().encoded().count
        let excluded = rows.reduce(0) { $0 + 16 + $1.keys.count * 2 }
        return RecordImage.byteCount(body: body + excluded, pieces: pieceByteCount) + Location.alignmentBytes
    }

    private func makeBody() -> CompactionBody {
        var body = CompactionBody()
        body.blocks =
            rows.map { .init(role: .updated, byteCount: $0.encoded.byteCount) }
            + tombstones.map { .init(role: .tombstone, byteCount: $0.encoded.byteCount) }
        body.largeValueByteCounts = largeValues.map(\.bytes.count)
        let rowCount = rows.reduce(0) { $0 + $1.keys.count }
        body.ageSequence = rowCount == 0 ? 0 : UInt64(sequenceSum / Double(rowCount))
        for block in rows {
            guard let low = block.keys.min(), let high = block.keys.max() else { continue }
            body.rows.append(
                .init(entity: block.entity, rowCount: block.keys.count, keys: low...high, excluded: block.excluded))
        }
        body.absent = absent.filter { !$0.keys.isEmpty }
        body.transactions = transactions.map { transaction in
            var transaction = transaction
            for index in transaction.changes.indices {
                transaction.changes[index].tombstoneBlocks = transaction.changes[index].tombstoneBlocks.map {
                    $0 + rows.count
                }
            }
            return transaction
        }
        return body
    }

    /// Fixes what the record says, once the excluded rows are known.
    func finish() {
        body = makeBody().encoded()
        bodyChecksum = body.withUnsafeBytes { checksum($0) }
    }

    var byteCount: Int { RecordImage.byteCount(body: body.count, pieces: pieceByteCount) }

    /// Stamps every piece with its place and returns the record. Can be repeated with another place.
    func place(_ placement: RecordPlacement) -> RecordImage {
        let header = placement.header(
            .compaction, byteCount: byteCount, bodyByteCount: body.count, bodyChecksum: bodyChecksum)
        let image = RecordImage(header, body: body, at: placement.address(at: 0))
        replacedPosition = position
        position = placement.position
        let externals = placement.largeValueLocations(
            largeValues, from: image.offset + pieceByteCount - largeValues.reduce(0) { $0 + $1.bytes.count })
        for index in rows.indices {
            let address = placement.address(at: image.offset)
            rows[index].encoded.patchExternals { externals[Int($0)] }
            rows[index].encoded.stamp(at: address)
            rows[index].replacedLocation = rows[index].location
            rows[index].location = Location(segment: address.segment, byteOffset: address.offset, row: 0)
            append(rows[index].encoded.bytes, to: image)
        }
        for index in tombstones.indices {
            var address = placement.address(at: image.offset)
            address.sequence = tombstones[index].sequence
            tombstones[index].encoded.patchExternals { externals[Int($0)] }
            tombstones[index].encoded.stamp(at: address)
            append(tombstones[index].encoded.bytes, to: image)
        }
        image.append(largeValues, placement)
        image.finish()
        return image
    }

    private func append(_ bytes: [UInt8], to image: RecordImage) {
        image.append(piece: bytes, checksum: bytes.withUnsafeBytes { BlockHeader.storedChecksum($0) })
    }

    /// Where the archived transactions are, once the record has its place.
    var archive: CompactionState.Archive? {
        guard let position, let first = transactions.first, let last = transactions.last else { return nil }
        return .init(first: first.sequence, last: last.sequence, position: position)
    }
}

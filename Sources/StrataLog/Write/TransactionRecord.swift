/// What the log has of a transaction, ready to be placed.
///
/// Placing can be repeated: after a failed flush the same transaction is written again elsewhere. Until it is flushed
/// the writer keeps this and no more of the transaction, so that a save's memory is free for the next one.
final class TransactionRecord {
    /// The transaction's blocks.
    let jobs: [EncodingJob]
    /// Length of the record, a multiple of 64.
    let byteCount: Int
    private let largeValues: [(bytes: [UInt8], rawByteCount: Int)]
    private let body: [UInt8]
    private let bodyChecksum: UInt32

    /// - Parameter pieces: length of the blocks and the large values together.
    init(
        body: [UInt8], jobs: [EncodingJob], largeValues: [(bytes: [UInt8], rawByteCount: Int)], pieces: Int
    ) {
        self.body = body
        self.jobs = jobs
        self.largeValues = largeValues
        bodyChecksum = body.withUnsafeBytes { checksum($0) }
        byteCount = RecordImage.byteCount(body: body.count, pieces: pieces)
    }

    /// Stamps every piece with its place and returns the record. Can be repeated with another place.
    func place(_ placement: RecordPlacement) -> RecordImage {
        let header = placement.header(
            .transaction, byteCount: byteCount, bodyByteCount: body.count, bodyChecksum: bodyChecksum)
        let image = RecordImage(header, body: body, at: placement.address(at: 0))
        // Large values lie behind the blocks.
        let locations = placement.largeValueLocations(
            largeValues, from: image.offset + jobs.reduce(0) { $0 + $1.byteCount })
        for job in jobs {
            let offset = image.offset
            let address = placement.address(at: offset)
            job.stamp(at: address) { locations[Int($0)] }
            image.append(piece: job.bytes, checksum: job.headerChecksum)
        }
        image.append(largeValues, placement)
        image.finish()
        return image
    }
}

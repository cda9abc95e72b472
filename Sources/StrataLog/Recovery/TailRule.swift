/// Tells a torn tail from corruption.
///
/// Each record carries the point up to which the log was known durable when it was written. The first bad record is a
/// torn tail only if nothing anywhere claims that its bytes were durable: then what was acknowledged ends before it,
/// and it may be cut off. Otherwise acknowledged data is damaged, and cutting would lose it silently.
struct TailRule {
    /// The furthest point that manifest, checkpoint and the records before the bad one claim to be durable.
    let durable: LogPosition

    /// - Parameter bad: what is wrong at `end`, the end of the last good record.
    /// - Returns: bytes from `end` to the last one that is not zero, for the report: they may be cut off.
    /// - Throws: `.corruption`, naming what is lost, when they may not.
    func judge(_ bad: StoreError, at end: LogPosition, in reader: RecordReader) throws(StoreError) -> Int {
        if durable > end {
            throw lost(bad, end, "the log was durable up to \(durable.offset) of segment \(durable.segment)")
        }
        var position = end.offset
        var last = end.offset
        while position < reader.limit {
            guard let bytes = try reader.bytes(at: position, count: min(64, reader.limit - position)) else { break }
            if !bytes.isZero {
                last = position + bytes.count
                if let later = try reader.header(at: position), later.durable > end {
                    throw lost(
                        bad, end,
                        "a later record (at \(position), number \(later.sequence)) says that the log was durable up to "
                            + "\(later.durable.offset) of segment \(later.durable.segment)")
                }
            }
            position += Location.alignmentBytes
        }
        return last - end.offset
    }

    private func lost(_ bad: StoreError, _ end: LogPosition, _ why: String) -> StoreError {
        StoreError(
            .corruption,
            "\(bad.message) at offset \(bad.offset ?? end.offset): acknowledged transactions from there on are damaged (\(why)). "
                + "Nothing was changed; what is readable can be salvaged",
            path: bad.path, segment: end.segment, offset: end.offset)
    }
}

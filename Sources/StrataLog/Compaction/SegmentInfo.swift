/// What a segment that the log has left contains. It never changes.
struct SegmentInfo: Sendable {
    /// A value stored out of line, and the object that it was written for.
    struct LargeValueOwner: Sendable {
        var ref: ObjectRef
        var slot: Int
        var byteOffset: UInt32
        var byteCount: Int
    }

    var segment: UInt32
    /// Up to the end of its last record.
    var byteCount: Int
    var previousSequence: UInt64
    var lastSequence: UInt64
    var rowCount = 0
    /// Of the blocks of rows.
    var rowByteCount = 0
    /// Change tables and preserved values, archived ones too.
    var historyByteCount = 0
    var deletionCount = 0
    /// Number of the transaction that wrote a row, on average.
    var ageSequence: UInt64 = 0
    /// By root entity, keys of which the segment has rows.
    var cover: [UInt16: KeyCover] = [:]
    var largeValues: [LargeValueOwner] = []

    func mayHaveRow(root: UInt16, key: UInt64) -> Bool { cover[root]?.contains(key) == true }
}

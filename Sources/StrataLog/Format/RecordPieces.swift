/// The blocks and large values that follow a record's body, one after the other, in the order of the body's tables.
struct RecordPieces {
    let blocks: [TransactionBody.Piece]
    let largeValueByteCounts: [Int]

    init(_ body: TransactionBody) {
        blocks = body.blocks
        largeValueByteCounts = body.largeValueByteCounts
    }

    init(_ body: CompactionBody) {
        blocks = body.blocks
        largeValueByteCounts = body.largeValueByteCounts
    }

    /// Where they lie, counted in bytes from the record's start; nil if they do not end before its footer.
    func ranges(in header: RecordHeader) -> (blocks: [Range<Int>], largeValues: [Range<Int>])? {
        var position = header.blocksOffset
        let end = header.byteCount - RecordFooter.byteCount
        func next(_ byteCount: Int) -> Range<Int>? {
            guard byteCount >= Location.alignmentBytes, byteCount <= end - position else { return nil }
            defer { position += byteCount }
            return position..<position + byteCount
        }
        var blockRanges: [Range<Int>] = []
        blockRanges.reserveCapacity(blocks.count)
        for block in blocks {
            guard let range = next(block.byteCount) else { return nil }
            blockRanges.append(range)
        }
        var valueRanges: [Range<Int>] = []
        for byteCount in largeValueByteCounts {
            guard let range = next(byteCount) else { return nil }
            valueRanges.append(range)
        }
        return (blockRanges, valueRanges)
    }
}

/// Relationship changes under one postings number. Those of inserted rows can be read from their blocks; the others
/// are written down.
final class PostingsAccumulator {
    let postingsID: UInt16
    @exclusivity(unchecked) var inserted: [PostingChange] = []
    @exclusivity(unchecked) var others: [PostingChange] = []

    init(postingsID: UInt16) {
        self.postingsID = postingsID
    }
}

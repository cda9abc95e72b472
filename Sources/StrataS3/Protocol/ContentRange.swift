/// The header `Content-Range` of an answer with a part of an object: `bytes 0-9/100`.
struct ContentRange: Equatable {
    let bytes: Range<Int64>
    let size: Int64

    init?(_ text: String) {
        guard text.hasPrefix("bytes ") else { return nil }
        let halves = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, let size = Int64(halves[1]) else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int64(ends[0]), let last = Int64(ends[1]), 0 <= first, first <= last,
            last < size
        else { return nil }
        bytes = first..<last + 1
        self.size = size
    }
}

import StrataLog

/// How the rows of a root entity were cut into row groups. Where the object index still holds the same, the next scan
/// takes a row group as it is: where entities take turns, going through all keys takes longer than testing them.
struct RowGroupCut: Sendable {
    private struct Part: Sendable {
        let piece: RowGroupCutter.Piece
        /// The first key. The first part begins with all keys before it, so that none lies between two.
        let start: UInt64
        /// What the index held.
        let stamps: [DirectoryStamp]

        var byteCount: Int {
            piece.runs.count * MemoryLayout<RowRun>.stride + stamps.count * MemoryLayout<DirectoryStamp>.stride
                + MemoryLayout<Part>.stride
        }
    }

    private let parts: [Part]
    /// What it takes in memory. Row groups that have columns share the runs.
    let byteCount: Int

    /// - Parameter pieces: all of the index.
    init(_ pieces: [RowGroupCutter.Piece], of index: ObjectIndex) {
        let starts = pieces.indices.map { $0 == 0 ? 0 : pieces[$0].runs[0].firstKey }
        parts = pieces.indices.map { position in
            let next = position + 1 < starts.count ? starts[position + 1] : nil
            let keys = Self.keys(from: starts[position], to: next)
            return Part(piece: pieces[position], start: starts[position], stamps: index.stamps(of: keys))
        }
        byteCount = parts.reduce(0) { $0 + $1.byteCount }
    }

    /// The keys on which a part depends. Its last run may end there because no more keys follow, but for one that is
    /// cut.
    private static func keys(from start: UInt64, to next: UInt64?) -> Range<UInt64> {
        guard let next else { return start..<UInt64.max }
        return start..<(RowGroupCutter.cutsRuns(at: next) ? next : next + 1)
    }

    /// A row group that begins with a key and is the same in another version of the index, and the first key behind
    /// it; nil where there is none, or it has changed.
    ///
    /// - Complexity: O(log row groups + directories of the row group)
    func piece(from key: UInt64, in index: ObjectIndex) -> (piece: RowGroupCutter.Piece, next: UInt64?)? {
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = (low + high) / 2
            if parts[middle].start < key { low = middle + 1 } else { high = middle }
        }
        guard low < parts.count, parts[low].start == key else { return nil }
        let next = low + 1 < parts.count ? parts[low + 1].start : nil
        guard index.stamps(of: Self.keys(from: key, to: next)) == parts[low].stamps else { return nil }
        return (parts[low].piece, next)
    }
}

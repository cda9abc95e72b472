import StrataLog

/// How the rows of a root entity were cut into row groups. Where the object index still has the same nodes, the next
/// scan takes a row group as it is: where entities take turns, going through all keys takes longer than testing them.
struct RowGroupCut: Sendable {
    /// That of the snapshot that was cut.
    let index: ObjectIndex
    let pieces: [RowGroupCutter.Piece]

    /// The first key of a piece. The first begins with all keys before it, so that none lies between two pieces.
    private func start(_ position: Int) -> UInt64 { position == 0 ? 0 : pieces[position].runs[0].firstKey }

    /// What it takes in memory, apart from the index.
    var byteCount: Int {
        pieces.reduce(0) {
            $0 + $1.runs.count * MemoryLayout<RowRun>.stride + MemoryLayout<RowGroupCutter.Piece>.stride
        }
    }

    /// A piece that begins with a key and is the same in another version of the index, and the first key behind it; nil
    /// where there is none, or it has changed.
    ///
    /// - Complexity: O(log pieces) and what ``ObjectIndex/shares(_:with:)`` takes.
    func piece(from key: UInt64, in other: ObjectIndex) -> (piece: RowGroupCutter.Piece, next: UInt64?)? {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if start(middle) < key { low = middle + 1 } else { high = middle }
        }
        guard low < pieces.count, start(low) == key else { return nil }
        let next = low + 1 < pieces.count ? start(low + 1) : nil
        guard other.shares(key..<(next ?? .max), with: index) else { return nil }
        return (pieces[low], next)
    }
}

import StrataLog

/// Hands out the row groups of a root entity in the order of their keys.
package struct RowGroupWalk {
    private let index: ObjectIndex
    private let root: UInt16
    private let cache: ColumnChunkCache
    private let known: RowGroupCut?
    private var cutter = RowGroupCutter()
    /// What is to be remembered; nil when it has become too much.
    private var made: [RowGroupCutter.Piece]? = []
    private var bytesLeft: Int
    /// Whether anything has been walked.
    private var hasCut = false

    /// - Parameters:
    ///   - index: where the rows of the root entity lie.
    ///   - cache: remembers where row groups end.
    package init(_ index: ObjectIndex, root: UInt16, _ cache: ColumnChunkCache) {
        self.index = index
        self.root = root
        self.cache = cache
        known = cache.cut(of: root)
        bytesLeft = cache.cutMaximumBytes
    }

    /// Calls the body with each row group, until it returns false.
    package mutating func forEach(_ body: (RowGroupCutter.Piece) -> Bool) throws(StoreError) {
        var start: UInt64? = 0
        while let key = start {
            if let (piece, next) = known?.piece(from: key, in: index) {
                if !take(cutter.repeating(piece), body) { return }
                start = next
            } else {
                switch try cut(from: key, body) {
                case .stopped: return
                case .ended: start = nil
                case .known(let next): start = next
                }
            }
        }
        // A scan that stops early knows nothing of the rest.
        if hasCut, let made { cache.keep(RowGroupCut(made, of: index), of: root) }
    }

    private enum Outcome {
        case stopped
        case ended
        /// What begins with a key is known again.
        case known(UInt64)
    }

    /// Goes through the keys from one on.
    private mutating func cut(
        from key: UInt64, _ body: (RowGroupCutter.Piece) -> Bool
    ) throws(StoreError) -> Outcome {
        hasCut = true
        var outcome = Outcome.ended
        try index.forEachRun(from: key) { run throws(StoreError) in
            guard cutter.add(run) else { return true }
            for piece in cutter.takeEnded() where !take(piece, body) {
                outcome = .stopped
                return false
            }
            guard let next = cutter.firstKey, known?.piece(from: next, in: index) != nil else { return true }
            outcome = .known(next)
            cutter.startAgain()
            return false
        }
        if case .ended = outcome {
            cutter.finish()
            for piece in cutter.takeEnded() where !take(piece, body) { return .stopped }
        }
        return outcome
    }

    private mutating func take(_ piece: RowGroupCutter.Piece, _ body: (RowGroupCutter.Piece) -> Bool) -> Bool {
        bytesLeft -= piece.runs.count * MemoryLayout<RowRun>.stride
        if bytesLeft < 0 { made = nil }
        made?.append(piece)
        return body(piece)
    }
}

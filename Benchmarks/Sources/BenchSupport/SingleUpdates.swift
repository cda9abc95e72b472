import DataSet

/// A store in which single fields are changed.
public protocol UpdatingStore: Contestant {
    /// Changes the score of rows in one transaction, which is as durable as the store was opened for when the call
    /// returns.
    func updateScores(_ changes: [(id: UInt64, score: Double)]) throws
}

/// One field of a random row a transaction.
public enum SingleUpdates {
    /// Changes that are made, one after the other; returns how many a second.
    ///
    /// - Parameter seed: of the random numbers: all contestants make the same changes.
    public static func run(
        _ count: Int, seed: UInt64, rowCount: Int, on store: any UpdatingStore
    ) throws -> Double {
        var random = SplitMix64(seed)
        let (seconds, _) = try timed {
            for _ in 0..<count {
                let bits = random.next()
                try store.updateScores([(updatedID(bits, of: rowCount), newScore(bits))])
            }
        }
        return Double(count) / seconds
    }
}

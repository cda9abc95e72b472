import CoreData

/// Replays the store's history and compares what it says with what the store holds.
struct HistoryCheck {
    /// History and store differ.
    struct Mismatch: Error, CustomStringConvertible {
        let entity: String
        let replayed: Int
        let stored: Int
        var description: String {
            "the history makes \(replayed) objects of entity \(entity), but the store has \(stored)"
        }
    }

    let context: NSManagedObjectContext

    /// Prints what was replayed. On the context's queue.
    ///
    /// - Throws: ``Mismatch`` when an entity's replayed count is not the store's.
    func print() throws {
        let clock = ContinuousClock()
        let start = clock.now
        let replay = try HistoryReplay(context)
        let duration = clock.now - start
        Swift.print("\nHistory, replayed from the first transaction  [\(Text.duration(duration))]")
        Swift.print("  \(Text.count(replay.transactionCount)) transactions, \(Text.count(replay.changeCount)) changes")
        let stored = try Questions(context: context).counts()
        for entity in PackageGraphModel.entityNames {
            let (replayed, count) = (replay.counts[entity] ?? 0, stored[entity] ?? 0)
            guard replayed == count else { throw Mismatch(entity: entity, replayed: replayed, stored: count) }
            Swift.print(
                "  \(Text.padded(entity, to: 12)) \(Text.padded(Text.count(count), to: 10, right: true))  as in the store"
            )
        }
    }
}

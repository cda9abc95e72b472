import StrataLog
import StrataSupport

/// The states of the stores that a context reads, once it has begun to read.
final class PinnedGeneration {
    /// Nil until something is read.
    private(set) var token: NSQueryGenerationToken?

    /// - Parameter token: nil for the states that are the newest when something is first read.
    init(_ token: NSQueryGenerationToken?) {
        self.token = token
    }

    /// What the context sees of a store; nil for one that was added later.
    func snapshot(of handle: StoreHandle, _ coordinator: NSPersistentStoreCoordinator?) -> Snapshot? {
        if token == nil { pin(coordinator) }
        return token?.snapshots[handle.identity.uuidString]
    }

    /// Whether the context shows a point of the past: it stays there and cannot save.
    var isPast: Bool { token?.isPast == true }

    /// Takes the newest states; a point of the past stays.
    func pin(_ coordinator: NSPersistentStoreCoordinator?) {
        if isPast { return }
        var snapshots: [String: Snapshot] = [:]
        for handle in coordinator?.persistentStores.compactMap(\.handle) ?? [] {
            // One that cannot be read now stays where it was when it could be.
            try? handle.catchUp()
            let snapshot = handle.log.snapshot
            handle.heldSnapshots.add(snapshot)
            snapshots[handle.identity.uuidString] = snapshot
        }
        token = NSQueryGenerationToken(snapshots)
    }

    /// The next reading takes the newest states; a point of the past stays.
    func moveOn() {
        if !isPast { token = nil }
    }
}

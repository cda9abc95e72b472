import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// The generation that the context reads: nil for one that is not pinned and for a child, which reads its parent;
    /// ``NSQueryGenerationToken/current`` for one that was pinned and has not read yet.
    public final var queryGenerationToken: NSQueryGenerationToken? {
        guard link == nil, let generation else { return nil }
        return generation.token ?? .current
    }

    /// Pins the context to a state of its stores: fetches and faults show that state, whatever is saved meanwhile.
    ///
    /// Objects that have been read stay as they are until they are refreshed. A save of this context and merging what
    /// others have saved move the context to the newest state; resetting it, to the state that is the newest when it
    /// next reads. Saves look for conflicts in the newest state, as always. Stores added later are not seen until the
    /// context moves.
    ///
    /// - Parameter generation: nil to read what is newest whenever something is read;
    ///   ``NSQueryGenerationToken/current`` for the state at the next reading; another context's
    ///   ``queryGenerationToken``.
    /// - Throws: `CocoaError` 134070 for a child context; when a state is no longer held by anybody (the context is
    ///   as before then); when a store that the token names is not one of the coordinator's (the context is pinned to
    ///   what there is of the others then).
    public final func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        guard link == nil else {
            throw Self.generationError("A child context reads its parent and cannot be pinned to a query generation.")
        }
        guard let generation else {
            self.generation = nil
            return
        }
        guard let sequences = generation.sequences else {
            self.generation = PinnedGeneration(nil)
            return
        }
        var snapshots: [String: Snapshot] = [:]
        var missing: [String] = []
        let handles = coordinator?.persistentStores.compactMap(\.handle) ?? []
        for (uuid, sequence) in sequences {
            guard let handle = handles.first(where: { $0.identity.uuidString == uuid }) else {
                missing.append(uuid)
                continue
            }
            try handle.catchUp()
            let newest = handle.log.snapshot
            let held = generation.snapshots[uuid] ?? handle.heldSnapshots.snapshot(sequence)
            guard let snapshot = held ?? (newest.sequence == sequence ? newest : nil) else {
                throw Self.generationError(
                    "The query generation \(sequence) of store \(uuid) has expired: nothing holds it any more.")
            }
            handle.heldSnapshots.add(snapshot)
            snapshots[uuid] = snapshot
        }
        self.generation = PinnedGeneration(NSQueryGenerationToken(snapshots))
        if !missing.isEmpty {
            throw Self.generationError(
                "The query generation names stores that the coordinator does not have: \(missing.sorted()).")
        }
    }

    private static func generationError(_ text: String) -> CocoaError {
        CocoaError(.persistentStoreOperation, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// What the context sees of a store: its newest state unless the context is pinned. Nil for a store that was
    /// added after it was.
    @inline(__always)
    final func snapshot(of handle: StoreHandle) -> Snapshot? {
        guard let generation else { return handle.log.snapshot }
        return generation.snapshot(of: handle, coordinator)
    }

    /// Moves a pinned context to the newest state.
    final func advanceGeneration() {
        generation?.pin(coordinator)
    }

    /// Adds the generation, if there is one, to what a notification says.
    final func generationInfo(_ info: [AnyHashable: Any]) -> [AnyHashable: Any] {
        guard let token = queryGenerationToken else { return info }
        var info = info
        info[NSManagedObjectContextQueryGenerationKey] = token
        return info
    }
}

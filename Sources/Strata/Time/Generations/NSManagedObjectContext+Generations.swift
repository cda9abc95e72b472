import Foundation
import StrataLog

extension NSManagedObjectContext {
    final var shownGeneration: NSQueryGenerationToken? {
        guard link == nil, let generation else { return nil }
        return generation.token ?? .current
    }

    final func pin(_ generation: NSQueryGenerationToken?) throws {
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
            // A token from another coordinator may hold what another opening, or a copy of the store, reads.
            let held = generation.snapshots[uuid].flatMap { handle.log.owns($0) ? $0 : nil }
            let snapshot = try held ?? Self.snapshot(handle, sequence)
            handle.heldSnapshots.add(snapshot)
            snapshots[uuid] = snapshot
        }
        self.generation = PinnedGeneration(NSQueryGenerationToken(snapshots, isPast: generation.isPast))
        if !missing.isEmpty {
            throw Self.generationError(
                "The query generation names stores that the coordinator does not have: \(missing.sorted()).")
        }
    }

    /// A store's state after a transaction: held by somebody, or read from the log.
    static func snapshot(_ handle: StoreHandle, _ sequence: UInt64) throws -> Snapshot {
        if let held = handle.heldSnapshots.snapshot(sequence) { return held }
        let uuid = handle.identity.uuidString
        let start = HistoryState(handle.log).start
        do {
            let newest = handle.log.snapshot
            if newest.sequence == sequence { return newest }
            guard handle.custom == nil else {
                throw generationError("The query generation \(sequence) of store \(uuid) is held by nobody any more.")
            }
            guard sequence + 1 >= start else {
                throw StoreError(.expired, "the earliest point that is retained is transaction \(start - 1)")
            }
            return try handle.log.snapshot(at: sequence)
        } catch let error as StoreError where error.code == .expired {
            throw generationError(
                "The query generation \(sequence) of store \(uuid) has expired: \(error.message).")
        } catch let error as StoreError {
            throw StoreFailure.cocoaError(error, reading: handle)
        }
    }

    /// Whether the context shows a point of the past and so cannot save.
    final var isPast: Bool { generation?.isPast == true }

    /// - Throws: `CocoaError` 134030 when the context shows a point of the past.
    final func refusePast() throws {
        guard isPast, let token = generation?.token else { return }
        throw DescribedError(
            .persistentStoreSave,
            userInfo: [
                NSLocalizedDescriptionKey: "The context shows the past (\(token.description)) and cannot write to it."
            ])
    }

    static func generationError(_ text: String) -> any Error {
        DescribedError(.persistentStoreOperation, userInfo: [NSLocalizedDescriptionKey: text])
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

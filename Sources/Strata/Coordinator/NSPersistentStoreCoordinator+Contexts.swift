import Foundation
import StrataLog
import StrataSupport
import Synchronization

// What contexts ask, and what they tell each other by way of their coordinator.
extension NSPersistentStoreCoordinator {
    var hasCustomStores: Bool { customStores.load(ordering: .acquiring) }

    func recordCustomStore() { customStores.store(true, ordering: .releasing) }

    /// Remembers a context that works on the coordinator.
    ///
    /// - Returns: how many there are, about, and the store if there is exactly one: all contexts ask for both, and each
    ///   question takes the lock.
    func register(_ context: NSManagedObjectContext) -> (count: Int, onlyStore: StoreHandle?) {
        let reference = context.reference
        return state.withLock { state in
            // Whoever closes the stores finds the context, or else it comes too late.
            if context.queueType != .mainQueueConcurrencyType { context.shut(for: self) }
            // Each time their number has doubled.
            if state.contexts.count >= state.contextsToSweep {
                state.contexts.removeAll { !$0.isAlive }
                state.contextsToSweep = max(16, state.contexts.count * 2)
            }
            state.contexts.append(reference)
            return (state.contexts.count, state.stores.count == 1 ? state.stores[0].handle : nil)
        }
    }

    /// The contexts that work on the coordinator.
    var contexts: [NSManagedObjectContext] {
        state.withLock { state in UncheckedBox(state.contexts.compactMap(\.context)) }.value
            .filter { $0.coordinator === self }
    }

    /// Counts up the generation of stores after an exchange.
    func recordStoresChanged() { storesGeneration.wrappingAdd(1, ordering: .acquiringAndReleasing) }

    /// The stores, as events name them.
    final var eventStores: [EventStore] {
        let generation = storesGeneration.load(ordering: .acquiring)
        let known = state.withLock { $0.eventStores }
        if let known, known.generation == generation { return known.stores }
        let stores = persistentStores.compactMap { $0.handle?.eventStores[0] }
        state.withLock { $0.eventStores = (generation, stores) }
        return stores
    }

    func handle(_ identity: StoreIdentity) -> StoreHandle? {
        state.withLock { state in
            state.stores.lazy.compactMap(\.handle).first { $0.identity === identity }
        }
    }

    /// The store that an ID leads to: the one with the identity, or else a copy of it, which has the same objects.
    func handle(leadingFrom identity: StoreIdentity) -> StoreHandle? {
        handle(identity)
            ?? persistentStores.lazy.compactMap(\.handle).first { handle in
                handle.ancestors.contains { $0.uuid.caseInsensitiveCompare(identity.uuidString) == .orderedSame }
            }
    }

    /// The store that new objects of an entity go to: the first that holds it.
    func handle(holding shape: EntityShape) -> StoreHandle? {
        persistentStores.lazy.compactMap(\.handle).first { $0.map.serves(shape) && !$0.isReadOnly }
    }

    /// The first store that holds an entity and was opened read-only.
    func readOnlyHandle(holding shape: EntityShape) -> StoreHandle? {
        persistentStores.lazy.compactMap(\.handle).first { $0.map.serves(shape) && $0.isReadOnly }
    }

    /// The store, if there is exactly one, and it serves all that it holds.
    var onlyHandle: StoreHandle? {
        let stores = persistentStores
        guard stores.count == 1, let handle = stores[0].handle, handle.map.servesAll else { return nil }
        return handle
    }

    func savePendingMetadata() throws {
        for store in persistentStores { try store.savePendingMetadata() }
    }

    /// From now on the context hears of other contexts' saves.
    func observe(_ context: NSManagedObjectContext) {
        let reference = context.reference
        state.withLock { $0.observers.insert(reference) }
    }

    /// What did-save notifications say beside the objects: where the history of stores that track it stands.
    func saveInfo(_ parts: [StoreEnding]) -> [AnyHashable: Any] {
        var sequences: [String: UInt64] = [:]
        let stores = persistentStores
        for part in parts where part.handle.custom == nil {
            guard let store = stores.first(where: { $0.handle === part.handle }), store.tracksHistory else { continue }
            if let receipt = part.receipt { sequences[part.handle.identity.uuidString] = receipt.sequence }
        }
        if sequences.isEmpty { return [:] }
        let token = NSPersistentHistoryToken(sequences)
        // Core Data's notifications have it under a name of their own, which observers write out.
        return [NSPersistentHistoryTokenKey: token, "newChangeToken": token]
    }

    /// Tells the other contexts and whoever listens for remote changes.
    func didSave(_ parts: [StoreEnding], _ changes: ObjectChanges, from context: NSManagedObjectContext) {
        let observers = state.withLock { $0.observers.all }.compactMap(\.context).filter {
            $0 !== context && $0.automaticallyMergesChangesFromParent
        }
        if !observers.isEmpty {
            let ids = MergedIDs(
                inserted: changes.inserted.map(\.objectID), updated: changes.updated.map(\.objectID),
                deleted: changes.deleted.map(\.objectID))
            for observer in observers { observer.perform { observer.merge(ids) } }
        }
        for part in parts {
            if let receipt = part.receipt { storeDidGrow(part.handle, to: receipt.sequence) }
        }
    }
}

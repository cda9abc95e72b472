import Foundation
import StrataLog
import StrataRuntime
import Synchronization

// What a context looks up for every object.
extension NSManagedObjectContext {
    /// The entity that objects of a class are inserted into, if there is exactly one. It lives as long as the process.
    final func entity(ofClass type: NSManagedObject.Type) -> Unmanaged<NSEntityDescription>? {
        if let last = lookups.entity, last.type == ObjectIdentifier(type) { return last.entity }
        guard let shape = modelShapes?.shape(ofClass: type) else { return nil }
        let entity = Unmanaged.passUnretained(shape.entity)
        lookups.entity = (ObjectIdentifier(type), entity)
        return entity
    }

    /// What an entity stands for in the context's model.
    ///
    /// - Precondition: the context's model has an entity of this name.
    final func shapeReference(of entity: NSEntityDescription) -> Unmanaged<EntityShape> {
        if let last = lookups.shape, last.entity == ObjectIdentifier(entity) { return last.shape }
        let shape = Unmanaged.passUnretained(EntityShape.search(entity, for: self))
        lookups.shape = (ObjectIdentifier(entity), shape)
        return shape
    }

    /// The context has another coordinator, and with it another model and other stores.
    final func forgetModel() { lookups = LookupMemory() }

    /// The index of the open store with this identity; nil when the coordinator has none.
    final func storeIndex(of identity: StoreIdentity) -> UInt16? {
        guard let coordinatorReference else { return nil }
        // SAFETY: the context has a reference to the coordinator.
        let generation = coordinatorReference.withBorrowed {
            $0.storesGeneration.load(ordering: .acquiring)
        }
        if let last = lookups.store, last.identity == ObjectIdentifier(identity), last.generation == generation {
            return last.index
        }
        return coordinator?.handle(leadingFrom: identity).map { recordStore($0, generation) }
    }

    /// Remembers the store that was asked for last, as of a generation of the coordinator's stores. Returns its index.
    @discardableResult
    final func recordStore(_ handle: StoreHandle, _ generation: Int) -> UInt16 {
        let index = registry.storeIndex(of: handle)
        lookups.store = (ObjectIdentifier(handle.identity), generation, index)
        return index
    }
}

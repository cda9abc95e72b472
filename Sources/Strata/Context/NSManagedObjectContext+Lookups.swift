import Foundation
import StrataLog
import StrataRuntime
import Synchronization

// What a context looks up for every object.
extension NSManagedObjectContext {
    /// The entity that objects of a class are inserted into, if there is exactly one. It lives as long as the process.
    final func entity(ofClass type: NSManagedObject.Type) -> Unmanaged<NSEntityDescription>? {
        if lastClass == ObjectIdentifier(type) { return lastClassEntity }
        guard let shape = modelShapes?.shape(ofClass: type) else { return nil }
        lastClass = ObjectIdentifier(type)
        lastClassEntity = .passUnretained(shape.entity)
        return lastClassEntity
    }

    /// What an entity stands for in the context's model.
    ///
    /// - Precondition: the context's model has an entity of this name.
    final func shapeReference(of entity: NSEntityDescription) -> Unmanaged<EntityShape> {
        if lastEntity == ObjectIdentifier(entity), let lastShape { return lastShape }
        let shape = Unmanaged.passUnretained(EntityShape.search(entity, for: self))
        lastEntity = ObjectIdentifier(entity)
        lastShape = shape
        return shape
    }

    /// The context has another coordinator, and with it another model and other stores.
    final func forgetModel() {
        lastStore = nil
        (lastClass, lastClassEntity) = (nil, nil)
        (lastEntity, lastShape) = (nil, nil)
    }

    /// The index of the open store with this identity; nil when the coordinator has none.
    final func storeIndex(of identity: StoreIdentity) -> UInt16? {
        guard let coordinatorReference else { return nil }
        // SAFETY: the context has a reference to the coordinator.
        let generation = coordinatorReference.withBorrowed {
            $0.storesGeneration.load(ordering: .acquiring)
        }
        if let lastStore, lastStore.identity == ObjectIdentifier(identity), lastStore.generation == generation {
            return lastStore.index
        }
        return coordinator?.handle(leadingFrom: identity).map { recordStore($0, generation) }
    }

    /// Remembers the store that was asked for last, as of a generation of the coordinator's stores. Returns its index.
    @discardableResult
    final func recordStore(_ handle: StoreHandle, _ generation: Int) -> UInt16 {
        let index = registry.storeIndex(of: handle)
        lastStore = (ObjectIdentifier(handle.identity), generation, index)
        return index
    }
}

import Foundation
import StrataLog

/// Keeps derived attributes right after a batch request: those of the objects that it changed, and those of others that
/// are derived from them.
///
/// Values are computed by objects in a context of its own, some at a time, in transactions that follow the request's.
/// Only requests that derived attributes depend on pay for it.
final class BatchDerivations {
    /// How many objects are in memory at once.
    private static let count = 1_000

    private let context: NSManagedObjectContext
    private let shapes: ModelShapes
    private let handle: StoreHandle
    /// Objects with attributes that were derived from what the request changes or deletes.
    private var owners: Set<ObjectRef> = []

    /// Nil when no derived attribute depends on objects of the entities.
    init?(_ requester: NSManagedObjectContext, _ handle: StoreHandle, _ entities: [EntityShape]) {
        guard let shapes = requester.modelShapes, shapes.hasDerivations else { return nil }
        let isConcerned = entities.contains { shape in
            !shape.derivations.isEmpty || shapes.dependencies.contains { shape.isKind(of: $0.source) }
        }
        guard isConcerned else { return nil }
        self.shapes = shapes
        self.handle = handle
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.coordinator = requester.coordinator
        let writer = requester.top
        context.name = writer.name
        context.transactionAuthor = writer.transactionAuthor
        // Objects that are deleted meanwhile have nothing to derive.
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        // Batch requests store what a save would refuse; their values are not asked about again.
        context.skipsValidation = true
        context.isSilent = true
    }

    /// Remembers whose attributes are derived from objects that are about to change or go.
    func record(_ refs: some Sequence<ObjectRef>) throws {
        try forEach(refs) { object in
            for owner in self.owners(of: object) { owners.insert(owner.objectID.ref) }
        }
    }

    /// Computes and saves the attributes of objects that the request wrote, and of everything noted.
    ///
    /// - Parameter written: their `now()` attributes get the time.
    func update(_ written: some Sequence<ObjectRef>) throws {
        let time = Date()
        try forEach(written) { object in
            for derivation in object.shape.derivations where derivation.isTime {
                object.setBoxedValue(time, slot: derivation.slot)
            }
            context.pipeline.derive(object)
            for owner in owners(of: object) { context.pipeline.derive(owner) }
        }
        let noted = owners
        owners = []
        try forEach(noted) { context.pipeline.derive($0) }
    }

    private func owners(of object: NSManagedObject) -> [NSManagedObject] {
        shapes.dependencies.filter { object.shape.isKind(of: $0.source) }.flatMap { $0.owners(of: object) }
    }

    /// Calls the body with objects that are there, and saves what it changes.
    private func forEach(_ refs: some Sequence<ObjectRef>, _ body: (NSManagedObject) throws -> Void) throws {
        try context.performAndWait {
            var count = 0
            for ref in refs {
                guard let shape = handle.map.shape(ref.entity) else { continue }
                let id = NSManagedObjectID(ref: ref, identity: handle.identity, shape: shape)
                let object: NSManagedObject
                do {
                    object = try context.existingObject(with: id)
                } catch let error as CocoaError where error.code == .managedObjectReferentialIntegrity {
                    // It has been deleted meanwhile.
                    continue
                }
                try body(object)
                count += 1
                if count % Self.count == 0 { try saveAndForget() }
            }
            try saveAndForget()
        }
    }

    private func saveAndForget() throws {
        try context.save()
        context.reset()
    }
}

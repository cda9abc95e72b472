import Foundation
import StrataLog
import StrataRuntime
import StrataSupport

/// Reads the objects along a path of relationships, level by level, so that no fault fires on it afterwards.
struct Prefetch {
    private let context: NSManagedObjectContext
    private let control: RequestControl?

    init(_ context: NSManagedObjectContext, _ control: RequestControl?) {
        self.control = control
        self.context = context
    }

    /// - Throws: the store's error if a row cannot be read; why the request should stop.
    func run(_ path: KeyPathComponents, _ objects: [NSManagedObject]) throws {
        var level = objects
        var pace = ControlPace(control, every: 64)
        for (step, name) in path.names.enumerated() {
            // Of a subentity's relationship some objects may have none.
            var lookup = RelationshipLookup(name)
            // A reference lies in the row.
            if level.contains(where: { lookup.relationship(of: $0).map { !$0.isToMany } ?? false }) {
                try realize(level)
            }
            var targets: [NSManagedObject] = []
            targets.reserveCapacity(level.count)
            let made = makeTargets(of: level, &lookup)
            defer { withExtendedLifetime(made) {} }
            for object in level {
                try pace.step()
                guard let relationship = lookup.relationship(of: object) else { continue }
                if !relationship.isToMany {
                    if let target = object.toOneTarget(relationship) { targets.append(target) }
                } else {
                    // One object may have very many.
                    try control?.check()
                    targets += object.targets(relationship)
                }
            }
            try realize(targets)
            guard step < path.names.count - 1 else { return }
            var seen: Set<ObjectIdentifier> = []
            level = targets.filter { seen.insert(ObjectIdentifier($0)).inserted }
        }
    }

    /// Makes the objects at the ends of a to-one relationship of objects that are no faults, all at once: making each
    /// as it is met counts references to its entity and store, which all threads share.
    ///
    /// - Returns: what keeps them until the objects refer to them.
    private func makeTargets(of level: [NSManagedObject], _ lookup: inout RelationshipLookup) -> [NSManagedObject] {
        guard level.count > 1, let storeIndex = level.first?.storeIndex, storeIndex != 0,
            storeIndex != ObjectRegistry.unsavedIndex, let handle = context.registry.handle(storeIndex)
        else { return [] }
        var refs: [ObjectRef] = []
        refs.reserveCapacity(level.count)
        // Those of other stores, which are few, are made one by one; so is what only another store can name.
        for object in level where object.storeIndex == storeIndex {
            guard let relationship = lookup.relationship(of: object), !relationship.isToMany else { continue }
            let ref = object.unknownTarget(relationship)
            if ref.entity != 0 { refs.append(ref) }
        }
        refs.sort()
        var unique: [ObjectRef] = []
        unique.reserveCapacity(refs.count)
        for ref in refs where ref != unique.last { unique.append(ref) }
        return context.objects(unique, storeIndex, handle)
    }

    /// A fault, in the order in which rows are looked up.
    private struct Fault {
        let storeIndex: UInt16
        let ref: ObjectRef
        let object: Unmanaged<NSManagedObject>
    }

    /// Fires the faults among some objects, each of which may come several times.
    private func realize(_ objects: [NSManagedObject]) throws {
        var faults: [Fault] = []
        faults.reserveCapacity(objects.count)
        for object in objects where object.isUnread {
            faults.append(
                Fault(storeIndex: object.storeIndex, ref: object.ref, object: Unmanaged.passUnretained(object)))
        }
        if faults.isEmpty { return }
        try EventHub.telling(.fault, of: context.coordinator?.eventStores ?? []) { work in
            .fault(FaultEvent(work: work, entity: objects.first?.shape.name, rows: faults.count, isPrefetch: true))
        } _: {
            try realize(&faults, of: objects)
        }
    }

    private func realize(_ faults: inout [Fault], of objects: [NSManagedObject]) throws {
        faults.sort { $0.storeIndex != $1.storeIndex ? $0.storeIndex < $1.storeIndex : $0.ref < $1.ref }
        var pace = ControlPace(control, every: 64)
        try context.faults.expecting(results: Self.batch(faults)) {
            // The objects are held by the list that they came from.
            try withExtendedLifetime(objects) {
                for fault in faults {
                    try fault.object.withBorrowed { object in
                        guard object.isUnread else { return }
                        try pace.step()
                        try context.realizeOrThrow(object)
                    }
                }
            }
        }
    }

    private static func batch(_ faults: [Fault]) -> FaultBatch? {
        guard let storeIndex = faults.first?.storeIndex else { return nil }
        if storeIndex != 0, faults.last?.storeIndex == storeIndex {
            return FaultBatch(faults.map(\.ref), storeIndex, size: faults.count)
        }
        let matches = faults.map { FetchMatch(ref: $0.ref, storeIndex: $0.storeIndex) }
        return FaultBatch(matches, size: faults.count)
    }
}

/// Looks a relationship up by name, once for each change of the entity.
private struct RelationshipLookup {
    private let name: String
    private var shape: Unmanaged<EntityShape>?
    private var relationship: RelationshipShape?

    init(_ name: String) {
        self.name = name
    }

    mutating func relationship(of object: NSManagedObject) -> RelationshipShape? {
        let own = Unmanaged.passUnretained(object.shape)
        if own.toOpaque() != shape?.toOpaque() {
            (shape, relationship) = (own, object.shape.relationship(name))
        }
        return relationship
    }
}

import Foundation

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
        for name in path.names {
            var targets: [NSManagedObject] = []
            var seen: Set<ObjectIdentifier> = []
            // A reference lies in the row.
            if level.contains(where: { $0.shape.relationship(name).map { !$0.isToMany } ?? false }) {
                try realize(level)
            }
            for object in level {
                try pace.step()
                // Of a subentity's relationship some objects may have none.
                guard let relationship = object.shape.relationship(name) else { continue }
                for target in object.targets(relationship) where seen.insert(ObjectIdentifier(target)).inserted {
                    targets.append(target)
                }
            }
            try realize(targets)
            level = targets
        }
    }

    private func realize(_ objects: [NSManagedObject]) throws {
        let faults = objects.filter(\.isFault)
        let matches = faults.map { FetchMatch(ref: $0.ref, storeIndex: $0.storeIndex) }
            .sorted { ($0.storeIndex, $0.ref) < ($1.storeIndex, $1.ref) }
        let batch = context.fetchBatch
        context.fetchBatch = FaultBatch(matches, size: FaultBatch.maximumSize)
        defer { context.fetchBatch = batch }
        var pace = ControlPace(control, every: 64)
        for object in faults.sorted(by: { ($0.storeIndex, $0.ref) < ($1.storeIndex, $1.ref) }) where object.isFault {
            try pace.step()
            try context.realizeOrThrow(object)
        }
    }
}

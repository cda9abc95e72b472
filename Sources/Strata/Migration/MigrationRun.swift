import Foundation
import StrataLog
import StrataSupport

/// One migration of a manager: the mappings' steps, a window of objects at a time.
final class MigrationRun {
    private unowned let manager: NSMigrationManager
    let mapping: NSMappingModel
    let source: MigrationEnd
    let destination: MigrationEnd
    private(set) var current: NSEntityMapping
    /// By the mappings' names.
    private var tables: [String: AssociationTable] = [:]
    /// What was associated since the destination was saved last.
    private var pending: [(source: NSManagedObject, destination: NSManagedObject, name: String)] = []
    private var policies: [NSEntityMigrationPolicy] = []
    /// Objects with rules that were saved without having been associated: no mapping has them.
    private var unassociated: [ObjectRef] = []
    private var isDestinationOpen = false
    /// The objects of the destination, all of them, once a policy has asked for those that are registered.
    private var kept: [NSManagedObject]?
    /// Whether rows have been written since ``kept`` was found that it does not have.
    private var isKeptOutdated = false
    /// Mappings whose objects have been found to be what is asked of them, as they were made.
    private var checked: Set<ObjectIdentifier> = []
    /// What is wrong with the expression that is being evaluated.
    private var problem: String?

    /// How many objects are made before the contexts are saved and reset.
    private static let windowCount = 2_000
    /// As above, where no objects are made.
    private static let rowWindowCount = 10_000
    /// How much of the whole each pass is, in units of the manager's progress.
    private static let passUnits: [Int64] = [6_000, 3_000, 1_000]

    init(
        _ manager: NSMigrationManager, _ mapping: NSMappingModel, from source: MigrationEnd.Address,
        to destination: MigrationEnd.Address
    ) throws {
        self.manager = manager
        self.mapping = mapping
        self.source = MigrationEnd(source, manager.sourceModel)
        self.destination = MigrationEnd(destination, manager.destinationModel)
        current = mapping.entityMappings.first ?? NSEntityMapping()
        for entity in mapping.entityMappings {
            let isRight =
                NSMappingModel.isVersion(
                    entity.sourceEntityName, entity.sourceEntityVersionHash, in: manager.sourceModel)
                && NSMappingModel.isVersion(
                    entity.destinationEntityName, entity.destinationEntityVersionHash, in: manager.destinationModel)
            guard !isRight else { continue }
            throw DescribedError(
                .persistentStoreIncompatibleSchema,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "The mapping \(entity.name ?? "") is for other versions of its entities than the models have."
                ])
        }
        policies = try mapping.entityMappings.map {
            try NSEntityMigrationPolicy.make($0.entityMigrationPolicyClassName)
        }
    }

    // MARK: The passes

    func start() throws {
        (destination.context as? MigrationContext)?.registersAll = { [unowned self] in keepAll() }
        try source.open(.migrationManagerSourceStore)
        guard try destination.address.isFree else { throw destination.address.isTaken }
        try destination.open(.migrationManagerDestinationStore)
        isDestinationOpen = true
        var result: Result<Void, any Error> = .success(())
        // Saves, and so their notifications, are on the thread that migrates.
        let box = UncheckedBox(self)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: destination.context, queue: nil
        ) { box.value.recordUnassociated($0) }
        defer { NotificationCenter.default.removeObserver(observer) }
        source.context.performAndWait {
            destination.context.performAndWait { result = Result { try runPasses() } }
        }
        try result.get()
    }

    private func runPasses() throws {
        try eachMapping(0) { mapping, policy, progress in
            try policy.begin(mapping, with: manager)
            let refs = try sourceRefs(mapping)
            if let rows = RowMapping(mapping, policy, of: manager, from: source, to: destination), rows.fits(refs) {
                try copy(refs, mapping, rows, progress)
                return try policy.endInstanceCreation(forMapping: mapping, manager: manager)
            }
            try inWindows(refs, progress) { ref in
                guard let object = source.object(ref) else { return }
                try policy.createDestinationInstances(forSource: object, in: mapping, manager: manager)
            }
            try policy.endInstanceCreation(forMapping: mapping, manager: manager)
        }
        try eachMapping(1) { mapping, policy, progress in
            // The policy of a mapping that names none does nothing for objects without relationships.
            let isIdle =
                type(of: policy) == NSEntityMigrationPolicy.self && mapping.relationshipMappings?.isEmpty != false
            try inWindows(isIdle ? [] : destinationRefs(mapping), progress) { ref in
                guard let object = destination.object(ref) else { return }
                try policy.createRelationships(forDestination: object, in: mapping, manager: manager)
            }
            try policy.endRelationshipCreation(forMapping: mapping, manager: manager)
        }
        try eachMapping(2) { mapping, policy, progress in
            try policy.performCustomValidation(forMapping: mapping, manager: manager)
            let isChecked = checked.contains(ObjectIdentifier(mapping))
            try inWindows(isChecked ? [] : destinationRefs(mapping), progress, validate)
            try policy.end(mapping, manager: manager)
        }
        try inWindows(unassociated, { _ in }, validate)
    }

    private func validate(_ ref: ObjectRef) throws {
        guard let object = destination.object(ref) else { return }
        // Nothing is known of a fault, which would pass.
        if object.shape.hasRules { try destination.context.realizeOrThrow(object) }
        try object.validateForInsert()
    }

    /// Policies may save by themselves, too.
    private func recordUnassociated(_ notification: Notification) {
        let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        if inserted.isEmpty { return }
        let associated = Set(pending.map { ObjectIdentifier($0.destination) })
        for object in inserted where object.shape.hasRules && !associated.contains(ObjectIdentifier(object)) {
            unassociated.append(object.ref)
        }
    }

    private func eachMapping(
        _ pass: Int, _ body: (NSEntityMapping, NSEntityMigrationPolicy, (Double) -> Void) throws -> Void
    ) throws {
        let before = Self.passUnits.prefix(pass).reduce(0, +)
        let count = Double(max(mapping.entityMappings.count, 1))
        for (index, entity) in mapping.entityMappings.enumerated() {
            manager.willChangeValue(forKey: "currentEntityMapping")
            current = entity
            manager.didChangeValue(forKey: "currentEntityMapping")
            try manager.checkCancelled()
            try refusingUnread {
                try body(entity, policies[index]) { part in
                    let share = (Double(index) + part) / count
                    manager.setCompletedUnits(before + Int64(Double(Self.passUnits[pass]) * share))
                }
            }
            try flush()
        }
    }

    /// Runs what reads and makes objects.
    ///
    /// - Throws: why something could not be read. A property that cannot be read reads as empty, which must not get
    ///   into the destination.
    private func refusingUnread(_ body: () throws -> Void) throws {
        try source.context.throwingReadFailures { try destination.context.throwingReadFailures(body) }
    }

    private func inWindows(_ refs: [ObjectRef], _ progress: (Double) -> Void, _ body: (ObjectRef) throws -> Void) throws
    {
        for start in stride(from: 0, to: refs.count, by: Self.windowCount) {
            let end = min(start + Self.windowCount, refs.count)
            try refusingUnread {
                for ref in refs[start..<end] {
                    try manager.checkCancelled()
                    try body(ref)
                }
            }
            try flush()
            progress(Double(end) / Double(refs.count))
        }
    }

    private func copy(
        _ refs: [ObjectRef], _ mapping: NSEntityMapping, _ rows: RowMapping, _ progress: (Double) -> Void
    ) throws {
        guard let handle = source.store?.handle else { return }
        var reader = RowReader(handle.log.snapshot)
        var isWhole = true
        for start in stride(from: 0, to: refs.count, by: Self.rowWindowCount) {
            try manager.checkCancelled()
            let end = min(start + Self.rowWindowCount, refs.count)
            isKeptOutdated = true
            let isPartWhole = try rows.run(refs[start..<end], &reader) {
                tables[mapping.name, default: AssociationTable()].append($0)
            }
            isWhole = isWhole && isPartWhole
            progress(Double(end) / Double(refs.count))
        }
        // A policy of another mapping may change what was made here.
        guard policies.allSatisfy({ type(of: $0) == NSEntityMigrationPolicy.self }) else { return }
        if isWhole { checked.insert(ObjectIdentifier(mapping)) }
    }

    private func sourceRefs(_ mapping: NSEntityMapping) throws -> [ObjectRef] {
        guard mapping.mappingType != .removeEntityMappingType, let name = mapping.sourceEntityName else { return [] }
        var request = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
        request.includesSubentities = false
        if let expression = mapping.sourceExpression {
            var sought = expression
            // The request itself rather than all that it finds, which needs memory for all.
            if case .fetch(let request, _, countOnly: false) = expression.form { sought = request }
            let value = try evaluate(sought, of: nil, bindings(mapping, nil, nil, nil), in: mapping.name ?? "")
            if let objects = value as? [NSManagedObject] { return objects.map(\.ref) }
            guard let found = value as? NSFetchRequest<any NSFetchRequestResult> else {
                throw DescribedError(
                    .migration,
                    userInfo: [
                        NSLocalizedDescriptionKey:
                            "The source expression of \(mapping.name ?? "") gives neither objects nor a fetch request."
                    ])
            }
            request = found
        }
        return try source.refs(request)
    }

    /// The objects that a mapping made, each once.
    private func destinationRefs(_ mapping: NSEntityMapping) -> [ObjectRef] {
        guard let pairs = tables[mapping.name]?.pairs else { return [] }
        var last: ObjectRef?
        let isSorted = zip(pairs, pairs.dropFirst()).allSatisfy { $0.destination <= $1.destination }
        let refs = isSorted ? pairs.map(\.destination) : pairs.map(\.destination).sorted()
        return refs.filter { ref in
            defer { last = ref }
            return ref != last
        }
    }

    /// Objects are validated when all have been made: what a number was cut to is all that is left of it by then.
    private func checkRanges() throws {
        guard !destination.context.numbersOutOfRange.isEmpty else { return }
        let changed = destination.context.insertedObjects.union(destination.context.updatedObjects)
        let errors = changed.filter { $0.flags.contains(.numberOutOfRange) }.flatMap { $0.errorsOfRanges() }
        if let error = ValidationErrors.combined(errors) { throw error }
    }

    /// Saves what was made, and lets all objects go.
    private func flush() throws {
        try checkRanges()
        let inserted = kept == nil ? [] : destination.context.insertedObjects
        do {
            try destination.context.save()
        } catch let error as CocoaError where error.code.rawValue == NSManagedObjectConstraintMergeError {
            throw DescribedError(
                CocoaError.Code(rawValue: NSMigrationConstraintViolationError),
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "Objects of the source have values that must be unique from now on: \(error)",
                    NSUnderlyingErrorKey: error,
                ])
        }
        for entry in pending {
            tables[entry.name, default: AssociationTable()].append(
                .init(source: entry.source.ref, destination: entry.destination.ref))
        }
        pending.removeAll(keepingCapacity: true)
        if kept == nil { destination.context.reset() } else { kept?.append(contentsOf: inserted) }
        source.context.reset()
    }

    /// Registers all objects of the destination, with their values, and lets none go from now on: a policy looks for
    /// what was made before.
    private func keepAll() {
        guard kept == nil || isKeptOutdated, destination.store?.handle != nil else { return }
        isKeptOutdated = false
        do {
            var found: [NSManagedObject] = []
            for entity in destination.model.entities where entity.superentity == nil {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.includesPendingChanges = false
                request.returnsObjectsAsFaults = false
                found += try destination.context.fetch(request)
            }
            kept = found + destination.context.insertedObjects
        } catch {
            destination.context.recordReadFailure(error)
        }
    }

    // MARK: Associations

    func associate(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: NSEntityMapping) {
        if destination.objectID.isTemporaryID {
            pending.append((source, destination, mapping.name))
        } else {
            tables[mapping.name, default: AssociationTable()].append(
                .init(source: source.ref, destination: destination.ref))
        }
    }

    func destinations(of sources: [NSManagedObject]?, mapping name: String) -> [NSManagedObject] {
        guard let sources else {
            return (tables[name]?.pairs ?? []).compactMap { destination.object($0.destination) }
                + pending.filter { $0.name == name }.map(\.destination)
        }
        return sources.flatMap { object in
            (tables[name]?.destinations(of: object.ref) ?? []).compactMap { destination.object($0) }
                + pending.filter { $0.name == name && $0.source === object }.map(\.destination)
        }
    }

    func sources(of destinations: [NSManagedObject]?, mapping name: String) -> [NSManagedObject] {
        guard let destinations else {
            return (tables[name]?.pairs ?? []).compactMap { source.object($0.source) }
                + pending.filter { $0.name == name }.map(\.source)
        }
        return destinations.flatMap { object in
            (tables[name]?.sources(of: object.ref) ?? []).compactMap { source.object($0) }
                + pending.filter { $0.name == name && $0.destination === object }.map(\.source)
        }
    }

    func destinations(of sources: [NSManagedObject]) -> [NSManagedObject] {
        sources.flatMap { object in
            mapping.entityMappings.filter { $0.sourceEntityName == object.entity.name }.flatMap {
                destinations(of: [object], mapping: $0.name)
            }
        }
    }

    // MARK: Expressions

    func bindings(
        _ mapping: NSEntityMapping, _ source: NSManagedObject?, _ destination: NSManagedObject?,
        _ policy: NSEntityMigrationPolicy?
    ) -> [String: Any] {
        var bindings: [String: Any] = [NSMigrationManagerKey: manager, NSMigrationEntityMappingKey: mapping]
        bindings[NSMigrationSourceObjectKey] = source
        bindings[NSMigrationDestinationObjectKey] = destination
        bindings[NSMigrationEntityPolicyKey] = policy
        return bindings
    }

    /// The value of an expression of a mapping.
    ///
    /// - Throws: `CocoaError` 134110 for what the expression asks the manager for and there is not, with the place;
    ///   134170 for a function that the policy does not have; why objects could not be read.
    func evaluate(
        _ expression: NSExpression, of object: NSManagedObject?, _ bindings: [String: Any], in path: String
    ) throws -> Any? {
        problem = nil
        let value = try source.context.throwingReadFailures {
            try destination.context.throwingReadFailures {
                expression.evaluate(EvaluationContext(object: object, bindings: bindings))
            }
        }
        try (bindings[NSMigrationEntityPolicyKey] as? NSEntityMigrationPolicy)?.checkFunctions(in: path)
        guard let problem else { return value }
        throw DescribedError(
            .migration, userInfo: [NSLocalizedDescriptionKey: "The mapping \(path) cannot be done: \(problem)."])
    }

    /// Something is wrong with the expression that is being evaluated, which has no way to say so.
    func record(_ problem: String) {
        if self.problem == nil { self.problem = problem }
    }

    func expectMapping(_ name: String) {
        if !mapping.entityMappings.contains(where: { $0.name == name }) { record("there is no mapping \(name)") }
    }

    // MARK: The end

    func close() throws {
        try destination.close()
        isDestinationOpen = false
        try source.close()
    }

    /// Leaves nothing of the destination.
    func giveUp() {
        try? source.close()
        guard isDestinationOpen else { return }
        try? destination.close()
        destination.remove()
    }
}

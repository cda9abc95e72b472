import CoreData

/// Runs a program on the product and on the oracle, and compares them.
final class Run {
    let program: Program
    let store: RunStore
    var oracle: Oracle
    /// Two on the coordinator.
    var contexts: [NSManagedObjectContext] = []
    var child: NSManagedObjectContext?
    var current = 0
    var ids: [Int: NSManagedObjectID] = [:]
    /// What the program keeps, and what it has inserted and not saved yet.
    var held: [Int: NSManagedObject] = [:]
    var inserted: [Int: NSManagedObject] = [:]
    /// The same of the parent, while a child is in use, and what children have saved into it since.
    private var insertedBelow: [Int: NSManagedObject] = [:]
    private var handedDown: [Int] = []
    var pinned: NSManagedObjectContext?
    /// Up to where the history has been looked at, and what was stored then.
    var token: NSPersistentHistoryToken?
    var recorded: World
    var mirror: ControllerMirror?
    /// What was stored before the operation.
    private var before: World
    /// How many operations made sense.
    private(set) var count = 0

    init(_ program: Program, _ place: StorePlace) throws {
        self.program = program
        oracle = Oracle(program)
        recorded = oracle.stored
        before = oracle.stored
        store = try RunStore(place, program.model.make(), hasFollower: program.hasFollower)
        try makeContexts()
    }

    private func makeContexts() throws {
        contexts = [try store.newContext(), try store.newContext(isElsewhere: program.hasTwoCoordinators)]
        guard program.hasUndo else { return }
        for context in contexts {
            context.undoManager = UndoManager()
            context.undoManager?.groupsByEvent = false
        }
    }

    var model: RandomModel { oracle.model }

    var context: NSManagedObjectContext { child ?? contexts[current] }

    /// - Throws: ``Difference``, which names the operation.
    func run() throws {
        var index = 0
        while index < program.operations.count {
            // Everything up to the end of an event happens in one block: the end of a block would be one, too.
            try context.performAndWait {
                var isInEvent = true
                while isInEvent, index < program.operations.count {
                    let operation = program.operations[index]
                    isInEvent = !operation.endsEvent
                    before = oracle.stored
                    guard let outcome = oracle.apply(operation) else {
                        index += 1
                        continue
                    }
                    do {
                        try perform(operation, outcome)
                        if operation.endsEvent { try checkController() }
                    } catch {
                        throw Difference("operation \(index), \(operation.name): \(error)")
                    }
                    count += 1
                    index += 1
                }
            }
        }
    }

    private func perform(_ operation: Operation, _ outcome: Oracle.Outcome) throws {
        switch operation {
        case .insert, .set, .setTransient, .point, .add, .remove, .replace, .delete: edit(operation, object)
        case .endEvent: context.processPendingChanges()
        case .save: try save(outcome)
        case .rollback: rollBack()
        case .refresh(let key, let isMerging): context.refresh(object(key), mergeChanges: isMerging)
        case .refreshAll: context.refreshAllObjects()
        case .forget: held = [:]
        case .compare:
            context.processPendingChanges()
            try compareView()
        case .compareStore: try compareStore(in: store.newContext())
        case .compareFollower: try compareFollower()
        case .askFollower(let question):
            if let follower = store.follower { try ask(question, follower, oracle.stored) }
        case .ask(let question, let isNew):
            try ask(question, isNew ? store.newContext() : context, question.world(of: oracle, inNewContext: isNew))
        case .follow(let question, let section): try follow(question, section)
        case .bulk(let bulk):
            try insert(bulk)
            forgetUndo()
        case .update(let entity, let condition, let name, let value): try update(entity, condition, name, value)
        case .erase(let entity, let condition): try erase(entity, condition)
        case .diverge(let divergence): try diverge(divergence, outcome)
        case .pin: try pin()
        case .askPinned(let question):
            if let pinned, let world = oracle.pinned { try ask(question, pinned, world) }
        case .checkHistory: try checkHistory()
        case .undo: try move(context.undo)
        case .redo: try move(context.redo)
        case .migrate(let change):
            try reopen(model.make())
            // A migration changes no rows: the history says nothing of it.
            recorded = change.apply(to: recorded, model)
        case .handOver:
            mirror = nil
            forgetUndo()
            current = 1 - current
            held = [:]
            context.performAndWait { context.refreshAllObjects() }
        case .beginChild:
            context.processPendingChanges()
            forgetUndo()
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            self.child = child
            held = [:]
            (insertedBelow, inserted, handedDown) = (inserted, [:], [])
        case .endChild(let isSaving): try endChild(isSaving)
        case .reopen: try reopen()
        case .compact: try store.coordinator.persistentStores.forEach { try store.coordinator.compact($0) }
        }
    }

    /// An object as the program holds it, or as the context finds it by its ID.
    func object(_ key: Int) -> NSManagedObject {
        if let object = held[key] ?? inserted[key] { return object }
        guard let id = ids[key] else { preconditionFailure("object \(key) has no ID") }
        let object = context.object(with: id)
        if program.holdsObjects { held[key] = object }
        return object
    }

    // MARK: Edits

    /// - Parameter object: gives the objects by their keys.
    func edit(_ operation: Operation, _ object: (Int) -> NSManagedObject) {
        switch operation {
        case .insert(let key, let entity): inserted[key] = insert(key, entity)
        case .set(let key, let name, let value):
            object(key).set(value, model.attribute(name, of: entity(key)) ?? RandomModel.key)
        case .setTransient(let key, let name, let value):
            let attribute = model.allTransients[entity(key)].first { $0.name == name }
            object(key).set(value, attribute ?? RandomModel.key)
        case .point(let key, let name, let target): object(key).setValue(target.map(object), forKey: name)
        case .add(let key, let name, let target):
            let owner = object(key)
            if model.relation(name)?.isOrdered == true {
                owner.mutableOrderedSetValue(forKey: name).add(object(target))
            } else {
                owner.mutableSetValue(forKey: name).add(object(target))
            }
        case .remove(let key, let name, let target):
            let owner = object(key)
            if model.relation(name)?.isOrdered == true {
                owner.mutableOrderedSetValue(forKey: name).remove(object(target))
            } else {
                owner.mutableSetValue(forKey: name).remove(object(target))
            }
        case .replace(let key, let name, let targets):
            let objects = targets.map(object)
            let isOrdered = model.relation(name)?.isOrdered == true
            object(key).setValue(isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects), forKey: name)
        case .delete(let key):
            let object = object(key)
            object.managedObjectContext?.delete(object)
        default: break
        }
    }

    private func entity(_ key: Int) -> Int {
        (oracle.view.things[key] ?? before.things[key])?.entity ?? 0
    }

    private func insert(_ key: Int, _ entity: String) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(key, forKey: RandomModel.key.name)
        ids[key] = object.objectID
        return object
    }

    // MARK: Saves

    private func save(_ outcome: Oracle.Outcome) throws {
        switch outcome {
        case .done:
            try context.save()
            for (key, object) in inserted where oracle.view.things[key] != nil { ids[key] = object.objectID }
            if program.holdsObjects { held.merge(inserted) { a, _ in a } }
            if child != nil { handedDown += inserted.keys }
            inserted = [:]
            held = held.filter { oracle.view.things[$0.key] != nil }
            forgetUndo()
            if child == nil { try checkReferences() }
        case .refused:
            do { try context.save() } catch {
                rollBack()
                return
            }
            throw Difference("the deny rule was not followed")
        case .conflict: break
        }
    }

    private func rollBack() {
        context.rollback()
        forgetUndo()
        inserted = [:]
        held = [:]
    }

    private func endChild(_ isSaving: Bool) throws {
        guard let child else { return }
        if isSaving {
            try child.save()
            for (key, object) in inserted { ids[key] = object.objectID }
            handedDown += inserted.keys
        }
        if mirror?.context === child { mirror = nil }
        self.child = nil
        held = [:]
        inserted = insertedBelow
        contexts[current].performAndWait {
            for key in handedDown where oracle.view.things[key] != nil { inserted[key] = object(key) }
            contexts[current].processPendingChanges()
        }
        forgetUndo()
    }

    private func forgetUndo() { if child == nil { context.undoManager?.removeAllActions() } }

    private func reopen(_ model: NSManagedObjectModel? = nil) throws {
        guard store.place == .log else { return }
        held = [:]
        mirror = nil
        contexts = []
        pinned = nil
        try store.reopen(model)
        try makeContexts()
        try readIDs(from: 0)
    }

    private func readIDs(from first: Int) throws {
        for root in model.roots {
            let request = NSFetchRequest<NSManagedObject>(entityName: root.name)
            if first > 0 { request.predicate = NSPredicate(format: "key >= %@", first) }
            let context = try store.newContext()
            try context.performAndWait {
                for object in try context.fetch(request) {
                    guard let key = object.value(forKey: RandomModel.key.name) as? Int else {
                        throw Difference("an object has no key")
                    }
                    ids[key] = object.objectID
                }
            }
        }
    }

    // MARK: Many rows

    private func insert(_ bulk: Bulk) throws {
        if bulk.isBatch { try insertByBatches(bulk) } else { try insertOneByOne(bulk) }
        try readIDs(from: bulk.first)
    }

    private func insertOneByOne(_ bulk: Bulk) throws {
        for (row, entity) in bulk.entities.enumerated() {
            let object = insert(bulk.first + row, entity)
            let number = model.number(entity) ?? 0
            for column in bulk.columns(of: number, model) {
                if let attribute = model.attribute(column.name, of: number) {
                    object.set(column.value(row), attribute)
                }
            }
            if let link = bulk.link, let target = bulk.target(row, of: number, model) {
                object.setValue(self.object(target), forKey: link.name)
            }
        }
        try context.save()
    }

    private func insertByBatches(_ bulk: Bulk) throws {
        var rows: [[String: Any]] = []
        var entity = ""
        func flush() throws {
            guard !rows.isEmpty else { return }
            try context.execute(NSBatchInsertRequest(entityName: entity, objects: rows))
            rows = []
        }
        for (row, name) in bulk.entities.enumerated() {
            if name != entity { try flush() }
            entity = name
            let number = model.number(name) ?? 0
            var values: [String: Any] = [RandomModel.key.name: bulk.first + row]
            for column in bulk.columns(of: number, model) {
                let value = column.value(row).object(column.kind) ?? NSNull()
                let attribute = model.attribute(column.name, of: number)
                if let attribute, let name = attribute.composite {
                    var elements = values[name] as? [String: Any] ?? [:]
                    elements[attribute.element] = value
                    values[name] = elements
                } else {
                    values[column.name] = value
                }
            }
            if let link = bulk.link, let target = bulk.target(row, of: number, model) {
                values[link.name] = ids[target]
            }
            rows.append(values)
        }
        try flush()
        mirror = nil
        context.refreshAllObjects()
    }
}

extension NSManagedObject {
    /// Sets an attribute; an element of a composite with all others.
    fileprivate func set(_ value: Value, _ attribute: RandomModel.Attribute) {
        guard let name = attribute.composite else {
            return setValue(value.object(attribute.kind), forKey: attribute.name)
        }
        var elements = self.value(forKey: name) as? [String: Any] ?? [:]
        elements[attribute.element] = value.object(attribute.kind)
        setValue(elements, forKey: name)
    }
}

import CoreData

extension Run {
    /// Compares what the context shows.
    func compareView() throws {
        var found = World(model)
        var known: [NSManagedObjectID: Int] = [:]
        for key in oracle.view.things.keys { known[object(key).objectID] = key }
        for key in oracle.view.things.keys.sorted() { found.put(key, try read(object(key), known)) }
        try compare(found, oracle.view, "context", comparesDerived: oracle.knowsDerived)
        try compareTransients()
    }

    private func compareTransients() throws {
        for (key, values) in oracle.transients {
            guard let entity = oracle.view.things[key]?.entity else { continue }
            for attribute in model.allTransients[entity] {
                guard let wanted = values[attribute.name] else { continue }
                let found = Value(object(key).value(forKey: attribute.name), attribute.kind)
                if found != wanted {
                    throw Difference("the transient \(attribute.name) of \(key) is not \(wanted)")
                }
            }
        }
    }

    /// Compares what somebody reads who follows the writer.
    func compareFollower() throws {
        guard let follower = store.follower, oracle.stored.things.count < 1_000 else { return }
        follower.performAndWait { follower.refreshAllObjects() }
        try compareStore(in: follower)
    }

    /// Compares what a context reads from the store; each reference leads to an object that is there.
    func compareStore(in context: NSManagedObjectContext) throws {
        try context.performAndWait {
            var objects: [Int: NSManagedObject] = [:]
            var known: [NSManagedObjectID: Int] = [:]
            for object in try roots(context) {
                guard let key = object.value(forKey: RandomModel.key.name) as? Int else {
                    throw Difference("an object has no key")
                }
                objects[key] = object
                known[object.objectID] = key
            }
            var found = World(model)
            for (key, object) in objects { found.put(key, try read(object, known)) }
            try compare(found, oracle.stored, "store")
        }
    }

    /// Each reference that is stored leads to a row that is there.
    func checkReferences() throws {
        guard oracle.stored.things.count < 1_000 else { return }
        try compareStore(in: store.newContext())
    }

    private func roots(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try model.roots.flatMap { root in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: root.name))
        }
    }

    private func compare(
        _ found: World, _ wanted: World, _ what: String, comparesDerived: Bool = true
    ) throws {
        let differences = found.differences(from: wanted, comparesDerived: comparesDerived)
        if !differences.isEmpty { throw Difference("\(what): \(differences.prefix(6).joined(separator: "; "))") }
    }

    private func read(_ object: NSManagedObject, _ known: [NSManagedObjectID: Int]) throws -> World.Thing {
        guard let number = model.number(object.entity.name ?? "") else { throw Difference("an unknown entity") }
        var thing = World.Thing(entity: number)
        for attribute in model.allAttributes[number] {
            let object = object.value(forKeyPath: attribute.name)
            guard let value = Value(object, attribute.kind) else {
                throw Difference("\(attribute.name) is \(object.map { "\($0)" } ?? "nothing"), no \(attribute.kind)")
            }
            thing[attribute.name] = value
        }
        for relation in model.allRelationships[number] {
            let targets = try targets(of: object, relation).map { target in
                guard let key = known[target.objectID] else {
                    let owner = object.value(forKey: RandomModel.key.name) ?? "nil"
                    throw Difference("\(relation.name) of \(owner) leads to an object that is not there")
                }
                return key
            }
            if !targets.isEmpty { thing.links[relation.name] = targets }
        }
        return thing
    }

    private func targets(
        of object: NSManagedObject, _ relation: RandomModel.Relationship
    ) throws -> [NSManagedObject] {
        let value = object.value(forKey: relation.name)
        if !relation.isToMany { return value.flatMap { $0 as? NSManagedObject }.map { [$0] } ?? [] }
        if relation.isOrdered { return (value as? NSOrderedSet)?.array as? [NSManagedObject] ?? [] }
        return (value as? NSSet)?.allObjects as? [NSManagedObject] ?? []
    }

    // MARK: Requests

    func ask(_ question: Question, _ context: NSManagedObjectContext, _ world: World) throws {
        try context.performAndWait {
            if let table = question.table { return try ask(table, question, context, world) }
            let request = try self.request(question, context)
            let answer = question.answer(world)
            if question.countsOnly {
                let count = try context.count(for: request)
                if count != answer.count { throw Difference("count \(count), not \(answer.count)") }
                return
            }
            var keys = try context.fetch(request).map { object in
                guard let key = object.value(forKey: RandomModel.key.name) as? Int else {
                    throw Difference("an object without key was found")
                }
                return key
            }
            if question.orders == nil { keys.sort() }
            if keys != answer { throw Difference("found \(Self.text(keys)), not \(Self.text(answer))") }
        }
    }

    private func ask(
        _ table: Table, _ question: Question, _ context: NSManagedObjectContext, _ world: World
    ) throws {
        let request = NSFetchRequest<NSDictionary>(entityName: question.entity)
        complete(request, question, context)
        table.complete(request)
        // As bytes: texts that Unicode calls equivalent are different values.
        func bytes(_ row: [Value]) -> [UInt8] {
            Array(zip(table.names, row).map { "\($0.name) = \($1)" }.joined(separator: ", ").utf8)
        }
        var found = try context.fetch(request).map { row in
            bytes(
                try table.names.map { name, kind in
                    guard let value = Value(row[name], kind) else {
                        throw Difference("\(name) is \(row[name].map { "\($0)" } ?? "nothing"), no \(kind)")
                    }
                    return value
                })
        }
        var wanted = table.answer(question.answer(world), world).map(bytes)
        if question.orders == nil {
            found.sort { $0.lexicographicallyPrecedes($1) }
            wanted.sort { $0.lexicographicallyPrecedes($1) }
        }
        guard found != wanted else { return }
        func text(_ rows: [[UInt8]]) -> [String] { rows.prefix(3).map { String(decoding: $0, as: UTF8.self) } }
        throw Difference(
            "dictionaries of \(table): \(found.count), not \(wanted.count); more: "
                + "\(text(found.filter { !wanted.contains($0) })), less: "
                + "\(text(wanted.filter { !found.contains($0) }))")
    }

    private static func text(_ keys: [Int]) -> String {
        keys.count > 40 ? "\(keys.prefix(40)) and so on, \(keys.count)" : "\(keys)"
    }

    func request(
        _ question: Question, _ context: NSManagedObjectContext
    ) throws -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: question.entity)
        complete(request, question, context)
        return request
    }

    private func complete<Result: NSFetchRequestResult>(
        _ request: NSFetchRequest<Result>, _ question: Question, _ context: NSManagedObjectContext
    ) {
        request.includesSubentities = question.withSubentities
        request.fetchLimit = question.limit
        request.fetchOffset = question.offset
        request.predicate = question.condition.map { predicate($0, context) }
        if let orders = question.orders {
            request.sortDescriptors =
                orders.map { NSSortDescriptor(key: $0.path.text, ascending: $0.isAscending) }
                + [NSSortDescriptor(key: RandomModel.key.name, ascending: true)]
        }
    }

    func predicate(_ condition: Condition, _ context: NSManagedObjectContext) -> NSPredicate {
        let (format, arguments) = condition.format
        return NSPredicate(
            format: format,
            argumentArray: arguments.map { argument -> Any in
                switch argument {
                case .value(let value, let kind): value.object(kind) ?? NSNull()
                case .list(let values, let kind): values.map { $0.object(kind) ?? NSNull() }
                case .object(let key):
                    context === self.context && pinned !== context
                        ? object(key) : ids[key].flatMap { store.known($0, in: context) } ?? NSNull()
                }
            })
    }

    // MARK: Results controllers

    func follow(_ question: Question, _ section: Condition.Path?) throws {
        mirror = try ControllerMirror(question, request(question, context), context, section: section)
        try checkController()
    }

    /// What conditions and orders lead to by relationships may change unnoticed, as in Core Data; but what the
    /// controller tells leads to what it shows.
    func checkController() throws {
        guard let mirror else { return }
        if mirror.context !== context { return }
        context.processPendingChanges()
        try mirror.check(mirror.question.isLocal ? mirror.question.answer(oracle.view) : nil)
    }
}

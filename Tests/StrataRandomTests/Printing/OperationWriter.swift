/// Writes single operations as lines of a program.
struct OperationWriter {
    private let model: RandomModel
    /// After the operation.
    private let oracle: Oracle
    /// What was stored before it.
    private let before: World

    /// The function that gives objects by their keys.
    private var accessor = "at"

    init(_ model: RandomModel, _ oracle: Oracle, before: World) {
        (self.model, self.oracle, self.before) = (model, oracle, before)
    }

    func lines(_ operation: Operation, _ outcome: Oracle.Outcome) -> [String] {
        switch operation {
        case .insert(let key, let entity): return ["make(\(key), \"\(entity)\")"]
        case .set(let key, let name, let value):
            return [set(key, value, model.attribute(name, of: entity(key)) ?? RandomModel.key)]
        case .setTransient(let key, let name, let value):
            return [set(key, value, model.allTransients[entity(key)].first { $0.name == name } ?? RandomModel.key)]
        case .point(let key, let name, let target):
            return ["\(at(key)).setValue(\(target.map { at($0) } ?? "nil"), forKey: \"\(name)\")"]
        case .add(let key, let name, let target): return ["\(mutable(key, name)).add(\(at(target)))"]
        case .remove(let key, let name, let target): return ["\(mutable(key, name)).remove(\(at(target)))"]
        case .replace(let key, let name, let targets):
            let type = model.relation(name)?.isOrdered == true ? "NSOrderedSet" : "NSSet"
            let objects = targets.map { at($0) }.joined(separator: ", ")
            return ["\(at(key)).setValue(\(type)(array: [\(objects)] as [NSManagedObject]), forKey: \"\(name)\")"]
        case .delete(let key): return ["\(at(key)).managedObjectContext!.delete(\(at(key)))"]
        case .endEvent: return ["c.processPendingChanges()"]
        case .save:
            switch outcome {
            case .done: return ["try save()"]
            case .refused, .conflict:
                return ["do { try c.save(); print(\"not refused\") } catch { c.rollback(); o = [:] }"]
            }
        case .rollback: return ["c.rollback()", "o = [:]"]
        case .refresh(let key, let isMerging): return ["c.refresh(at(\(key)), mergeChanges: \(isMerging))"]
        case .refreshAll: return ["c.refreshAllObjects()"]
        case .forget: return ["o = o.filter { $0.value.objectID.isTemporaryID }"]
        case .compare: return ["c.processPendingChanges()"] + comparison(oracle.view, "c")
        case .compareStore: return comparison(oracle.stored, "stack.newBackgroundContext()")
        case .compareFollower:
            return ["followed.performAndWait { followed.refreshAllObjects() }"] + comparison(oracle.stored, "followed")
        case .askFollower(let question):
            return ask(question, true).map { $0.replacing("stack.newBackgroundContext()", with: "followed") }
        case .ask(let question, let isNew): return ask(question, isNew)
        case .follow(let question, let section):
            let path = section.map { "\"\($0.text)\"" } ?? "nil"
            return ["do {"] + request(question, false) + ["mirror = try Mirror(request, c, \(path))", "}"]
        case .bulk(let bulk): return insert(bulk)
        case .compact:
            return [
                "let all = stack.persistentStoreCoordinator",
                "for s in all.persistentStores { _ = try all.compact(s) }",
            ]
        case .update(let entity, let condition, let name, let value):
            let kind = model.number(entity).flatMap { model.attribute(name, of: $0) }?.kind ?? .string
            return ["do {", "let batch = NSBatchUpdateRequest(entityName: \"\(entity)\")"]
                + predicate(condition, "batch", false)
                + [
                    "batch.propertiesToUpdate = [\"\(name)\": "
                        + "\(value == .null ? "NSNull()" : value.literal(kind)) as Any]",
                    "batch.resultType = .updatedObjectsCountResultType",
                    "print((try c.execute(batch) as! NSBatchUpdateResult).result!)", "c.refreshAllObjects()", "}",
                ]
        case .erase(let entity, let condition):
            return ["do {", "let request = NSFetchRequest<any NSFetchRequestResult>(entityName: \"\(entity)\")"]
                + predicate(condition, "request", false)
                + [
                    "_ = try c.execute(NSBatchDeleteRequest(fetchRequest: request))", "c.refreshAllObjects()",
                    "o = [:]", "}",
                ]
        case .diverge(let divergence): return diverge(divergence)
        case .pin:
            return [
                "pinned = stack.newBackgroundContext()",
                "try pinned.performAndWait {", "    try pinned.setQueryGenerationFrom(.current)",
                "    _ = try pinned.count(for: NSFetchRequest<NSManagedObject>(entityName: \"\(model.entities[0].name)\"))",
                "}",
            ]
        case .askPinned(let question):
            return ["do {"]
                + request(question, true).map { $0.replacing("stack.newBackgroundContext()", with: "pinned") }
                + [
                    "print(try context.performAndWait { try keys(context, request) }, \"should be\", "
                        + "\"\(oracle.pinned.map { question.answer($0) } ?? [])\")", "}",
                ]
        case .checkHistory: return ["// The history is compared with what was saved."]
        case .undo: return ["c.undo()"]
        case .redo: return ["c.redo()"]
        case .migrate(let change): return ["// The store is reopened with another model: \(change)"]
        case .handOver, .beginChild, .reopen: return []
        case .endChild(let isSaving): return isSaving ? ["try save()"] : []
        }
    }

    /// What comes after the block that the event was in.
    func outside(_ operation: Operation) -> [String] {
        switch operation {
        case .handOver:
            ["current = 1 - current", "c = cs[current]", "o = [:]", "c.performAndWait { c.refreshAllObjects() }"]
        case .beginChild:
            [
                "c = NSManagedObjectContext(.privateQueue)", "c.parent = cs[current]", "o = [:]",
            ]
        case .endChild: ["c = cs[current]", "o = [:]"]
        case .reopen:
            [
                "o = [:]", "cs = []", "c = NSManagedObjectContext(.privateQueue)",
                "for s in stack.persistentStoreCoordinator.persistentStores {",
                "    try stack.persistentStoreCoordinator.remove(s)", "}", "stack = container()",
                "cs = [stack.newBackgroundContext(), stack.newBackgroundContext()]", "c = cs[current]",
                "ids = ids.compactMapValues {",
                "    stack.persistentStoreCoordinator.managedObjectID(forURIRepresentation: $0.uriRepresentation())",
                "}",
            ]
        default: []
        }
    }

    private func at(_ key: Int) -> String { "\(accessor)(\(key))" }

    private func entity(_ key: Int) -> Int { (oracle.view.things[key] ?? before.things[key])?.entity ?? 0 }

    private func set(_ key: Int, _ value: Value, _ attribute: RandomModel.Attribute) -> String {
        let literal = value.literal(attribute.kind)
        return attribute.composite == nil
            ? "\(at(key)).setValue(\(literal), forKey: \"\(attribute.name)\")"
            : "setElement(\(at(key)), \"\(attribute.composite ?? "")\", \"\(attribute.element)\", \(literal))"
    }

    private func mutable(_ key: Int, _ name: String) -> String {
        let ordered = model.relation(name)?.isOrdered == true ? "Ordered" : ""
        return "\(at(key)).mutable\(ordered)SetValue(forKey: \"\(name)\")"
    }

    private func request(_ question: Question, _ isNew: Bool) -> [String] {
        let type = question.table == nil ? "NSManagedObject" : "NSDictionary"
        var lines = ["let request = NSFetchRequest<\(type)>(entityName: \"\(question.entity)\")"]
        if !question.withSubentities { lines.append("request.includesSubentities = false") }
        if question.limit > 0 { lines.append("request.fetchLimit = \(question.limit)") }
        if question.offset > 0 { lines.append("request.fetchOffset = \(question.offset)") }
        lines.append("let context = \(isNew ? "stack.newBackgroundContext()" : "c")")
        lines += predicate(question.condition, "request", isNew)
        if let orders = question.orders {
            let texts =
                orders.map { "NSSortDescriptor(key: \"\($0.path.text)\", ascending: \($0.isAscending))" }
                + ["NSSortDescriptor(key: \"key\", ascending: true)"]
            lines.append("request.sortDescriptors = [\(texts.joined(separator: ", "))]")
        }
        return lines
    }

    private func predicate(_ condition: Condition?, _ name: String, _ isNew: Bool) -> [String] {
        guard let (format, arguments) = condition?.format else { return [] }
        let list = arguments.map { argument(_: $0, isNew) }.joined(separator: ", ")
        return [
            "\(name).predicate = NSPredicate(format: \(Value.literal(format)), argumentArray: [\(list)] as [Any])"
        ]
    }

    private func diverge(_ divergence: Divergence) -> [String] {
        var (here, there) = (self, self)
        (here.accessor, there.accessor) = ("here", "there")
        let read = Set(divergence.mine.flatMap(\.keys)).sorted().map { "c.object(with: ids[\($0)]!)" }
        let policy =
            divergence.policy == .threeWays
            ? "ThreeWayMergePolicy()" : "NSMergePolicy.\(divergence.policy.rawValue)"
        var lines = [
            "do {", "let other = cs[1 - current]", "c.refreshAllObjects()",
            "let mine: [NSManagedObject] = [\(read.joined(separator: ", "))]",
            "for object in mine { _ = object.value(forKey: \"key\") }", "try other.performAndWait {",
            "other.refreshAllObjects()",
            "func there(_ key: Int) -> NSManagedObject { other.object(with: ids[key]!) }",
        ]
        lines += divergence.theirs.flatMap { there.lines($0, .done) }
        lines += ["try other.save()", "}", "func here(_ key: Int) -> NSManagedObject { c.object(with: ids[key]!) }"]
        lines += divergence.mine.flatMap { here.lines($0, .done) }
        lines += [
            "c.mergePolicy = \(policy)", "do { try c.save() } catch { print(\"conflict\"); c.rollback() }",
            "c.mergePolicy = NSMergePolicy.error", "c.refreshAllObjects()",
            "other.performAndWait { other.refreshAllObjects() }", "withExtendedLifetime(mine) {}", "}",
        ]
        return lines
    }

    private func ask(_ question: Question, _ isNew: Bool) -> [String] {
        var lines = ["do {"] + request(question, isNew)
        let world = question.world(of: oracle, inNewContext: isNew)
        let answer = question.answer(world)
        if let table = question.table {
            let rows = table.answer(answer, world)
            return lines + table.lines + [
                "try context.performAndWait {", "    for row in try context.fetch(request) { print(row) }",
                "    print(\"should be \(rows.count):\", \(Value.literal("\(rows.prefix(60))")))", "}", "}",
            ]
        }
        lines.append("try context.performAndWait {")
        lines.append(
            question.countsOnly
                ? "    print(try context.count(for: request), \"should be\", \(answer.count))"
                : "    print(try keys(context, request), \"should be\", "
                    + (answer.count > 60 ? "\"\(answer.count)\")" : "\"\(answer)\")"))
        return lines + ["}", "}"]
    }

    private func argument(_ argument: Condition.Argument, _ isNew: Bool) -> String {
        switch argument {
        case .value(let value, let kind): value.literal(kind)
        case .list(let values, let kind): "[\(values.map { $0.literal(kind) }.joined(separator: ", "))] as [Any]"
        case .object(let key): isNew ? "context.object(with: ids[\(key)]!)" : "at(\(key))"
        }
    }

    /// Prints what the context has; what it should have is in a comment.
    private func comparison(_ world: World, _ context: String) -> [String] {
        var lines = ["do {", "let context = \(context)", "try context.performAndWait {"]
        for root in model.roots {
            lines.append(
                "    for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: \"\(root.name)\")) {")
            lines.append(
                "        print(object.entity.name!, object.dictionaryWithValues(forKeys: "
                    + "Array(object.entity.attributesByName.keys)),")
            lines.append(
                "            object.entity.relationshipsByName.mapValues { link in "
                    + "(link.isToMany ? object.value(forKey: link.name).map { Array($0 as? NSSet ?? "
                    + "($0 as! NSOrderedSet).set as NSSet) } ?? [] : object.value(forKey: link.name).map { [$0] } ?? [])"
                    + ".map { ($0 as! NSManagedObject).value(forKey: \"key\") ?? \"nothing\" } })")
            lines.append("    }")
        }
        lines += ["}", "}"]
        for (key, thing) in world.things.sorted(by: { $0.key < $1.key }).prefix(12) {
            let values = model.allAttributes[thing.entity].map { "\($0.name)=\(thing[$0.name].literal($0.kind))" }
            let links = thing.links.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.append(
                "// \(key): \(model.entities[thing.entity].name) \((values + links).joined(separator: " "))")
        }
        return lines
    }

    private func insert(_ bulk: Bulk) -> [String] {
        let once = bulk.pattern.map { "Array(repeating: \"\($0.entity)\", count: \($0.count))" }
        var lines = [
            "do {", "let once: [String] = \(once.joined(separator: " + "))",
            "let names = (0..<\(bulk.repeats)).flatMap { _ in once }",
        ]
        if bulk.isBatch {
            lines += [
                "var rows: [[String: Any]] = [], name = \"\"",
                "func flush() throws {",
                "    if !rows.isEmpty { _ = try c.execute(NSBatchInsertRequest(entityName: name, objects: rows)) }",
                "    rows = []", "}",
            ]
        }
        lines.append("for (row, entity) in names.enumerated() {")
        if bulk.isBatch {
            lines.append("    if entity != name { try flush(); name = entity }")
            lines.append("    var values: [String: Any] = [\"key\": \(bulk.first) + row]")
        } else {
            lines.append("    make(\(bulk.first) + row, entity)")
        }
        let known = Set(bulk.pattern.map(\.entity))
        for number in model.entities.indices where known.contains(model.entities[number].name) {
            lines.append("    if entity == \"\(model.entities[number].name)\" {")
            for column in bulk.columns(of: number, model) {
                let pool = column.pool.map { $0.literal(column.kind) }.joined(separator: ", ")
                let value = "([\(pool)] as [Any?])[row * \(column.stride) % \(column.pool.count)]"
                lines.append(
                    bulk.isBatch
                        ? "        put(&values, \"\(column.name)\", \(value) ?? NSNull())"
                        : "        put(at(\(bulk.first) + row), \"\(column.name)\", \(value))")
            }
            if let link = bulk.link, bulk.target(0, of: number, model) != nil {
                let target = "\(link.targets)[row % \(link.targets.count)]"
                lines.append(
                    bulk.isBatch
                        ? "        values[\"\(link.name)\"] = ids[\(target)]!"
                        : "        at(\(bulk.first) + row).setValue(at(\(target)), forKey: \"\(link.name)\")")
            }
            lines.append("    }")
        }
        if bulk.isBatch { lines.append("    rows.append(values)") }
        lines.append("}")
        if bulk.isBatch {
            lines += ["try flush()", "c.refreshAllObjects()"]
            for root in model.roots {
                lines.append(
                    "for object in try c.fetch(NSFetchRequest<NSManagedObject>(entityName: \"\(root.name)\")) "
                        + "{ ids[object.value(forKey: \"key\") as! Int] = object.objectID }")
            }
        } else {
            lines.append("try save()")
        }
        return lines + ["}"]
    }
}

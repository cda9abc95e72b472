/// Writes a trial as a Swift program that needs nothing but the product.
struct ProgramPrinter {
    private let program: Program
    private let trial: Trial
    private let result: TrialResult

    init(_ trial: Trial, _ result: TrialResult) {
        (self.trial, self.result) = (trial, result)
        program = trial.program
    }

    var text: String {
        let origin = "// STRATA_SEED=\(trial.seed) STRATA_PROFILE=\(trial.profile.rawValue), \(trial.place)"
        let head = ["// \(result)", origin] + Self.helpers + (follows ? [Self.mirror] : [])
        return (head + ["func run() throws {"] + model + store + steps + ["}", "try run()"]).joined(separator: "\n")
    }

    private static let helpers = [
        """
        import CoreData
        import Foundation

        func attribute(_ name: String, _ type: NSAttributeType, _ initial: Any? = nil) -> NSAttributeDescription {
            let made = NSAttributeDescription()
            (made.name, made.attributeType, made.defaultValue) = (name, type, initial)
            return made
        }
        func derived(_ name: String, _ expression: String) -> NSAttributeDescription {
            let made = NSDerivedAttributeDescription()
            (made.name, made.attributeType) = (name, .integer64AttributeType)
            made.derivationExpression = NSExpression(format: expression)
            return made
        }
        func relationship(
            _ name: String, _ destination: NSEntityDescription, _ maxCount: Int, _ rule: NSDeleteRule,
            ordered: Bool = false
        ) -> NSRelationshipDescription {
            let made = NSRelationshipDescription()
            (made.name, made.destinationEntity, made.maxCount, made.deleteRule) = (name, destination, maxCount, rule)
            made.isOrdered = ordered
            return made
        }
        func transient(_ made: NSAttributeDescription) -> NSAttributeDescription {
            made.isTransient = true
            return made
        }
        func composite(_ name: String, _ elements: [NSAttributeDescription]) -> NSAttributeDescription {
            let made = NSCompositeAttributeDescription()
            (made.name, made.elements) = (name, elements)
            return made
        }
        func setElement(_ object: NSManagedObject, _ name: String, _ element: String, _ value: Any?) {
            var elements = object.value(forKey: name) as? [String: Any] ?? [:]
            elements[element] = value
            object.setValue(elements, forKey: name)
        }
        func put(_ object: NSManagedObject, _ name: String, _ value: Any?) {
            let parts = name.split(separator: ".").map(String.init)
            if parts.count == 1 { return object.setValue(value, forKey: name) }
            setElement(object, parts[0], parts[1], value)
        }
        func put(_ values: inout [String: Any], _ name: String, _ value: Any) {
            let parts = name.split(separator: ".").map(String.init)
            if parts.count == 1 { return values[name] = value }
            values[parts[0]] = (values[parts[0]] as? [String: Any] ?? [:]).merging([parts[1]: value]) { $1 }
        }
        """
    ]

    private var follows: Bool {
        program.operations.contains { operation in
            if case .follow = operation { true } else { false }
        }
    }

    private static let mirror = """
        final class Mirror: NSObject, NSFetchedResultsControllerDelegate {
            let controller: NSFetchedResultsController<NSManagedObject>
            var told: [String] = []
            init(_ request: NSFetchRequest<NSManagedObject>, _ c: NSManagedObjectContext, _ path: String?) throws {
                controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: c, sectionNameKeyPath: path, cacheName: nil)
                super.init()
                try controller.performFetch()
                controller.delegate = self
                check()
            }
            func check() {
                let objects = { (section: any NSFetchedResultsSectionInfo) in
                    (section.objects as! [NSManagedObject]).map { $0.value(forKey: "key") as? Int ?? -1 } }
                print(told, "lead to", controller.sections!.map { "\\($0.name.debugDescription) \\(objects($0))" })
                told = []
            }
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
                at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
            ) {
                let key = (anObject as! NSManagedObject).value(forKey: "key") as? Int ?? -1
                told.append("\\(type) \\(key) \\(indexPath.map { "\\($0)" } ?? "-") \\(newIndexPath.map { "\\($0)" } ?? "-")")
            }
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
                didChange section: any NSFetchedResultsSectionInfo, atSectionIndex index: Int,
                for type: NSFetchedResultsChangeType
            ) {
                told.append("\\(type) section \\(section.name.debugDescription) at \\(index)")
            }
        }
        """

    private var model: [String] {
        let model = program.model
        var lines = model.entities.map { entity in
            "let \(entity.name) = NSEntityDescription(); \(entity.name).name = \"\(entity.name)\""
                + (entity.isAbstract ? "; \(entity.name).isAbstract = true" : "")
        }
        lines += model.relationships.map { relationship in
            "let \(relationship.name) = relationship(\"\(relationship.name)\", \(relationship.destination), "
                + "\(relationship.isToMany ? 0 : 1), .\(relationship.rule.rawValue)DeleteRule"
                + "\(relationship.isOrdered ? ", ordered: true" : ""))"
        }
        lines += model.relationships.compactMap { relationship in
            relationship.inverse.map { "\(relationship.name).inverseRelationship = \($0)" }
        }
        lines += model.entities.map { entity in
            let all = (entity.parent == nil ? [RandomModel.key] : []) + entity.attributes
            var attributes = all.filter { $0.composite == nil }.map { Self.attribute($0, $0.name) }
            for (name, elements) in Dictionary(grouping: all.filter { $0.composite != nil }, by: { $0.composite ?? "" })
            {
                let list = elements.map { Self.attribute($0, $0.element) }.joined(separator: ", ")
                attributes.append("composite(\"\(name)\", [\(list)])")
            }
            attributes += entity.transients.map { "transient(\(Self.attribute($0, $0.name)))" }
            let links = model.relationships.filter { $0.owner == entity.name }.map(\.name)
            return "\(entity.name).properties = [\((attributes + links).joined(separator: ", "))]"
        }
        for entity in model.entities {
            let below = model.entities.filter { $0.parent == entity.name }.map(\.name)
            if !below.isEmpty { lines.append("\(entity.name).subentities = [\(below.joined(separator: ", "))]") }
        }
        for entity in model.entities where !entity.indexes.isEmpty {
            let indexes = entity.indexes.enumerated().map { number, names in
                "NSFetchIndexDescription(name: \"index\(number)\", elements: ["
                    + names.map {
                        "NSFetchIndexElementDescription(property: \(entity.name).propertiesByName[\"\($0)\"]!, "
                            + "collationType: .binary)"
                    }.joined(separator: ", ") + "])"
            }
            lines.append("\(entity.name).indexes = [\(indexes.joined(separator: ", "))]")
        }
        lines.append("let model = NSManagedObjectModel()")
        lines.append("model.entities = [\(model.entities.map(\.name).joined(separator: ", "))]")
        return lines
    }

    private static func attribute(_ attribute: RandomModel.Attribute, _ name: String) -> String {
        if let counts = attribute.counts { return "derived(\"\(name)\", \"\(counts).@count\")" }
        let initial = attribute.initial == .null ? "" : ", \(attribute.initial.literal(attribute.kind))"
        return "attribute(\"\(name)\", \(attribute.kind.typeName)\(initial))"
    }

    private var store: [String] {
        let url =
            trial.place == .memory
            ? "URL(fileURLWithPath: \"/dev/null\")"
            : "FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)"
        return [
            "let url = \(url)",
            "func container() -> NSPersistentContainer {",
            "    let made = NSPersistentContainer(name: \"S\", managedObjectModel: model)",
            "    made.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]",
            "    made.loadPersistentStores { _, error in if let error { fatalError(\"\\(error)\") } }",
            "    return made", "}",
            "var stack = container()", "var cs = [stack.newBackgroundContext(), stack.newBackgroundContext()]",
            program.hasFollower
                ? "// The follower has opened the store read-only before it was opened to be written." : "",
            "var followed = stack.newBackgroundContext()", "var pinned = stack.newBackgroundContext()",
            "var current = 0", "var c = cs[0]",
            program.hasTwoCoordinators ? "// The second context is on a coordinator of its own." : "",
            program.hasUndo
                ? "for c in cs { c.undoManager = UndoManager(); c.undoManager!.groupsByEvent = false }" : "",

            follows ? "var mirror: Mirror?" : "",
            "var o: [Int: NSManagedObject] = [:]", "var ids: [Int: NSManagedObjectID] = [:]",
            "func at(_ key: Int) -> NSManagedObject {",
            program.holdsObjects
                ? "    if o[key] == nil { o[key] = c.object(with: ids[key]!) }; return o[key]!"
                : "    o[key] ?? c.object(with: ids[key]!)", "}",
            "func make(_ key: Int, _ entity: String) {",
            "    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: c)",
            "    object.setValue(key, forKey: \"key\")", "    o[key] = object", "    ids[key] = object.objectID", "}",
            "func save() throws {", "    try c.save()",
            "    for (key, object) in o { ids[key] = object.objectID }",
            program.holdsObjects ? "}" : "    o = [:]\n}",
            "func keys(_ c: NSManagedObjectContext, _ request: NSFetchRequest<NSManagedObject>) throws -> [Int] {",
            "    try c.fetch(request).map { $0.value(forKey: \"key\") as? Int ?? -1 }", "}",
        ]
    }

    private var steps: [String] {
        var (lines, isOpen, oracle) = ([String](), false, Oracle(program))
        var isFollowing = false
        for operation in program.operations {
            let before = oracle.stored
            guard let outcome = oracle.apply(operation) else { continue }
            if !isOpen { lines.append("try c.performAndWait {") }
            isOpen = true
            if case .follow = operation { isFollowing = true }
            let writer = OperationWriter(oracle.model, oracle, before: before)
            lines += writer.lines(operation, outcome).map { "    \($0)" }
            if isFollowing, operation.endsEvent { lines.append("    c.processPendingChanges(); mirror?.check()") }
            if operation.endsEvent {
                lines.append("}")
                isOpen = false
                lines += writer.outside(operation)
            }
        }
        return lines + (isOpen ? ["}"] : [])
    }
}

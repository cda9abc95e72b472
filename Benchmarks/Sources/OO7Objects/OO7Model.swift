import Strata

/// The model of OO7, built in code.
enum OO7Model {
    static let shared: NSManagedObjectModel = {
        let module = entity("Module", of: Module.self)
        let manual = entity("Manual", of: Manual.self)
        let assembly = entity("Assembly", of: Assembly.self)
        let complexAssembly = entity("ComplexAssembly", of: ComplexAssembly.self)
        let baseAssembly = entity("BaseAssembly", of: BaseAssembly.self)
        let composite = entity("CompositePart", of: CompositePart.self)
        let document = entity("Document", of: Document.self)
        let part = entity("AtomicPart", of: AtomicPart.self)
        let connection = entity("Connection", of: Connection.self)
        assembly.isAbstract = true
        assembly.subentities = [complexAssembly, baseAssembly]

        let design = [("id", .integer64AttributeType), ("type", .stringAttributeType)] + numbers("buildDate")
        let texts = [("id", .integer64AttributeType)] + strings("title", "text")
        module.properties = attributes(design)
        manual.properties = attributes(texts)
        assembly.properties = attributes(design)
        composite.properties = attributes(design)
        document.properties = attributes(texts)
        part.properties = attributes(design + numbers("x", "y", "docId"))
        connection.properties = attributes(strings("type") + numbers("length"))

        relate(module, .one("manual", .cascadeDeleteRule), manual, .one("module"))
        relate(module, .one("designRoot"), complexAssembly, .one("rootOf"))
        relate(module, .many("assemblies", .cascadeDeleteRule), assembly, .one("module"))
        relate(complexAssembly, .many("subAssemblies", .cascadeDeleteRule), assembly, .one("superAssembly"))
        relate(baseAssembly, .many("components"), composite, .many("usedIn"))
        relate(composite, .one("documentation", .cascadeDeleteRule), document, .one("part"))
        relate(composite, .many("parts", .cascadeDeleteRule), part, .one("partOf"))
        relate(composite, .one("rootPart"), part, .one("rootOf"))
        relate(part, .many("to", .cascadeDeleteRule), connection, .one("from"))
        relate(part, .many("from", .cascadeDeleteRule), connection, .one("to"))

        for (entity, names) in [
            (assembly, ["id"]), (composite, ["id"]), (document, ["title"]), (part, ["id", "buildDate"]),
        ] {
            entity.indexes = names.map { index($0, of: entity) }
        }
        let model = NSManagedObjectModel()
        model.entities = [
            module, manual, assembly, complexAssembly, baseAssembly, composite, document, part, connection,
        ]
        return model
    }()

    private static func entity(_ name: String, of type: NSManagedObject.Type) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = String(reflecting: type)
        return entity
    }

    private static func numbers(_ names: String...) -> [(String, NSAttributeType)] {
        names.map { ($0, .integer64AttributeType) }
    }

    private static func strings(_ names: String...) -> [(String, NSAttributeType)] {
        names.map { ($0, .stringAttributeType) }
    }

    private static func attributes(_ list: [(String, NSAttributeType)]) -> [NSPropertyDescription] {
        list.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = false
            return attribute
        }
    }

    /// One side of a relationship.
    private struct End {
        let name: String
        let isToMany: Bool
        let deleteRule: NSDeleteRule

        static func one(_ name: String, _ rule: NSDeleteRule = .nullifyDeleteRule) -> End {
            End(name: name, isToMany: false, deleteRule: rule)
        }

        static func many(_ name: String, _ rule: NSDeleteRule = .nullifyDeleteRule) -> End {
            End(name: name, isToMany: true, deleteRule: rule)
        }
    }

    /// Adds a relationship and its inverse.
    private static func relate(
        _ source: NSEntityDescription, _ end: End, _ destination: NSEntityDescription, _ inverseEnd: End
    ) {
        let relationship = relationship(end, to: destination)
        let inverse = Self.relationship(inverseEnd, to: source)
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
        source.properties.append(relationship)
        destination.properties.append(inverse)
    }

    private static func relationship(
        _ end: End, to destination: NSEntityDescription
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = end.name
        relationship.destinationEntity = destination
        relationship.maxCount = end.isToMany ? 0 : 1
        relationship.deleteRule = end.deleteRule
        return relationship
    }

    private static func index(_ name: String, of entity: NSEntityDescription) -> NSFetchIndexDescription {
        let elements = entity.properties.filter { $0.name == name }
            .map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
        return NSFetchIndexDescription(name: "by_\(name)", elements: elements)
    }
}

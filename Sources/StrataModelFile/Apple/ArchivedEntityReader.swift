import Foundation

/// Makes a document's entities of archived descriptions.
struct ArchivedEntityReader {
    let entities: [String: ArchivedObject]
    private(set) var composites: [String: ModelDocument.Composite] = [:]
    private(set) var notes: [String] = []

    /// Keys that say nothing that another key does not say as well.
    private static let knownKeys: Set<String> = [
        "NSEntityName", "NSClassNameForEntity", "NSCompoundIndexes", "NSFetchIndexDescriptions", "NSIsAbstract",
        "NSManagedObjectModel", "NSProperties", "NSRenamingIdentifier", "NSSubentities", "NSSuperentity",
        "NSUniqueTuples", "NSUserInfo", "NSVersionHashModifier", "NSVersionHash",
        "NSCoreSpotlightDisplayNameExpression",
    ]

    init(entities: [String: ArchivedObject]) {
        self.entities = entities
    }

    mutating func entity(_ name: String) throws -> ModelDocument.Entity {
        guard let object = entities[name] else { throw ArchiveError("the entity \(name) is missing") }
        do {
            return try read(object, name)
        } catch let error as ArchiveError {
            throw ArchiveError("entity \(name): \(error.description)")
        }
    }

    private mutating func read(_ object: ArchivedObject, _ name: String) throws -> ModelDocument.Entity {
        var entity = ModelDocument.Entity(name: name)
        for key in object.keys where !Self.knownKeys.contains(key) {
            notes.append("entity \(name): \(key) is not read")
        }
        try readClass(object, &entity)
        entity.isAbstract = try object.flag("NSIsAbstract")
        entity.parentName = try object.object("NSSuperentity")?.string("NSEntityName")
        let renaming = try object.string("NSRenamingIdentifier")
        entity.renamingIdentifier = renaming == name ? nil : renaming
        entity.versionHashModifier = try object.string("NSVersionHashModifier")
        if case .data(let hash) = try object.value("NSVersionHash") { entity.versionHash = hash }
        entity.userInfo = try ArchivedConstants.dictionary(object.entries("NSUserInfo"))
        entity.uniquenessConstraints = try tuples(object, "NSUniqueTuples")
        entity.indexes = try indexes(object)
        // Each index that a property has of its own is among these, too, in files that have both.
        entity.compoundIndexes = entity.indexes.isEmpty ? try tuples(object, "NSCompoundIndexes") : []
        if let expression = try object.object("NSCoreSpotlightDisplayNameExpression") {
            entity.displayNameExpression = try ArchivedExpression.format(expression)
        }
        let inherited = try inheritedProperties(object)
        for entry in try object.entries("NSProperties").sorted(by: { $0.key < $1.key }) {
            // Stores keep every property with every entity that has it.
            guard case .object(let property) = entry.value, !inherited.contains(entry.key) else { continue }
            try add(property, entry.key, to: &entity)
        }
        return entity
    }

    private func readClass(_ object: ArchivedObject, _ entity: inout ModelDocument.Entity) throws {
        guard let name = try object.string("NSClassNameForEntity"), !name.isEmpty, name != "NSManagedObject" else {
            return
        }
        // A type of Swift is named with its module, one of the global namespace without.
        let parts = name.split(separator: ".", maxSplits: 1)
        entity.className = String(parts[parts.count - 1])
        entity.classModule = parts.count == 2 ? String(parts[0]) : nil
    }

    private func inheritedProperties(_ object: ArchivedObject) throws -> Set<String> {
        var names: Set<String> = []
        var seen: Set<Int> = [object.uid]
        var parent = try object.object("NSSuperentity")
        while let current = parent {
            guard seen.insert(current.uid).inserted else { throw ArchiveError("the entity inherits from itself") }
            for entry in try current.entries("NSProperties") { names.insert(entry.key) }
            parent = try current.object("NSSuperentity")
        }
        return names
    }

    /// Lists of property names; where an archive has descriptions, their names.
    private func tuples(_ object: ArchivedObject, _ key: String) throws -> [[String]] {
        var tuples: [[String]] = []
        for tuple in try object.objects(key) {
            var names: [String] = []
            for element in try tuple.elements() {
                if case .object(let property) = element, let name = try property.string("NSPropertyName") {
                    names.append(name)
                } else if let name = try element.text() {
                    names.append(name)
                } else {
                    throw ArchiveError("'\(key)' names something that is no property")
                }
            }
            if !names.isEmpty { tuples.append(names) }
        }
        return tuples
    }

    private func indexes(_ object: ArchivedObject) throws -> [ModelDocument.FetchIndex] {
        var indexes: [ModelDocument.FetchIndex] = []
        for description in try object.objects("NSFetchIndexDescriptions") {
            var index = ModelDocument.FetchIndex(name: try description.string("NSIndexName") ?? "")
            if let predicate = try description.object("NSPartialIndexPredicate") {
                index.partialPredicate = try ArchivedPredicate.format(predicate)
            }
            for part in try description.objects("NSIndexElements") {
                var element = ModelDocument.FetchIndex.Element(propertyName: try part.string("NSPropertyName"))
                if let property = try part.object("NSProperty"), element.propertyName == nil {
                    element.propertyName = try property.string("NSPropertyName")
                    if let expression = try property.object("NSExpression") {
                        element.propertyName = nil
                        element.expression = try ArchivedExpression.format(expression)
                        element.expressionType = try property.integer("NSExpressionResultType")
                            .flatMap { ModelDocument.AttributeType(number: $0) }
                    }
                }
                element.isAscending = try part.flag("NSAscending")
                element.isRTree = try part.integer("NSFetchIndexElementType") == 1
                index.elements.append(element)
            }
            indexes.append(index)
        }
        return indexes
    }

    private mutating func add(
        _ property: ArchivedObject, _ name: String, to entity: inout ModelDocument.Entity
    ) throws {
        let path = "entity \(entity.name): property \(name)"
        do {
            var reader = ArchivedPropertyReader(property, name, path, place: "\(entity.name).\(name)")
            switch property.className {
            case "NSRelationshipDescription": entity.relationships.append(try reader.relationship())
            case "NSFetchedPropertyDescription": entity.fetchedProperties.append(try reader.fetchedProperty())
            case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
                entity.attributes.append(try reader.attribute())
            default: notes.append("\(path): a \(property.className) is not read")
            }
            notes += reader.notes
            composites.merge(reader.composites) { first, _ in first }
        } catch let error as ArchiveError {
            throw ArchiveError("property \(name): \(error.description)")
        }
    }
}

extension ModelDocument.AttributeType {
    /// The type with a raw value of `NSAttributeType`.
    package init?(number: Int) {
        switch number {
        case 0: self = .undefined
        case 100: self = .integer16
        case 200: self = .integer32
        case 300: self = .integer64
        case 400: self = .decimal
        case 500: self = .double
        case 600: self = .float
        case 700: self = .string
        case 800: self = .boolean
        case 900: self = .date
        case 1000: self = .binary
        case 1100: self = .uuid
        case 1200: self = .uri
        case 1800: self = .transformable
        case 2000: self = .objectID
        case 2100: self = .composite
        default: return nil
        }
    }
}

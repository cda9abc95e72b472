import Foundation

@testable import Strata

/// Builds models from the lines of ``ModelShapeFixtures``.
struct ModelShapeParser {
    private let model = NSManagedObjectModel()
    private var entities: [String: NSEntityDescription] = [:]
    private var order: [NSEntityDescription] = []
    private var parents: [(child: String, parent: String)] = []
    private var inverses: [(relationship: NSRelationshipDescription, path: String)] = []
    private var destinations: [(relationship: NSRelationshipDescription, entity: String)] = []
    private var indexes: [(index: NSFetchIndexDescription, entity: NSEntityDescription, names: [String])] = []
    private var configurations: [(name: String, members: [String])] = []

    static func model(_ text: String) -> NSManagedObjectModel {
        var parser = ModelShapeParser()
        for line in text.split(separator: "\n") { parser.parse(String(line)) }
        return parser.finish()
    }

    private mutating func parse(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        var options: [String: String] = [:]
        for word in words.dropFirst() {
            let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
            options[pair[0]] = pair.count == 2 ? pair[1] : ""
        }
        switch words[0] {
        case "entity": parseEntity(words[1], options)
        case "attribute": parseAttribute(words[1], words[2], options, isElement: line.hasPrefix("    "))
        case "relationship": parseRelationship(words[1], words[2], options)
        case "fetched":
            let property = NSFetchedPropertyDescription()
            property.name = words[1]
            property.template = FetchRequestTemplate(entityName: words[2])
            order.last?.properties.append(property)
        case "unique": order.last?.uniquenessConstraints.append(Array(words.dropFirst()))
        case "compound": order.last?.legacyCompoundIndexes.append(Array(words.dropFirst()))
        case "index":
            guard let entity = order.last else { return }
            let index = NSFetchIndexDescription(name: words[1], elements: nil)
            entity.indexes.append(index)
            indexes.append((index, entity, Array(words.dropFirst(2))))
        case "configuration": configurations.append((words[1], Array(words.dropFirst(2))))
        case "template":
            var template = FetchRequestTemplate(entityName: words[2])
            if options["predicate"] != nil { template.predicate = NSPredicate(format: "p0 == $VALUE") }
            model.templates[words[1]] = template
        case "version": model.versionIdentifiers.insert(words[1])
        default: preconditionFailure("what is '\(line)'?")
        }
    }

    private mutating func parseEntity(_ name: String, _ options: [String: String]) {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = options["class"]
        entity.isAbstract = options["abstract"] != nil
        entity.versionHashModifier = options["modifier"]
        entity.renamingIdentifier = options["renaming"]
        entity.userInfo = Self.userInfo(options)
        if let parent = options["parent"] { parents.append((name, parent)) }
        entities[name] = entity
        order.append(entity)
    }

    private func parseAttribute(_ name: String, _ type: String, _ options: [String: String], isElement: Bool) {
        let attribute = type == "composite" ? NSCompositeAttributeDescription() : NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = Self.types[type] ?? .undefinedAttributeType
        apply(options, to: attribute)
        attribute.isTransient = options["transient"] != nil
        attribute.allowsExternalBinaryDataStorage = options["external"] != nil
        attribute.preservesValueInHistoryOnDeletion = options["preserved"] != nil
        attribute.storedInExternalRecord = options["truth"] != nil
        attribute.hasOwnIndex = options["indexed"] != nil
        attribute.valueTransformerName = options["transformer"]
        attribute.attributeValueClassName = options["class"]
        attribute.defaultValue = options["default"].map { Self.value($0, attribute.attributeType) }
        if let minimum = options["minimum"] {
            attribute.setValidationPredicates(
                [NSPredicate(format: "SELF >= \(minimum)")], withValidationWarnings: ["too small"])
        }
        if isElement, let composite = order.last?.properties.last as? NSCompositeAttributeDescription {
            composite.elements.append(attribute)
        } else {
            order.last?.properties.append(attribute)
        }
    }

    private mutating func parseRelationship(_ name: String, _ destination: String, _ options: [String: String]) {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        apply(options, to: relationship)
        relationship.minCount = options["minimum"].flatMap { Int($0) } ?? 0
        relationship.maxCount = options["maximum"].flatMap { Int($0) } ?? 0
        relationship.isOrdered = options["ordered"] != nil
        relationship.deleteRule =
            switch options["rule"] {
            case "cascade": .cascadeDeleteRule
            case "deny": .denyDeleteRule
            case "none": .noActionDeleteRule
            default: .nullifyDeleteRule
            }
        destinations.append((relationship, destination))
        if let inverse = options["inverse"] { inverses.append((relationship, inverse)) }
        order.last?.properties.append(relationship)
    }

    private func apply(_ options: [String: String], to property: NSPropertyDescription) {
        property.isOptional = options["optional"] != nil
        property.versionHashModifier = options["modifier"]
        property.renamingIdentifier = options["renaming"]
        property.userInfo = Self.userInfo(options)
    }

    private func finish() -> NSManagedObjectModel {
        for (child, parent) in parents {
            if let child = entities[child] { entities[parent]?.subentities.append(child) }
        }
        for (relationship, entity) in destinations { relationship.destinationEntity = entities[entity] }
        for (relationship, path) in inverses {
            let parts = path.split(separator: ".").map(String.init)
            relationship.inverseRelationship = entities[parts[0]]?.relationshipsByName[parts[1]]
        }
        for (index, entity, names) in indexes {
            index.elements = names.compactMap { entity.propertiesByName[$0] }
                .map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
        }
        model.entities = order
        for (name, members) in configurations {
            model.setEntities(members.compactMap { entities[$0] }, forConfigurationName: name)
        }
        return model
    }

    private static func userInfo(_ options: [String: String]) -> [AnyHashable: Any]? {
        options["userInfo"].flatMap { Int($0) }.map { count in
            Dictionary(uniqueKeysWithValues: (0..<count).map { (AnyHashable("key \($0)"), "value \($0)" as Any) })
        }
    }

    private static func value(_ text: String, _ type: NSAttributeType) -> Any {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: Int(text) ?? 0
        case .doubleAttributeType, .floatAttributeType: Double(text) ?? 0
        case .decimalAttributeType: NSDecimalNumber(string: text)
        case .booleanAttributeType: text == "YES"
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(text) ?? 0)
        case .UUIDAttributeType: UUID(uuidString: text) ?? UUID()
        default: text
        }
    }

    private static let types: [String: NSAttributeType] = [
        "int16": .integer16AttributeType, "int32": .integer32AttributeType, "int64": .integer64AttributeType,
        "decimal": .decimalAttributeType, "double": .doubleAttributeType, "float": .floatAttributeType,
        "string": .stringAttributeType, "boolean": .booleanAttributeType, "date": .dateAttributeType,
        "binary": .binaryDataAttributeType, "uuid": .UUIDAttributeType, "uri": .URIAttributeType,
        "transformable": .transformableAttributeType, "composite": .compositeAttributeType,
    ]
}

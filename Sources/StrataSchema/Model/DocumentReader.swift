import Foundation
import StrataModelFile

/// Makes the descriptions of a model of a ``ModelDocument``. Whatever would stop the program as a programmer's mistake
/// is an error here, since documents come from files.
struct DocumentReader {
    /// Elements of composites are counted for each attribute that has them.
    static let maximumAttributeCount = 100_000

    let document: ModelDocument
    let module: String?
    private var entities: [String: NSEntityDescription] = [:]
    private var composites: [String: ModelDocument.Composite] = [:]
    private let attributes = PartCounter()

    /// Composites are copied into each attribute that has them, which a hostile file makes a great many of.
    private final class PartCounter {
        var count = 0
    }

    init(_ document: ModelDocument, module: String?) {
        self.document = document
        self.module = module
    }

    mutating func read(into model: NSManagedObjectModel) throws {
        try document.composites.forEach { composite in
            guard composites.updateValue(composite, forKey: composite.name) == nil else {
                throw invalid("two composites are named '\(composite.name)'")
            }
        }
        let read = try document.entities.map { try readEntity($0) }
        try linkParents()
        for entity in document.entities {
            try linkRelationships(of: entity)
            try readIndexes(of: entity)
        }
        model.entities = read
        model.versionIdentifiers = Set(document.versionIdentifiers.map { AnyHashable($0) })
        model.localizationDictionary = document.localization
        try readConfigurations(into: model)
        for request in document.fetchRequests {
            let template = try readTemplate(request, label: "fetch request '\(request.name)'")
            guard model.templates.updateValue(template, forKey: request.name) == nil else {
                throw invalid("two fetch requests are named '\(request.name)'")
            }
        }
    }

    func invalid(_ message: String) -> ModelError {
        ModelError(.invalidModel, message)
    }

    // MARK: Entities

    private mutating func readEntity(_ entity: ModelDocument.Entity) throws -> NSEntityDescription {
        let read = NSEntityDescription()
        read.name = entity.name
        read.managedObjectClassName = entity.qualifiedClassName(inModule: module)
        read.isAbstract = entity.isAbstract
        read.renamingIdentifier = entity.renamingIdentifier
        read.versionHashModifier = entity.versionHashModifier
        read.userInfo = DocumentValues.userInfo(entity.userInfo)
        read.uniquenessConstraints = entity.uniquenessConstraints
        read.legacyCompoundIndexes = entity.compoundIndexes
        if let expression = entity.displayNameExpression {
            read.coreSpotlightDisplayNameExpression = try readExpression(expression, label: "entity '\(entity.name)'")
        }
        var properties: [NSPropertyDescription] = []
        for attribute in entity.attributes {
            properties.append(try readAttribute(attribute, owner: entity.name))
        }
        for relationship in entity.relationships {
            properties.append(try readRelationship(relationship, owner: entity.name))
        }
        for property in entity.fetchedProperties {
            properties.append(try readFetchedProperty(property, owner: entity.name))
        }
        var names = Set<String>()
        for property in properties where !names.insert(property.name).inserted {
            throw invalid("entity '\(entity.name)' has two properties named '\(property.name)'")
        }
        read.properties = properties
        guard entities.updateValue(read, forKey: entity.name) == nil else {
            throw invalid("two entities are named '\(entity.name)'")
        }
        return read
    }

    private func linkParents() throws {
        for entity in document.entities {
            guard let parentName = entity.parentName, let child = entities[entity.name] else { continue }
            guard let parent = entities[parentName] else {
                throw invalid("entity '\(entity.name)' inherits from '\(parentName)', which is not in the model")
            }
            guard !parent.isKindOf(entity: child) else {
                throw invalid("entity '\(entity.name)' would inherit from itself")
            }
            parent.subentities.append(child)
        }
    }

    private func linkRelationships(of entity: ModelDocument.Entity) throws {
        let own = entities[entity.name]?.ownPropertiesByName ?? [:]
        for relationship in entity.relationships {
            guard let read = own[relationship.name] as? NSRelationshipDescription else { continue }
            let label = "relationship '\(entity.name).\(relationship.name)'"
            if !relationship.destinationName.isEmpty {
                guard let destination = entities[relationship.destinationName] else {
                    throw invalid("\(label) leads to '\(relationship.destinationName)', which is not in the model")
                }
                read.destinationEntity = destination
            }
            guard let inverseName = relationship.inverseName else { continue }
            let ownerName = relationship.inverseEntityName ?? relationship.destinationName
            guard let inverse = entities[ownerName].flatMap({ find(inverseName, in: $0) }) else {
                throw invalid("the inverse of \(label), '\(ownerName).\(inverseName)', is not in the model")
            }
            read.inverseRelationship = inverse
        }
    }

    /// The relationship of this name that an entity declares or inherits.
    private func find(_ name: String, in entity: NSEntityDescription) -> NSRelationshipDescription? {
        var next: NSEntityDescription? = entity
        while let candidate = next {
            if let found = candidate.ownPropertiesByName[name] { return found as? NSRelationshipDescription }
            next = candidate.superentity
        }
        return nil
    }

    private func readIndexes(of entity: ModelDocument.Entity) throws {
        guard let read = entities[entity.name], !entity.indexes.isEmpty else { return }
        let properties = read.propertiesByName
        read.indexes = try entity.indexes.map { index in
            let label = "index '\(index.name)' of entity '\(entity.name)'"
            let elements = try index.elements.map { element in
                let property: NSPropertyDescription
                if let name = element.propertyName {
                    guard let found = properties[name] else {
                        throw invalid("\(label) names '\(name)', which is no property")
                    }
                    property = found
                } else {
                    property = try readIndexExpression(element, label: label)
                }
                let type: NSFetchIndexElementType = element.isRTree ? .rTree : .binary
                let read = NSFetchIndexElementDescription(property: property, collationType: type)
                read.isAscending = element.isAscending
                return read
            }
            let description = NSFetchIndexDescription(name: index.name, elements: elements)
            description.partialIndexPredicate = try index.partialPredicate.map { try readPredicate($0, label: label) }
            return description
        }
    }

    private func readIndexExpression(
        _ element: ModelDocument.FetchIndex.Element, label: String
    ) throws -> NSExpressionDescription {
        guard let expression = element.expression else {
            throw invalid("\(label) has an element with neither a property nor an expression")
        }
        let description = NSExpressionDescription()
        description.name = "expression"
        description.expression = try readExpression(expression, label: label)
        description.expressionResultType = (element.expressionType ?? .undefined).descriptionType
        return description
    }

    private func readConfigurations(into model: NSManagedObjectModel) throws {
        var names = Set<String>()
        for configuration in document.configurations {
            guard names.insert(configuration.name).inserted else {
                throw invalid("two configurations are named '\(configuration.name)'")
            }
            let members = try configuration.entityNames.map { name in
                guard let entity = entities[name] else {
                    throw invalid("configuration '\(configuration.name)' has '\(name)', which is not in the model")
                }
                return entity
            }
            model.setEntities(members, forConfigurationName: configuration.name)
        }
    }

    /// The composite of a name, if there is one.
    func composite(named name: String) -> ModelDocument.Composite? { composites[name] }

    /// - Throws: ``ModelError`` when there are too many attributes.
    func countAttribute() throws {
        attributes.count += 1
        guard attributes.count <= Self.maximumAttributeCount else {
            throw invalid("it has over \(Self.maximumAttributeCount) attributes")
        }
    }
}

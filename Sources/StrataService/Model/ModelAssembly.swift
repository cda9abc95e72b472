import Foundation
import Strata

/// Makes the descriptions of a model in code, and finds everything that is wrong with it.
struct ModelAssembly {
    private(set) var descriptions: [NSEntityDescription] = []
    private var problems: [String] = []
    /// By name.
    private var entities: [String: NSEntityDescription] = [:]
    /// All entities, each after the one that it inherits from.
    private var declared: [(entity: Entity, description: NSEntityDescription)] = []

    init(_ entities: [Entity]) throws {
        for entity in entities { _ = declare(entity) }
        // Inherited properties are known when those of the parent are.
        for (entity, description) in declared { addProperties(of: entity, to: description) }
        for (entity, description) in declared { connect(entity, description) }
        for (entity, description) in declared { addIndexes(of: entity, to: description) }
        guard problems.isEmpty else {
            throw ModelError(.invalidModel, "the model in code contradicts itself: \(problems.joined(separator: "; "))")
        }
        descriptions = declared.map(\.description)
    }

    /// Whether key paths and predicates can have it.
    static func isName(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first else { return false }
        return (first == "_" || first.properties.isAlphabetic)
            && name.unicodeScalars.allSatisfy {
                $0 == "_" || $0.properties.isAlphabetic || $0.properties.numericType != nil
            }
    }

    // MARK: Entities

    private mutating func declare(_ entity: Entity) -> NSEntityDescription {
        let description = NSEntityDescription()
        description.name = entity.name
        description.isAbstract = entity.isAbstract
        description.renamingIdentifier = entity.renamingIdentifier
        if let type = entity.objectClass {
            ManagedObjectClasses.register(type)
            description.managedObjectClassName = String(reflecting: type)
        } else if let name = entity.className {
            description.managedObjectClassName = name
        }
        if !Self.isName(entity.name) {
            problems.append("\"\(entity.name)\" is no name of an entity: letters, digits and _ make one")
        }
        if entities.updateValue(description, forKey: entity.name) != nil {
            problems.append("two entities are named \(entity.name)")
        }
        declared.append((entity, description))
        description.subentities = entity.members.compactMap { member in
            guard case .subentity(let child) = member else { return nil }
            return declare(child)
        }
        return description
    }

    private mutating func addProperties(of entity: Entity, to description: NSEntityDescription) {
        var names = Set(description.superentity?.propertiesByName.keys.map { $0 } ?? [])
        var properties: [NSPropertyDescription] = []
        for member in entity.members {
            let property: NSPropertyDescription
            switch member {
            case .attribute(let attribute):
                var assembly = AttributeAssembly(attribute, of: entity.name)
                property = assembly.description()
                problems += assembly.problems
            case .relationship(let relationship): property = self.description(of: relationship, entity)
            case .index, .unique, .subentity: continue
            }
            if !Self.isName(property.name) {
                problems.append("\(entity.name).\(property.name) is no name: letters, digits and _ make one")
            }
            guard names.insert(property.name).inserted else {
                problems.append("\(entity.name) has two properties named \(property.name), inherited ones counted")
                continue
            }
            properties.append(property)
        }
        description.properties = properties
    }

    // MARK: Relationships

    private mutating func description(
        of relationship: Relationship, _ entity: Entity
    ) -> NSRelationshipDescription {
        let destination = relationship.destination
        let description = NSRelationshipDescription()
        description.name = relationship.name
        description.isOptional = relationship.isOptional
        description.deleteRule = relationship.deleteRule
        description.isOrdered = destination.isOrdered
        description.renamingIdentifier = relationship.renamingIdentifier
        if destination.minimum < 0 || destination.maximum < 0
            || destination.maximum != 0 && destination.minimum > destination.maximum
        {
            problems.append(
                "\(entity.name).\(relationship.name) has from \(destination.minimum) to \(destination.maximum) objects")
        } else if destination.isToMany, destination.maximum == 1 {
            problems.append("\(entity.name).\(relationship.name) is to-many and has one object at most: use toOne")
        } else {
            description.minCount = !destination.isToMany && !relationship.isOptional ? 1 : destination.minimum
            description.maxCount = destination.maximum
        }
        if let target = entities[destination.entity] {
            description.destinationEntity = target
        } else {
            problems.append(
                "\(entity.name).\(relationship.name) leads to \(destination.entity), which is no entity of the model")
        }
        return description
    }

    private mutating func connect(_ entity: Entity, _ description: NSEntityDescription) {
        for case .relationship(let relationship) in entity.members {
            guard let own = description.relationshipsByName[relationship.name], own.destinationEntity != nil,
                let name = relationship.inverse, let target = entities[relationship.destination.entity]
            else { continue }
            let label = "\(entity.name).\(relationship.name)"
            let there = "\(target.name ?? "").\(name)"
            guard let inverse = target.relationshipsByName[name] else {
                let what = target.propertiesByName[name] == nil ? "does not exist" : "is no relationship"
                problems.append("the inverse of \(label), \(there), \(what)")
                continue
            }
            guard let back = declaration(of: name, in: target) else { continue }
            guard back.inverse == relationship.name else {
                let other = back.inverse.map { "\(back.destination.entity).\($0)" } ?? "none"
                problems.append("the inverse of \(label) is \(there), whose own inverse is \(other)")
                continue
            }
            guard let origin = entities[back.destination.entity],
                origin.isKindOf(entity: description) || description.isKindOf(entity: origin)
            else {
                problems.append("the inverse of \(label), \(there), leads to \(back.destination.entity)")
                continue
            }
            own.inverseRelationship = inverse
        }
    }

    /// What a relationship of an entity, or one that it inherits, was declared as.
    private func declaration(of name: String, in description: NSEntityDescription) -> Relationship? {
        var current: NSEntityDescription? = description
        while let candidate = current {
            for (entity, known) in declared where known === candidate {
                for case .relationship(let relationship) in entity.members where relationship.name == name {
                    return relationship
                }
            }
            current = candidate.superentity
        }
        return nil
    }

    // MARK: Indexes

    private mutating func addIndexes(of entity: Entity, to description: NSEntityDescription) {
        let properties = description.propertiesByName
        var names: Set<String> = []
        for member in entity.members {
            switch member {
            case .index(let index):
                if !names.insert(index.name).inserted {
                    problems.append("\(entity.name) has two indexes named \(index.name)")
                }
                if index.elements.isEmpty { problems.append("the index \(index.name) of \(entity.name) is empty") }
                check(index.elements.map(\.property), properties, "the index \(index.name) of \(entity.name)")
                let elements = index.elements.compactMap { element in
                    properties[element.property].map {
                        let description = NSFetchIndexElementDescription(property: $0, collationType: .binary)
                        description.isAscending = element.isAscending
                        return description
                    }
                }
                let made = NSFetchIndexDescription(name: index.name, elements: elements)
                made.partialIndexPredicate = index.predicate
                description.indexes.append(made)
            case .unique(let constraint):
                if constraint.properties.isEmpty { problems.append("a constraint of \(entity.name) is empty") }
                check(constraint.properties, properties, "a constraint of \(entity.name)")
                description.uniquenessConstraints.append(constraint.properties)
            case .attribute, .relationship, .subentity: continue
            }
        }
    }

    private mutating func check(
        _ names: [String], _ properties: [String: NSPropertyDescription], _ subject: String
    ) {
        for name in names {
            switch properties[name] {
            case nil: problems.append("\(subject) names \(name), which is no property")
            case let property? where property.isTransient:
                problems.append("\(subject) names \(name), which is transient")
            case let relationship as NSRelationshipDescription where relationship.isToMany:
                problems.append("\(subject) names \(name), which is a to-many relationship")
            default: break
            }
        }
        if Set(names).count < names.count { problems.append("\(subject) names a property twice") }
    }
}

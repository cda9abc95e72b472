/// Looks for what is wrong with one entity.
struct EntityLint {
    let entity: ModelDocument.Entity
    let graph: EntityGraph
    private let ancestors: [ModelDocument.Entity]?

    /// Names that `NSManagedObject` and `NSObject` have themselves.
    static let reservedNames: Set<String> = [
        "changedValues", "class", "className", "committedValues", "copy", "debugDescription", "description", "entity",
        "faultingState", "hasChanges", "hasFaultForRelationshipNamed", "hasPersistentChangedValues", "hash", "init",
        "isDeleted", "isEqual", "isFault", "isInserted", "isUpdated", "managedObjectContext", "mutableCopy",
        "objectID", "observationInfo", "self", "superclass", "Type", "validateForDelete", "validateForInsert",
        "validateForUpdate", "willSave", "zone",
    ]

    init(_ entity: ModelDocument.Entity, graph: EntityGraph) {
        self.entity = entity
        self.graph = graph
        ancestors = graph.ancestors(of: entity)
    }

    func check() -> [ModelDiagnostic] {
        var found = checkEntity()
        for property in properties {
            found += checkName(of: property)
        }
        for attribute in entity.attributes {
            found += AttributeLint(attribute, entity: entity.name, graph: graph).check()
        }
        for relationship in entity.relationships {
            found += RelationshipLint(relationship, entity: entity.name, graph: graph).check()
        }
        for property in entity.fetchedProperties {
            found += check(property)
        }
        return found + checkLists()
    }

    private func diagnostic(
        _ severity: ModelDiagnostic.Severity, property: String? = nil, _ message: String
    ) -> ModelDiagnostic {
        ModelDiagnostic(severity, entity: entity.name, property: property, message)
    }

    private var properties: [ModelDocument.Property] {
        entity.attributes.map(\.property) + entity.relationships.map(\.property)
            + entity.fetchedProperties.map(\.property)
    }

    private func checkEntity() -> [ModelDiagnostic] {
        var found: [ModelDiagnostic] = []
        if entity.name.isEmpty {
            found.append(diagnostic(.error, "the entity has no name"))
        } else if entity.name.first?.isLowercase == true {
            found.append(diagnostic(.warning, "the name of an entity should begin with an upper-case letter"))
        }
        if let parent = entity.parentName, graph.entities[parent] == nil {
            found.append(diagnostic(.error, "it inherits from '\(parent)', which is no entity"))
        }
        if ancestors == nil {
            found.append(diagnostic(.error, "it inherits from itself"))
        }
        if entity.isAbstract, !graph.entities.values.contains(where: { $0.parentName == entity.name }) {
            found.append(diagnostic(.warning, "it is abstract and no entity inherits from it: it can have no objects"))
        }
        if entity.codeGeneration != .manual, entity.className == nil {
            found.append(diagnostic(.warning, "code is to be generated, but the entity names no class"))
        }
        if entity.codeGeneration == .classDefinition, entity.className?.contains(".") == true {
            found.append(diagnostic(.error, "a class inside of another type cannot be generated"))
        }
        for name in ModelLint.duplicates(properties.map(\.name)) {
            found.append(diagnostic(.error, property: name, "two properties have this name"))
        }
        let identifiers = properties.compactMap(\.renamingIdentifier)
        for identifier in ModelLint.duplicates(identifiers) {
            found.append(diagnostic(.error, "two properties have the renaming identifier '\(identifier)'"))
        }
        return found
    }

    private func checkName(of property: ModelDocument.Property) -> [ModelDiagnostic] {
        var found: [ModelDiagnostic] = []
        if property.name.isEmpty {
            found.append(diagnostic(.error, "a property has no name"))
        } else if property.name.first?.isUppercase == true {
            let message = "the name of a property should begin with a lower-case letter"
            found.append(diagnostic(.warning, property: property.name, message))
        }
        if Self.reservedNames.contains(property.name) {
            found.append(
                diagnostic(
                    entity.codeGeneration == .manual ? .warning : .error, property: property.name,
                    "the name is reserved: managed objects have something of this name themselves"))
        }
        for ancestor in ancestors ?? [] {
            found += checkOverride(of: property.name, inheritedFrom: ancestor)
        }
        return found
    }

    private func checkOverride(of name: String, inheritedFrom ancestor: ModelDocument.Entity) -> [ModelDiagnostic] {
        let names =
            ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name)
            + ancestor.fetchedProperties.map(\.name)
        guard names.contains(name) else { return [] }
        let own = entity.attributes.first { $0.name == name }
        let inherited = ancestor.attributes.first { $0.name == name }
        let ownRelationship = entity.relationships.first { $0.name == name }
        let inheritedRelationship = ancestor.relationships.first { $0.name == name }
        let isSame =
            own?.type == inherited?.type && own?.isDerived == inherited?.isDerived
            && own?.isTransient == inherited?.isTransient
            && ownRelationship?.isToMany == inheritedRelationship?.isToMany
            && ownRelationship?.isOrdered == inheritedRelationship?.isOrdered
            && ownRelationship?.inverseName == inheritedRelationship?.inverseName
        if isSame { return [] }
        let message = "'\(ancestor.name)' has a property of this name that differs"
        return [diagnostic(.error, property: name, message)]
    }

    private func check(_ property: ModelDocument.FetchedProperty) -> [ModelDiagnostic] {
        guard let request = property.fetchRequest else {
            return [diagnostic(.error, property: property.name, "the fetched property has no request")]
        }
        guard graph.entities[request.entityName] == nil else { return [] }
        let message = "its request fetches '\(request.entityName)', which is no entity"
        return [diagnostic(.error, property: property.name, message)]
    }

    /// Constraints and indexes, which refer to properties by name.
    private func checkLists() -> [ModelDiagnostic] {
        var found: [ModelDiagnostic] = []
        var attributes: [String: ModelDocument.Attribute] = [:]
        var relationships: [String: ModelDocument.Relationship] = [:]
        for holder in [entity] + (ancestors ?? []) {
            attributes.merge(holder.attributes.map { ($0.name, $0) }) { first, _ in first }
            relationships.merge(holder.relationships.map { ($0.name, $0) }) { first, _ in first }
        }
        for constraint in entity.uniquenessConstraints {
            if constraint.isEmpty { found.append(diagnostic(.error, "a uniqueness constraint is empty")) }
            for name in constraint where attributes[name] == nil && relationships[name] == nil {
                found.append(diagnostic(.error, "a uniqueness constraint names '\(name)', which is no property"))
            }
            for name in constraint where relationships[name]?.isToMany == true || attributes[name]?.isTransient == true
            {
                let message = "a uniqueness constraint needs values that are stored with the object"
                found.append(diagnostic(.error, property: name, message))
            }
        }
        for name in ModelLint.duplicates(entity.indexes.map(\.name)) {
            found.append(diagnostic(.error, "two indexes are named '\(name)'"))
        }
        for index in entity.indexes {
            if index.elements.isEmpty {
                found.append(diagnostic(.warning, property: index.name, "the index has no elements"))
            }
            for name in index.elements.compactMap(\.propertyName)
            where attributes[name] == nil && relationships[name] == nil {
                found.append(
                    diagnostic(.error, property: index.name, "the index names '\(name)', which is no property"))
            }
        }
        for name in entity.compoundIndexes.joined() where attributes[name] == nil && relationships[name] == nil {
            found.append(diagnostic(.warning, "a compound index names '\(name)', which is no property"))
        }
        return found
    }
}

import Foundation

/// What refers to other entities by name, until all are read.
private struct PendingLinks {
    var parents: [(child: NSEntityDescription, parent: String)] = []
    var destinations: [ModelReader.PendingRelationship] = []
    var elements: [(element: NSFetchIndexElementDescription, entity: NSEntityDescription)] = []
}

extension ModelReader {
    struct PendingRelationship {
        var relationship: NSRelationshipDescription
        var destination: String?
        var inverseEntity: String?
        var inverseName: String?
    }

    mutating func readEntities(into model: NSManagedObjectModel) throws {
        let count = try readCount()
        guard count <= NSManagedObjectModel.maximumEntityCount else { throw damaged("\(count) entities are too many") }
        var links = PendingLinks()
        var entities: [NSEntityDescription] = []
        var byName: [String: NSEntityDescription] = [:]
        for _ in 0..<count {
            let entity = try readEntity(&links)
            guard let name = entity.name, byName.updateValue(entity, forKey: name) == nil else {
                throw damaged("two entities of one name, or one without")
            }
            entities.append(entity)
        }
        model.entities = entities
        try linkParents(links.parents, byName)
        for pending in links.destinations {
            try link(pending, byName)
        }
        for (element, entity) in links.elements {
            guard let property = entity.propertiesByName[element.propertyName ?? ""] else {
                throw damaged("an index names no property")
            }
            element.resolve { _ in property }
        }
    }

    /// An entity without its relatives, destinations and inverses. Elements of its indexes lead to its own properties.
    mutating func readLoneEntity() throws -> NSEntityDescription {
        var links = PendingLinks()
        let entity = try readEntity(&links)
        let properties = entity.ownPropertiesByName
        for (element, _) in links.elements { element.resolve { properties[$0] } }
        return entity
    }

    /// An index without its entity; its elements know the names of their properties.
    mutating func readLoneIndex() throws -> NSFetchIndexDescription {
        var links = PendingLinks()
        return try readIndex(of: NSEntityDescription(), &links)
    }

    /// An element without its index; it knows the name of its property.
    mutating func readLoneElement() throws -> NSFetchIndexElementDescription {
        try readElement().element
    }

    /// A relationship without destination and inverse, or any other property.
    mutating func readLoneProperty() throws -> NSPropertyDescription {
        var none: [PendingRelationship] = []
        return try readProperty(&none)
    }

    private mutating func readEntity(_ links: inout PendingLinks) throws -> NSEntityDescription {
        try beginPart()
        let entity = NSEntityDescription()
        entity.name = try readOptionalString()
        entity.explicitClassName = try readOptionalString()
        entity.isAbstract = try readBool()
        if let parent = try readOptionalString() {
            links.parents.append((entity, parent))
        }
        entity.versionHashModifier = try readOptionalString()
        entity.explicitRenamingIdentifier = try readOptionalString()
        entity.coreSpotlightDisplayNameExpression = try readOptionalExpression()
        entity.userInfo = try readUserInfo() ?? [:]
        var properties: [NSPropertyDescription] = []
        var names = Set<String>()
        for _ in 0..<(try readCount()) {
            let property = try readProperty(&links.destinations)
            guard names.insert(property.name).inserted, !property.name.isEmpty else {
                throw damaged("two properties of one name, or one without")
            }
            properties.append(property)
        }
        entity.properties = properties
        for _ in 0..<(try readCount()) {
            try beginPart()
            entity.uniquenessConstraints.append(try readStrings())
        }
        for _ in 0..<(try readCount()) {
            try beginPart()
            entity.legacyCompoundIndexes.append(try readStrings())
        }
        var indexes: [NSFetchIndexDescription] = []
        for _ in 0..<(try readCount()) {
            indexes.append(try readIndex(of: entity, &links))
        }
        entity.indexes = indexes
        return entity
    }

    private mutating func readIndex(
        of entity: NSEntityDescription, _ links: inout PendingLinks
    ) throws -> NSFetchIndexDescription {
        try beginPart()
        let index = NSFetchIndexDescription(name: try readString(), elements: nil)
        index.partialIndexPredicate = try readOptionalPredicate()
        var elements: [NSFetchIndexElementDescription] = []
        for _ in 0..<(try readCount()) {
            let (element, isNamed) = try readElement()
            if isNamed { links.elements.append((element, entity)) }
            elements.append(element)
        }
        index.elements = elements
        return index
    }

    /// - Returns: whether the element's property is still to be found by its name, too.
    private mutating func readElement() throws -> (element: NSFetchIndexElementDescription, isNamed: Bool) {
        try beginPart()
        guard let collation = NSFetchIndexElementType(rawValue: UInt(try readByte())) else {
            throw damaged("an unknown collation")
        }
        let isAscending = try readBool()
        let isExpression = try readBool()
        let property: NSPropertyDescription
        if isExpression {
            property = try readLoneProperty()
            guard property is NSExpressionDescription else { throw damaged("an index element is no expression") }
        } else {
            // Stands in until inherited properties are known.
            property = NSPropertyDescription()
            property.name = try readString()
        }
        let element = NSFetchIndexElementDescription(property: property, collationType: collation)
        element.isAscending = isAscending
        return (element, !isExpression)
    }

    /// Checks the whole inheritance before it is set up: neither cycles nor chains that are too long.
    private func linkParents(
        _ pairs: [(child: NSEntityDescription, parent: String)], _ byName: [String: NSEntityDescription]
    ) throws {
        var parents: [ObjectIdentifier: NSEntityDescription] = [:]
        var children: [ObjectIdentifier: [NSEntityDescription]] = [:]
        for (child, name) in pairs {
            guard let parent = byName[name] else { throw damaged("no entity '\(name)'") }
            parents[ObjectIdentifier(child)] = parent
            children[ObjectIdentifier(parent), default: []].append(child)
        }
        for (child, _) in pairs {
            var depth = 0
            var next = parents[ObjectIdentifier(child)]
            while let ancestor = next {
                depth += 1
                guard depth <= NSEntityDescription.maximumInheritanceDepth else {
                    throw damaged("the inheritance of '\(child.name ?? "")' is too deep or runs in a circle")
                }
                next = parents[ObjectIdentifier(ancestor)]
            }
        }
        for (_, name) in pairs {
            if let parent = byName[name], let all = children.removeValue(forKey: ObjectIdentifier(parent)) {
                parent.subentities = all
            }
        }
    }

    private func link(_ pending: PendingRelationship, _ byName: [String: NSEntityDescription]) throws {
        if let name = pending.destination {
            guard let entity = byName[name] else { throw damaged("no entity '\(name)'") }
            pending.relationship.destinationEntity = entity
        }
        guard let name = pending.inverseName else { return }
        let owner = pending.inverseEntity.flatMap { byName[$0] }
        let inverse = owner?.ownPropertiesByName[name] as? NSRelationshipDescription
        guard let inverse else { throw damaged("no relationship '\(name)'") }
        pending.relationship.inverseRelationship = inverse
    }
}

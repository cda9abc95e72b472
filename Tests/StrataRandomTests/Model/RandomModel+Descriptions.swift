import CoreData

extension RandomModel {
    /// The model as the product takes it.
    func make() -> NSManagedObjectModel {
        let made = entities.map { entity in
            let description = NSEntityDescription()
            description.name = entity.name
            description.isAbstract = entity.isAbstract
            return description
        }
        func description(_ name: String) -> NSEntityDescription? { number(name).map { made[$0] } }
        var links: [String: NSRelationshipDescription] = [:]
        for relationship in relationships {
            let link = NSRelationshipDescription()
            link.name = relationship.name
            link.destinationEntity = description(relationship.destination)
            link.maxCount = relationship.isToMany ? 0 : 1
            link.isOrdered = relationship.isOrdered
            link.deleteRule = relationship.rule.description
            links[relationship.name] = link
        }
        for relationship in relationships {
            links[relationship.name]?.inverseRelationship = relationship.inverse.flatMap { links[$0] }
        }
        for (entity, description) in zip(entities, made) {
            description.properties =
                Self.descriptions((entity.parent == nil ? [Self.key] : []) + entity.attributes)
                + entity.transients.map { transient in
                    let description = transient.description
                    description.isTransient = true
                    return description
                }
                + relationships.filter { $0.owner == entity.name }.compactMap { links[$0.name] }
            description.subentities = entities.indices.filter { entities[$0].parent == entity.name }.map { made[$0] }
        }
        for (entity, description) in zip(entities, made) where !entity.indexes.isEmpty {
            description.indexes = entity.indexes.enumerated().map { index, names in
                NSFetchIndexDescription(
                    name: "index\(index)",
                    elements: names.compactMap { description.propertiesByName[$0] }.map {
                        NSFetchIndexElementDescription(property: $0, collationType: .binary)
                    })
            }
        }
        let model = NSManagedObjectModel()
        model.entities = made
        return model
    }

    /// Elements come as their composites.
    private static func descriptions(_ attributes: [Attribute]) -> [NSPropertyDescription] {
        var composites: [String: NSCompositeAttributeDescription] = [:]
        return attributes.compactMap { attribute in
            guard let name = attribute.composite else { return attribute.description }
            let element = attribute.description
            element.name = attribute.element
            if let composite = composites[name] {
                composite.elements.append(element)
                return nil
            }
            let composite = NSCompositeAttributeDescription()
            composite.name = name
            composite.elements = [element]
            composites[name] = composite
            return composite
        }
    }
}

extension RandomModel.Rule {
    fileprivate var description: NSDeleteRule {
        switch self {
        case .nullify: .nullifyDeleteRule
        case .cascade: .cascadeDeleteRule
        case .deny: .denyDeleteRule
        case .noAction: .noActionDeleteRule
        }
    }
}

extension RandomModel.Attribute {
    fileprivate var description: NSAttributeDescription {
        if let counts {
            let derived = NSDerivedAttributeDescription()
            derived.name = name
            derived.attributeType = kind.type
            derived.derivationExpression = NSExpression(format: "\(counts).@count")
            return derived
        }
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = kind.type
        attribute.isOptional = true
        attribute.defaultValue = initial.object(kind)
        return attribute
    }
}

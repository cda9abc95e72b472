extension NSManagedObjectModel {
    /// What contradicts itself in the model, in words; empty for a model that can be used.
    ///
    /// - Complexity: O(n) in the number of properties, inherited ones counted for each entity.
    final func problems() -> [String] {
        var problems: [String] = []
        if entities.count > Self.maximumEntityCount {
            problems.append("it has \(entities.count) entities; \(Self.maximumEntityCount) are possible")
        }
        let members = Set(entities.map { ObjectIdentifier($0) })
        var names = Set<String>()
        for entity in entities {
            guard let name = entity.name, !name.isEmpty else {
                problems.append("an entity has no name")
                continue
            }
            if !names.insert(name).inserted {
                problems.append("two entities are named '\(name)'")
            }
            entity.appendProblems(to: &problems, members: members)
        }
        return problems
    }

    /// Says which relationships have no inverse, as Core Data's model compiler does: what such a one leads to does not
    /// change with it when an object is deleted.
    final func warnOfMissingInverses() {
        let names = entities.flatMap { entity in
            entity.ownProperties.compactMap { property -> String? in
                guard let relationship = property as? NSRelationshipDescription,
                    relationship.inverseRelationship == nil
                else { return nil }
                return "\(entity.name ?? "").\(relationship.name)"
            }
        }
        for name in names.sorted() {
            Warnings.once("\(name) should have an inverse: deleting what it leads to leaves it pointing at nothing")
        }
    }
}

extension NSEntityDescription {
    /// - Parameter members: the entities of the model.
    fileprivate func appendProblems(to problems: inout [String], members: Set<ObjectIdentifier>) {
        let name = name ?? ""
        for relative in subentities + [superentity].compactMap(\.self)
        where !members.contains(ObjectIdentifier(relative)) {
            problems.append("'\(relative.name ?? "")', a relative of entity '\(name)', is not in the model")
        }
        guard inheritanceDepth <= Self.maximumInheritanceDepth else {
            problems.append("entity '\(name)' has over \(Self.maximumInheritanceDepth) ancestors")
            return
        }
        let inherited = superentity?.propertiesByName ?? [:]
        var seen = Set(inherited.keys)
        var own = Set<String>()
        for property in ownProperties {
            seen.insert(property.name)
            if property.name.isEmpty {
                problems.append("a property of entity '\(name)' has no name")
            } else if !own.insert(property.name).inserted {
                problems.append("entity '\(name)' has two properties named '\(property.name)'")
            } else if let overridden = inherited[property.name], !property.canOverride(overridden) {
                problems.append("property '\(property.name)' of entity '\(name)' differs from the inherited one")
            }
            property.appendProblems(to: &problems, entity: name, members: members)
        }
        for names in uniquenessConstraintNames {
            if names.isEmpty {
                problems.append("a uniqueness constraint of entity '\(name)' is empty")
            }
            for missing in names where !seen.contains(missing) {
                problems.append("a uniqueness constraint of entity '\(name)' names '\(missing)', which is no property")
            }
        }
        for index in indexes {
            for element in index.elements where !(element.property is NSExpressionDescription) {
                if !seen.contains(element.propertyName ?? "") {
                    problems.append(
                        "index '\(index.name)' of entity '\(name)' names '\(element.propertyName ?? "")', "
                            + "which is no property")
                }
            }
        }
    }

    private var inheritanceDepth: Int {
        var depth = 0
        var next = superentity
        while let ancestor = next {
            depth += 1
            next = ancestor.superentity
        }
        return depth
    }
}

extension NSPropertyDescription {
    /// Whether a subentity may declare this property in place of one that it inherits: only if it is stored alike.
    fileprivate func canOverride(_ inherited: NSPropertyDescription) -> Bool {
        switch (self, inherited) {
        case let (new as NSAttributeDescription, old as NSAttributeDescription):
            type(of: new) == type(of: old) && new.attributeType == old.attributeType
                && new.isTransient == old.isTransient
        case let (new as NSRelationshipDescription, old as NSRelationshipDescription):
            new.isToMany == old.isToMany && new.isOrdered == old.isOrdered && new.isTransient == old.isTransient
                && new.inverseRelationship?.name == old.inverseRelationship?.name
        case (is NSFetchedPropertyDescription, is NSFetchedPropertyDescription): true
        default: false
        }
    }

    fileprivate func appendProblems(to problems: inout [String], entity: String, members: Set<ObjectIdentifier>) {
        let label = "'\(entity).\(name)'"
        switch self {
        case let relationship as NSRelationshipDescription:
            relationship.appendRelationshipProblems(to: &problems, label: label, members: members)
        case let composite as NSCompositeAttributeDescription:
            var names = Set<String>()
            for element in composite.elements {
                if element.name.isEmpty || !names.insert(element.name).inserted {
                    problems.append("composite \(label) has two elements named '\(element.name)' or one without name")
                }
                element.appendProblems(to: &problems, entity: "\(entity).\(name)", members: members)
            }
        case let attribute as NSAttributeDescription:
            switch attribute.attributeType {
            case .undefinedAttributeType where !attribute.isTransient:
                problems.append("attribute \(label) has no type and is not transient")
            case .compositeAttributeType:
                problems.append("composite \(label) is no NSCompositeAttributeDescription")
            default: break
            }
        case is NSExpressionDescription:
            problems.append("\(label) is an expression, which no entity can have")
        default: break
        }
    }
}

extension NSRelationshipDescription {
    fileprivate func appendRelationshipProblems(
        to problems: inout [String], label: String, members: Set<ObjectIdentifier>
    ) {
        guard let destination = destinationEntity else {
            problems.append("relationship \(label) has no destination")
            return
        }
        if !members.contains(ObjectIdentifier(destination)) {
            problems.append("the destination of relationship \(label) is not in the model")
        }
        if minCount < 0 || maxCount < 0 || (maxCount != 0 && minCount > maxCount) {
            problems.append("relationship \(label) has counts from \(minCount) to \(maxCount)")
        }
        if isOrdered && !isToMany {
            problems.append("relationship \(label) is ordered and to-one")
        }
        guard let inverse = inverseRelationship else { return }
        guard inverse.inverseRelationship === self else {
            problems.append("the inverse of relationship \(label) has another inverse")
            return
        }
        guard let owner = inverse.owningEntity,
            destination.isKindOf(entity: owner) || owner.isKindOf(entity: destination)
        else {
            problems.append("the inverse of relationship \(label) does not belong to its destination")
            return
        }
    }
}

import StrataModelFile

extension ContentsWriter {
    mutating func write(_ entity: ModelDocument.Entity) throws {
        let className = entity.className.map { name in entity.classModule.map { "\($0).\(name)" } ?? name }
        let generation = entity.codeGeneration == .manual ? nil : entity.codeGeneration.rawValue
        let pairs: Pairs = [
            ("name", entity.name), ("representedClassName", className), ("parentEntity", entity.parentName),
            ("isAbstract", Self.yes(entity.isAbstract)), ("elementID", entity.renamingIdentifier),
            ("versionHashModifier", entity.versionHashModifier), ("syncable", entity.isSyncable ? "YES" : "NO"),
            ("codeGenerationType", generation),
            ("coreSpotlightDisplayNameExpression", entity.displayNameExpression),
        ]
        let hasChildren =
            !(entity.attributes.isEmpty && entity.relationships.isEmpty && entity.fetchedProperties.isEmpty
            && entity.indexes.isEmpty && entity.compoundIndexes.isEmpty && entity.uniquenessConstraints.isEmpty
            && entity.userInfo.isEmpty)
        try element("entity", pairs, if: hasChildren) { writer in
            for attribute in entity.attributes { try writer.write(attribute, owner: entity.name) }
            for relationship in entity.relationships { try writer.write(relationship, owner: entity.name) }
            for property in entity.fetchedProperties { try writer.write(property, owner: entity.name) }
            for index in entity.indexes { writer.write(index) }
            writer.write(entity.compoundIndexes, as: "compoundIndexes", list: "compoundIndex", item: "index")
            writer.write(
                entity.uniquenessConstraints, as: "uniquenessConstraints", list: "uniquenessConstraint",
                item: "constraint")
            try writer.write(entity.userInfo, of: entity.name)
        }
    }

    private mutating func write(_ lists: [[String]], as name: String, list: String, item: String) {
        guard !lists.isEmpty else { return }
        element(name, [], if: true) { writer in
            for names in lists {
                writer.element(list, [], if: !names.isEmpty) { writer in
                    for name in names { writer.element(item, [("value", name)]) }
                }
            }
        }
    }

    private mutating func write(_ index: ModelDocument.FetchIndex) {
        let pairs: Pairs = [("name", index.name), ("partialIndexPredicate", index.partialPredicate)]
        element("fetchIndex", pairs, if: !index.elements.isEmpty) { writer in
            for part in index.elements {
                writer.element(
                    "fetchIndexElement",
                    [
                        ("property", part.propertyName), ("expression", part.expression),
                        ("expressionType", part.expressionType?.rawValue), ("type", part.isRTree ? "RTree" : "Binary"),
                        ("order", part.isAscending ? "ascending" : "descending"),
                    ])
            }
        }
    }

    mutating func write(_ attribute: ModelDocument.Attribute, owner: String) throws {
        let label = "\(owner).\(attribute.name)"
        try requireNoValidations(attribute.property, label: label)
        let isDate = attribute.type == .date
        let minimum = try attribute.minimum.map { try text(of: $0, label: label) }
        let maximum = try attribute.maximum.map { try text(of: $0, label: label) }
        let start = try attribute.defaultValue.map { try text(of: $0, label: label) }
        let pairs: Pairs = [
            ("name", attribute.name), ("optional", Self.yes(attribute.isOptional)),
            ("transient", Self.yes(attribute.isTransient)),
            ("attributeType", attribute.type == .undefined ? nil : attribute.type.rawValue),
            ("composite", attribute.compositeName), ("derived", Self.yes(attribute.isDerived)),
            ("derivationExpression", attribute.derivationExpression),
            ("valueTransformerName", attribute.valueTransformerName), ("customClassName", attribute.valueClassName),
            ("minValueString", isDate ? nil : minimum), ("maxValueString", isDate ? nil : maximum),
            ("minDateTimeInterval", isDate ? minimum : nil), ("maxDateTimeInterval", isDate ? maximum : nil),
            ("defaultValueString", isDate ? nil : start), ("defaultDateTimeInterval", isDate ? start : nil),
            ("regularExpressionString", attribute.pattern),
            ("usesScalarValueType", attribute.usesScalarType.map { $0 ? "YES" : "NO" }),
            ("allowsExternalBinaryDataStorage", Self.yes(attribute.allowsExternalStorage)),
            ("preserveAfterDeletion", Self.yes(attribute.preservesValueOnDeletion)),
            ("allowsCloudEncryption", Self.yes(attribute.allowsCloudEncryption)),
        ]
        try element("attribute", pairs + common(attribute.property), if: !attribute.userInfo.isEmpty) { writer in
            try writer.write(attribute.userInfo, of: label)
        }
    }

    private mutating func write(_ relationship: ModelDocument.Relationship, owner: String) throws {
        let label = "\(owner).\(relationship.name)"
        try requireNoValidations(relationship.property, label: label)
        let pairs: Pairs = [
            ("name", relationship.name), ("optional", Self.yes(relationship.isOptional)),
            ("transient", Self.yes(relationship.isTransient)), ("toMany", Self.yes(relationship.isToMany)),
            ("minCount", Self.count(relationship.minCount)), ("maxCount", Self.count(relationship.maxCount)),
            ("ordered", Self.yes(relationship.isOrdered)), ("deletionRule", relationship.deleteRule.rawValue),
            ("destinationEntity", relationship.destinationName.isEmpty ? nil : relationship.destinationName),
            ("inverseName", relationship.inverseName), ("inverseEntity", relationship.inverseEntityName),
        ]
        try element(
            "relationship", pairs + common(relationship.property), if: !relationship.userInfo.isEmpty
        ) { writer in
            try writer.write(relationship.userInfo, of: label)
        }
    }

    private mutating func write(_ property: ModelDocument.FetchedProperty, owner: String) throws {
        let label = "\(owner).\(property.name)"
        try requireNoValidations(property.property, label: label)
        let pairs: Pairs = [
            ("name", property.name), ("optional", Self.yes(property.isOptional)),
            ("transient", Self.yes(property.isTransient)),
        ]
        let hasChildren = property.fetchRequest != nil || !property.userInfo.isEmpty
        try element("fetchedProperty", pairs + common(property.property), if: hasChildren) { writer in
            if let request = property.fetchRequest { try writer.write(request) }
            try writer.write(property.userInfo, of: label)
        }
    }

    private func common(_ property: ModelDocument.Property) -> Pairs {
        [
            ("indexed", Self.yes(property.isIndexed)),
            ("spotlightIndexingEnabled", Self.yes(property.isIndexedBySpotlight)),
            ("storedInTruthFile", Self.yes(property.isStoredInExternalRecord)),
            ("elementID", property.renamingIdentifier), ("versionHashModifier", property.versionHashModifier),
            ("syncable", Self.yes(property.isSyncable)),
        ]
    }

    private func requireNoValidations(_ property: ModelDocument.Property, label: String) throws {
        guard property.validations.isEmpty else {
            throw ModelFileError(
                .unwritable, "'\(label)' has validation predicates beside its limits; the XML can't say that")
        }
    }

    private func text(of value: ModelDocument.Value, label: String) throws -> String {
        switch value {
        case .string(let text), .decimal(let text): return text
        case .integer(let number): return "\(number)"
        case .real(let number): return "\(number)"
        case .boolean(let flag): return flag ? "YES" : "NO"
        case .date(let seconds):
            return seconds == seconds.rounded() && abs(seconds) < 1e15 ? "\(Int64(seconds))" : "\(seconds)"
        case .data, .array, .dictionary:
            throw ModelFileError(.unwritable, "'\(label)' has a default value that the XML can't say")
        }
    }
}

import Foundation
import StrataModelFile

extension DocumentReader {
    /// - Parameters:
    ///   - owner: the entity's name, with the composites that the attribute is in.
    ///   - depth: how many composites the attribute is in.
    func readAttribute(
        _ attribute: ModelDocument.Attribute, owner: String, depth: Int = 0
    ) throws -> NSAttributeDescription {
        try countAttribute()
        let label = "attribute '\(owner).\(attribute.name)'"
        let read: NSAttributeDescription
        if attribute.type == .composite {
            read = try readComposite(attribute, owner: owner, depth: depth)
        } else if attribute.isDerived {
            let derived = NSDerivedAttributeDescription()
            derived.derivationExpression = try attribute.derivationExpression.map {
                try readExpression($0, label: label)
            }
            read = derived
        } else {
            read = NSAttributeDescription()
        }
        try readCommon(attribute.property, into: read, label: label)
        read.attributeType = attribute.type.descriptionType
        read.valueTransformerName = attribute.valueTransformerName
        read.attributeValueClassName = attribute.valueClassName
        read.allowsExternalBinaryDataStorage = attribute.allowsExternalStorage
        read.preservesValueInHistoryOnDeletion = attribute.preservesValueOnDeletion
        read.allowsCloudEncryption = attribute.allowsCloudEncryption
        if let value = attribute.defaultValue {
            if attribute.type == .transformable, case .data(let data) = value {
                read.storedDefaultValue = .transformed(data)
            } else {
                guard let value = DocumentValues.value(value, of: attribute.type) else {
                    throw invalid("the default value of \(label) is none of its type")
                }
                read.defaultValue = value
            }
        }
        try readBounds(of: attribute, into: read, label: label)
        return read
    }

    private func readComposite(
        _ attribute: ModelDocument.Attribute, owner: String, depth: Int
    ) throws -> NSCompositeAttributeDescription {
        let name = "\(owner).\(attribute.name)"
        guard depth < NSCompositeAttributeDescription.maximumDepth else {
            throw invalid(
                "composite '\(name)' contains itself or nests over \(NSCompositeAttributeDescription.maximumDepth) deep"
            )
        }
        guard let composite = attribute.compositeName.flatMap({ composite(named: $0) }) else {
            throw invalid("attribute '\(name)' is of composite '\(attribute.compositeName ?? "")', which is not there")
        }
        let read = NSCompositeAttributeDescription()
        read.elements = try composite.attributes.map { try readAttribute($0, owner: name, depth: depth + 1) }
        return read
    }

    private func readBounds(
        of attribute: ModelDocument.Attribute, into read: NSAttributeDescription, label: String
    ) throws {
        let extra = (predicates: read.validationPredicates, warnings: read.validationWarnings)
        guard attribute.minimum != nil || attribute.maximum != nil || attribute.pattern != nil else { return }
        let type: ModelDocument.AttributeType = attribute.type == .string ? .integer64 : attribute.type
        func bound(_ value: ModelDocument.Value?) throws -> Any? {
            guard let value else { return nil }
            guard let bound = DocumentValues.value(value, of: type) else {
                throw invalid("a limit of \(label) is none of its type")
            }
            return bound
        }
        guard attribute.pattern == nil || attribute.type == .string else {
            throw invalid("\(label) is no string and has a regular expression")
        }
        read.setBounds(
            minimum: try bound(attribute.minimum), maximum: try bound(attribute.maximum), pattern: attribute.pattern)
        read.setValidation(
            predicates: read.validationPredicates + extra.predicates,
            warnings: read.validationWarnings + extra.warnings)
    }

    func readRelationship(
        _ relationship: ModelDocument.Relationship, owner: String
    ) throws -> NSRelationshipDescription {
        let read = NSRelationshipDescription()
        try readCommon(relationship.property, into: read, label: "relationship '\(owner).\(relationship.name)'")
        read.minCount = relationship.minCount
        read.maxCount = relationship.maxCount
        read.isOrdered = relationship.isOrdered
        read.deleteRule =
            switch relationship.deleteRule {
            case .noAction: .noActionDeleteRule
            case .nullify: .nullifyDeleteRule
            case .cascade: .cascadeDeleteRule
            case .deny: .denyDeleteRule
            }
        return read
    }

    func readFetchedProperty(
        _ property: ModelDocument.FetchedProperty, owner: String
    ) throws -> NSFetchedPropertyDescription {
        let label = "fetched property '\(owner).\(property.name)'"
        let read = NSFetchedPropertyDescription()
        try readCommon(property.property, into: read, label: label)
        read.template = try property.fetchRequest.map { try readTemplate($0, label: label) }
        return read
    }

    private func readCommon(
        _ property: ModelDocument.Property, into read: NSPropertyDescription, label: String
    ) throws {
        read.name = property.name
        read.isOptional = property.isOptional
        read.isTransient = property.isTransient
        read.hasOwnIndex = property.isIndexed
        read.isIndexedBySpotlight = property.isIndexedBySpotlight
        read.storedInExternalRecord = property.isStoredInExternalRecord
        read.renamingIdentifier = property.renamingIdentifier
        read.versionHashModifier = property.versionHashModifier
        read.userInfo = DocumentValues.userInfo(property.userInfo)
        read.setValidation(
            predicates: try property.validations.map { try readPredicate($0.predicate, label: label) },
            warnings: property.validations.map { DocumentValues.object($0.warning) })
    }

    func readTemplate(_ request: ModelDocument.FetchRequest, label: String) throws -> FetchRequestTemplate {
        var template = FetchRequestTemplate()
        template.entityName = request.entityName.isEmpty ? nil : request.entityName
        template.predicate = try request.predicate.map { try readPredicate($0, label: label) }
        template.sorts = request.sorts.map {
            FetchRequestTemplate.Sort(key: $0.key, isAscending: $0.isAscending, selectorName: $0.selectorName)
        }
        guard let resultType = UInt(exactly: request.resultType) else {
            throw invalid("\(label) has the result type \(request.resultType)")
        }
        template.resultType = NSFetchRequestResultType(rawValue: resultType)
        template.fetchLimit = request.fetchLimit
        template.fetchOffset = request.fetchOffset
        template.fetchBatchSize = request.fetchBatchSize
        template.includesSubentities = request.includesSubentities
        template.includesPropertyValues = request.includesPropertyValues
        template.includesPendingChanges = request.includesPendingChanges
        template.returnsObjectsAsFaults = request.returnsObjectsAsFaults
        template.returnsDistinctResults = request.returnsDistinctResults
        template.shouldRefreshRefetchedObjects = request.refreshesRefetchedObjects
        template.propertyNamesToFetch = request.propertiesToFetch
        template.propertyNamesToGroupBy = request.propertiesToGroupBy
        template.havingPredicate = try request.havingPredicate.map { try readPredicate($0, label: label) }
        template.relationshipKeyPathsForPrefetching = request.prefetchedKeyPaths
        return template
    }

    func readPredicate(_ format: String, label: String) throws -> NSPredicate {
        do {
            return try NSPredicate.parse(format)
        } catch {
            throw invalid("the predicate of \(label) can't be parsed: \(error)")
        }
    }

    func readExpression(_ format: String, label: String) throws -> NSExpression {
        do {
            return try NSExpression.parse(format)
        } catch {
            throw invalid("the expression of \(label) can't be parsed: \(error)")
        }
    }
}

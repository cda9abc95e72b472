import Foundation
import StrataModelFile

/// Describes a model as a ``ModelDocument``. Entities, configurations and templates are in the order of their names,
/// properties in their own.
struct DocumentWriter {
    /// Composites by name, as their attributes were found to refer to them.
    private final class Composites {
        var byName: [String: ModelDocument.Composite] = [:]
    }

    private let composites = Composites()

    func write(_ model: NSManagedObjectModel) throws -> ModelDocument {
        var document = ModelDocument()
        document.versionIdentifiers = try model.versionIdentifiers.map { identifier in
            guard let text = identifier.base as? String else {
                throw notEncodable("version identifier '\(identifier)' is no text")
            }
            return text
        }.sorted()
        let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        document.entities = try entities.map { try write($0) }
        document.configurations = model.configurationMembers.keys.sorted().map { name in
            var configuration = ModelDocument.Configuration(name: name)
            configuration.entityNames = (model.entities(forConfigurationName: name) ?? []).map { $0.name ?? "" }
            return configuration
        }
        document.fetchRequests = try model.templates.sorted { $0.key < $1.key }.map {
            try write($0.value, name: $0.key)
        }
        document.localization = model.localizationDictionary
        document.composites = composites.byName.values.sorted { $0.name < $1.name }
        return document
    }

    private func notEncodable(_ message: String) -> ModelError {
        ModelError(.notEncodable, message)
    }

    private func write(_ entity: NSEntityDescription) throws -> ModelDocument.Entity {
        let name = entity.name ?? ""
        var written = ModelDocument.Entity(name: name)
        if let className = entity.explicitClassName, className != "NSManagedObject" {
            let parts = className.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            written.className = String(parts[parts.count - 1])
            written.classModule = parts.count == 2 ? String(parts[0]) : nil
        }
        written.parentName = entity.superentity?.name
        written.isAbstract = entity.isAbstract
        written.renamingIdentifier = entity.explicitRenamingIdentifier
        written.versionHashModifier = entity.versionHashModifier
        written.userInfo = try write(entity.userInfo, label: "entity '\(name)'")
        written.uniquenessConstraints = entity.uniquenessConstraintNames
        written.compoundIndexes = entity.legacyCompoundIndexes.map { names in
            names.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
        }
        written.displayNameExpression = try entity.coreSpotlightDisplayNameExpression.map {
            try ModelFormats.format(of: $0)
        }
        for property in entity.ownProperties {
            switch property {
            case let attribute as NSAttributeDescription:
                written.attributes.append(try write(attribute, owner: name))
            case let relationship as NSRelationshipDescription:
                written.relationships.append(try write(relationship, owner: name))
            case let fetched as NSFetchedPropertyDescription:
                written.fetchedProperties.append(try write(fetched, owner: name))
            default: throw notEncodable("property '\(name).\(property.name)' is none that an entity can have")
            }
        }
        written.indexes = try entity.indexes.map { try write($0) }
        return written
    }

    private func write(_ index: NSFetchIndexDescription) throws -> ModelDocument.FetchIndex {
        var written = ModelDocument.FetchIndex(name: index.name)
        written.partialPredicate = try index.partialIndexPredicate.map { try ModelFormats.format(of: $0) }
        written.elements = try index.elements.map { element in
            var part = ModelDocument.FetchIndex.Element(propertyName: element.propertyName)
            if let description = element.property as? NSExpressionDescription {
                part.propertyName = nil
                part.expression = try description.expression.map { try ModelFormats.format(of: $0) }
                part.expressionType = ModelDocument.AttributeType(description.expressionResultType)
            }
            part.isAscending = element.isAscending
            part.isRTree = element.collationType == .rTree
            return part
        }
        return written
    }

    private func write(_ attribute: NSAttributeDescription, owner: String) throws -> ModelDocument.Attribute {
        let label = "attribute '\(owner).\(attribute.name)'"
        let type = ModelDocument.AttributeType(attribute.attributeType)
        var written = ModelDocument.Attribute(name: attribute.name, type: type)
        written.property = try writeCommon(attribute, label: label)
        written.valueTransformerName = attribute.valueTransformerName
        written.valueClassName = attribute.explicitValueClassName
        written.allowsExternalStorage = attribute.allowsExternalBinaryDataStorage
        written.preservesValueOnDeletion = attribute.preservesValueInHistoryOnDeletion
        written.allowsCloudEncryption = attribute.allowsCloudEncryption
        switch attribute.storedDefaultValue {
        case nil: break
        case .transformed(let data): written.defaultValue = .data(data)
        case .value(let value):
            let document: ModelDocument.Value?
            if attribute.attributeType == .transformableAttributeType,
                let bytes = try attribute.transformedData(from: value)
            {
                document = .data(bytes)
            } else {
                document = DocumentValues.document(value)
            }
            guard let document else {
                throw notEncodable("the default value of \(label) can't be kept in a file")
            }
            written.defaultValue = document
        }
        if let derived = attribute as? NSDerivedAttributeDescription {
            written.isDerived = true
            written.derivationExpression = try derived.derivationExpression.map { try ModelFormats.format(of: $0) }
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            written.compositeName = try write(composite, label: "\(owner).\(attribute.name)")
        }
        writeBounds(of: attribute, into: &written)
        return written
    }

    /// - Returns: the name of the composite in the document: the attribute's, with a number if another composite has
    ///   it.
    private func write(_ composite: NSCompositeAttributeDescription, label: String) throws -> String {
        let base = composite.name.prefix(1).uppercased() + composite.name.dropFirst()
        let attributes = try composite.elements.map { try write($0, owner: label) }
        var number = 1
        while true {
            let name = number == 1 ? base : "\(base)\(number)"
            guard let other = composites.byName[name] else {
                var written = ModelDocument.Composite(name: name)
                written.attributes = attributes
                composites.byName[name] = written
                return name
            }
            if other.attributes == attributes { return name }
            number += 1
        }
    }

    private func write(
        _ relationship: NSRelationshipDescription, owner: String
    ) throws -> ModelDocument.Relationship {
        var written = ModelDocument.Relationship(
            name: relationship.name, destinationName: relationship.destinationEntity?.name ?? "")
        written.property = try writeCommon(relationship, label: "relationship '\(owner).\(relationship.name)'")
        written.inverseName = relationship.inverseRelationship?.name
        written.inverseEntityName = relationship.inverseRelationship?.owningEntity?.name
        written.minCount = relationship.minCount
        written.maxCount = relationship.maxCount
        written.isOrdered = relationship.isOrdered
        written.deleteRule =
            switch relationship.deleteRule {
            case .noActionDeleteRule: .noAction
            case .nullifyDeleteRule: .nullify
            case .cascadeDeleteRule: .cascade
            case .denyDeleteRule: .deny
            }
        return written
    }

    private func write(
        _ property: NSFetchedPropertyDescription, owner: String
    ) throws -> ModelDocument.FetchedProperty {
        var written = ModelDocument.FetchedProperty(name: property.name)
        written.property = try writeCommon(property, label: "fetched property '\(owner).\(property.name)'")
        written.fetchRequest = try property.template.map { try write($0, name: "fetchedPropertyFetchRequest") }
        return written
    }

    private func writeCommon(_ property: NSPropertyDescription, label: String) throws -> ModelDocument.Property {
        var written = ModelDocument.Property(name: property.name)
        written.isOptional = property.isOptional
        written.isTransient = property.isTransient
        written.isIndexed = property.hasOwnIndex
        written.isIndexedBySpotlight = property.isIndexedBySpotlight
        written.isStoredInExternalRecord = property.storedInExternalRecord
        written.renamingIdentifier = property.explicitRenamingIdentifier
        written.versionHashModifier = property.versionHashModifier
        written.userInfo = try write(property.userInfo, label: label)
        for (position, predicate) in property.validationPredicates.enumerated() {
            let warnings = property.validationWarnings
            let warning = position < warnings.count ? warnings[position] : ""
            guard let value = DocumentValues.document(warning) else {
                throw notEncodable("a validation warning of \(label) can't be kept in a file")
            }
            written.validations.append(
                ModelDocument.Validation(predicate: try ModelFormats.format(of: predicate), warning: value))
        }
        return written
    }

    /// Takes limits that ``NSAttributeDescription/setBounds(minimum:maximum:pattern:)`` made out of the validations.
    private func writeBounds(of attribute: NSAttributeDescription, into written: inout ModelDocument.Attribute) {
        var bounds: [Any?] = [nil, nil, nil]
        var count = 0
        for (predicate, warning) in zip(attribute.validationPredicates, attribute.validationWarnings) {
            guard let code = (warning as? NSNumber)?.intValue, let bound = Self.bound(code), bounds[bound] == nil,
                let comparison = predicate as? NSComparisonPredicate,
                comparison.rightExpression.expressionType == .constantValue,
                let constant = comparison.rightExpression.constantValue
            else { break }
            bounds[bound] = constant
            count += 1
        }
        guard count > 0, bounds[2] == nil || bounds[2] is String else { return }
        let probe = NSAttributeDescription()
        probe.attributeType = attribute.attributeType
        guard bounds[2] == nil || attribute.attributeType == .stringAttributeType else { return }
        probe.setBounds(minimum: bounds[0], maximum: bounds[1], pattern: bounds[2] as? String)
        guard probe.validationPredicates == attribute.validationPredicates.prefix(count).map(\.canonical) else {
            return
        }
        written.minimum = bounds[0].flatMap { DocumentValues.document($0) }
        written.maximum = bounds[1].flatMap { DocumentValues.document($0) }
        written.pattern = bounds[2] as? String
        written.property.validations.removeFirst(count)
    }

    /// Which limit has an error code: 0 for the least, 1 for the greatest, 2 for the pattern.
    private static func bound(_ code: Int) -> Int? {
        switch code {
        case NSValidationStringTooShortError, NSValidationDateTooSoonError, NSValidationNumberTooSmallError: 0
        case NSValidationStringTooLongError, NSValidationDateTooLateError, NSValidationNumberTooLargeError: 1
        case NSValidationStringPatternMatchingError: 2
        default: nil
        }
    }

    private func write(_ template: FetchRequestTemplate, name: String) throws -> ModelDocument.FetchRequest {
        guard template.timeLimit == nil else {
            throw notEncodable("fetch request '\(name)' has a time limit, which no model file can say")
        }
        var written = ModelDocument.FetchRequest(name: name, entityName: template.entityName ?? "")
        written.predicate = try template.predicate.map { try ModelFormats.format(of: $0) }
        written.sorts = template.sorts.map {
            ModelDocument.Sort(key: $0.key, isAscending: $0.isAscending, selectorName: $0.selectorName)
        }
        written.resultType = Int(template.resultType.rawValue)
        written.fetchLimit = template.fetchLimit
        written.fetchOffset = template.fetchOffset
        written.fetchBatchSize = template.fetchBatchSize
        written.includesSubentities = template.includesSubentities
        written.includesPropertyValues = template.includesPropertyValues
        written.includesPendingChanges = template.includesPendingChanges
        written.returnsObjectsAsFaults = template.returnsObjectsAsFaults
        written.returnsDistinctResults = template.returnsDistinctResults
        written.refreshesRefetchedObjects = template.shouldRefreshRefetchedObjects
        written.propertiesToFetch = template.propertyNamesToFetch
        written.propertiesToGroupBy = template.propertyNamesToGroupBy
        written.havingPredicate = try template.havingPredicate.map { try ModelFormats.format(of: $0) }
        written.prefetchedKeyPaths = template.relationshipKeyPathsForPrefetching
        return written
    }

    private func write(_ userInfo: [AnyHashable: Any]?, label: String) throws -> [String: ModelDocument.Value] {
        var written: [String: ModelDocument.Value] = [:]
        for (key, value) in userInfo ?? [:] {
            guard let key = key.base as? String, let value = DocumentValues.document(value) else {
                throw notEncodable("the user info of \(label) has '\(key)', which can't be kept in a file")
            }
            written[key] = value
        }
        return written
    }
}

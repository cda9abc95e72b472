import Foundation

extension ModelWriter {
    mutating func write(property: NSPropertyDescription) throws {
        try beginPart()
        write(byte: try kind(of: property).rawValue)
        write(property.name)
        var flags: ModelEncoding.PropertyFlags = []
        if property.isOptional { flags.insert(.optional) }
        if property.isTransient { flags.insert(.transient) }
        if property.isIndexedBySpotlight { flags.insert(.indexedBySpotlight) }
        if property.storedInExternalRecord { flags.insert(.storedInExternalRecord) }
        if property.hasOwnIndex { flags.insert(.ownIndex) }
        write(byte: flags.rawValue)
        write(optional: property.versionHashModifier)
        write(optional: property.explicitRenamingIdentifier)
        try write(userInfo: property.userInfo)
        write(UInt64(property.validationPredicates.count))
        for predicate in property.validationPredicates {
            try beginPart()
            try write(predicate: predicate)
        }
        write(UInt64(property.validationWarnings.count))
        for warning in property.validationWarnings {
            try write(value: warning)
        }
        switch property {
        case let attribute as NSAttributeDescription: try write(detailsOf: attribute)
        case let relationship as NSRelationshipDescription: write(detailsOf: relationship)
        case let fetched as NSFetchedPropertyDescription:
            write(fetched.template != nil)
            if let template = fetched.template { try write(template: template) }
        case let expression as NSExpressionDescription:
            write(UInt64(expression.expressionResultType.rawValue))
            try write(optional: expression.expression)
        default: break
        }
    }

    private func kind(of property: NSPropertyDescription) throws -> ModelEncoding.PropertyKind {
        switch property {
        case is NSDerivedAttributeDescription: .derivedAttribute
        case is NSCompositeAttributeDescription: .compositeAttribute
        case is NSAttributeDescription: .attribute
        case is NSRelationshipDescription: .relationship
        case is NSFetchedPropertyDescription: .fetchedProperty
        case is NSExpressionDescription: .expression
        default:
            throw ModelError(.notEncodable, "property '\(property.name)' is a \(type(of: property)), which is no kind")
        }
    }

    private mutating func write(detailsOf attribute: NSAttributeDescription) throws {
        write(UInt64(attribute.attributeType.rawValue))
        write(optional: attribute.valueTransformerName)
        write(optional: attribute.explicitValueClassName)
        var flags: ModelEncoding.AttributeFlags = []
        if attribute.allowsExternalBinaryDataStorage { flags.insert(.externalBinaryData) }
        if attribute.preservesValueInHistoryOnDeletion { flags.insert(.preservedInHistory) }
        if attribute.allowsCloudEncryption { flags.insert(.cloudEncryption) }
        write(byte: flags.rawValue)
        try write(defaultOf: attribute)
        if let derived = attribute as? NSDerivedAttributeDescription {
            try write(optional: derived.derivationExpression)
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            write(UInt64(composite.elements.count))
            for element in composite.elements.sorted(by: { precedesByBytes($0.name, $1.name) }) {
                try write(property: element)
            }
        }
    }

    /// 0 for none, 1 and a value, 2 and the bytes that the attribute's transformer made.
    private mutating func write(defaultOf attribute: NSAttributeDescription) throws {
        switch attribute.storedDefaultValue {
        case nil: write(byte: 0)
        case .transformed(let data):
            write(byte: 2)
            write(bytes: Array(data))
        case .value(let value):
            let checkpoint = self
            do {
                write(byte: 1)
                try write(value: value)
            } catch  where attribute.attributeType == .transformableAttributeType {
                self = checkpoint
                write(byte: 2)
                guard let data = try attribute.transformedData(from: value) else { throw error }
                write(bytes: Array(data))
            }
        }
    }

    private mutating func write(detailsOf relationship: NSRelationshipDescription) {
        write(optional: relationship.destinationEntity?.name)
        write(optional: relationship.inverseRelationship?.owningEntity?.name)
        write(optional: relationship.inverseRelationship?.name)
        write(signed: Int64(relationship.minCount))
        write(signed: Int64(relationship.maxCount))
        write(byte: UInt8(relationship.deleteRule.rawValue))
        write(relationship.isOrdered)
    }
}

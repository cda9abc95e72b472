import Foundation

extension ModelReader {
    /// - Parameters:
    ///   - pending: gets the relationships, to be linked when all entities are read.
    ///   - depth: how many composites the property is in.
    mutating func readProperty(
        _ pending: inout [PendingRelationship], depth: Int = 0
    ) throws -> NSPropertyDescription {
        try beginPart()
        guard let kind = ModelEncoding.PropertyKind(rawValue: try readByte()) else {
            throw damaged("an unknown kind of property")
        }
        let property: NSPropertyDescription =
            switch kind {
            case .attribute: NSAttributeDescription()
            case .derivedAttribute: NSDerivedAttributeDescription()
            case .compositeAttribute: NSCompositeAttributeDescription()
            case .relationship: NSRelationshipDescription()
            case .fetchedProperty: NSFetchedPropertyDescription()
            case .expression: NSExpressionDescription()
            }
        try readCommon(property)
        switch property {
        case let attribute as NSAttributeDescription:
            try readDetails(of: attribute, depth: depth)
        case let relationship as NSRelationshipDescription:
            pending.append(try readDetails(of: relationship))
        case let fetched as NSFetchedPropertyDescription:
            fetched.template = try readBool() ? try readTemplate() : nil
        case let expression as NSExpressionDescription:
            expression.expressionResultType = try readAttributeType()
            expression.expression = try readOptionalExpression()
        default: break
        }
        return property
    }

    private mutating func readCommon(_ property: NSPropertyDescription) throws {
        property.name = try readString()
        let flags = ModelEncoding.PropertyFlags(rawValue: try readByte())
        property.isOptional = flags.contains(.optional)
        property.isTransient = flags.contains(.transient)
        property.isIndexedBySpotlight = flags.contains(.indexedBySpotlight)
        property.storedInExternalRecord = flags.contains(.storedInExternalRecord)
        property.hasOwnIndex = flags.contains(.ownIndex)
        property.versionHashModifier = try readOptionalString()
        property.explicitRenamingIdentifier = try readOptionalString()
        property.userInfo = try readUserInfo() ?? [:]
        var predicates: [NSPredicate] = []
        for _ in 0..<(try readCount()) {
            try beginPart()
            predicates.append(try readPredicate())
        }
        var warnings: [Any] = []
        for _ in 0..<(try readCount()) {
            warnings.append(try readValue())
        }
        property.setValidation(predicates: predicates, warnings: warnings)
    }

    private mutating func readAttributeType() throws -> NSAttributeType {
        let number = try readUInt64()
        guard let type = UInt(exactly: number).flatMap({ NSAttributeType(rawValue: $0) }) else {
            throw damaged("an unknown attribute type")
        }
        return type
    }

    private mutating func readDetails(of attribute: NSAttributeDescription, depth: Int) throws {
        attribute.attributeType = try readAttributeType()
        attribute.valueTransformerName = try readOptionalString()
        attribute.explicitValueClassName = try readOptionalString()
        let flags = ModelEncoding.AttributeFlags(rawValue: try readByte())
        attribute.allowsExternalBinaryDataStorage = flags.contains(.externalBinaryData)
        attribute.preservesValueInHistoryOnDeletion = flags.contains(.preservedInHistory)
        attribute.allowsCloudEncryption = flags.contains(.cloudEncryption)
        switch try readByte() {
        case 0: break
        case 1: attribute.storedDefaultValue = .value(try readValue())
        case 2: attribute.storedDefaultValue = .transformed(Data(try readBytes()))
        default: throw damaged("an unknown kind of default value")
        }
        if let derived = attribute as? NSDerivedAttributeDescription {
            derived.derivationExpression = try readOptionalExpression()
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            composite.elements = try readElements(depth: depth + 1)
        }
    }

    private mutating func readElements(depth: Int) throws -> [NSAttributeDescription] {
        guard depth <= NSCompositeAttributeDescription.maximumDepth else { throw damaged("composites are too deep") }
        var none: [PendingRelationship] = []
        var elements: [NSAttributeDescription] = []
        for _ in 0..<(try readCount()) {
            guard let element = try readProperty(&none, depth: depth) as? NSAttributeDescription else {
                throw damaged("the element of a composite is no attribute")
            }
            elements.append(element)
        }
        return elements
    }

    private mutating func readDetails(of relationship: NSRelationshipDescription) throws -> PendingRelationship {
        var pending = PendingRelationship(relationship: relationship)
        pending.destination = try readOptionalString()
        pending.inverseEntity = try readOptionalString()
        pending.inverseName = try readOptionalString()
        relationship.minCount = try readInt()
        relationship.maxCount = try readInt()
        guard let rule = NSDeleteRule(rawValue: UInt(try readByte())) else { throw damaged("an unknown delete rule") }
        relationship.deleteRule = rule
        relationship.isOrdered = try readBool()
        return pending
    }

    mutating func readTemplate() throws -> FetchRequestTemplate {
        try beginPart()
        var template = FetchRequestTemplate()
        template.entityName = try readOptionalString()
        template.predicate = try readOptionalPredicate()
        for _ in 0..<(try readCount()) {
            try beginPart()
            let key = try readString()
            let isAscending = try readBool()
            template.sorts.append(
                FetchRequestTemplate.Sort(key: key, isAscending: isAscending, selectorName: try readOptionalString()))
        }
        template.resultType = NSFetchRequestResultType(rawValue: UInt(truncatingIfNeeded: try readUInt64()))
        template.fetchLimit = try readInt()
        template.fetchOffset = try readInt()
        template.fetchBatchSize = try readInt()
        let flags = ModelEncoding.TemplateFlags(rawValue: try readByte())
        template.includesSubentities = flags.contains(.subentities)
        template.includesPropertyValues = flags.contains(.propertyValues)
        template.includesPendingChanges = flags.contains(.pendingChanges)
        template.returnsObjectsAsFaults = flags.contains(.faults)
        template.returnsDistinctResults = flags.contains(.distinct)
        template.shouldRefreshRefetchedObjects = flags.contains(.refresh)
        template.propertyNamesToFetch = try readOptionalStrings()
        template.propertyNamesToGroupBy = try readOptionalStrings()
        template.havingPredicate = try readOptionalPredicate()
        template.relationshipKeyPathsForPrefetching = try readOptionalStrings()
        if flags.contains(.timeLimit) { template.timeLimit = .nanoseconds(try readInt()) }
        return template
    }
}

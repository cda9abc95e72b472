import CoreData

/// Names every symbol of the group "model" with its signature, so that none can vanish. Never run.
enum SurfaceDescriptions {
    static func nsAttributeDescription() {
        _ = NSAttributeDescription.self
        _ = { (object: NSAttributeDescription) -> NSPropertyDescription in object }
        _ = { (object: NSAttributeDescription) -> NSAttributeType in object.attributeType }
        _ = { (object: NSAttributeDescription, value: NSAttributeType) -> Void in object.attributeType = value }
        _ = { (object: NSAttributeDescription) -> String? in object.attributeValueClassName }
        _ = { (object: NSAttributeDescription, value: String?) -> Void in object.attributeValueClassName = value }
        _ = { (object: NSAttributeDescription) -> Any? in object.defaultValue }
        _ = { (object: NSAttributeDescription, value: Any?) -> Void in object.defaultValue = value }
        _ = { (object: NSAttributeDescription) -> Data in object.versionHash }
        _ = { (object: NSAttributeDescription) -> String? in object.valueTransformerName }
        _ = { (object: NSAttributeDescription, value: String?) -> Void in object.valueTransformerName = value }
        _ = { (object: NSAttributeDescription) -> Bool in object.allowsExternalBinaryDataStorage }
        _ = { (object: NSAttributeDescription, value: Bool) -> Void in object.allowsExternalBinaryDataStorage = value }
        _ = { (object: NSAttributeDescription) -> NSAttributeDescription.AttributeType in object.type }
        _ = { (object: NSAttributeDescription, value: NSAttributeDescription.AttributeType) -> Void in
            object.type = value
        }
    }

    static func nsAttributeDescriptionMemberAttributeType() {
        _ = NSAttributeDescription.AttributeType.self
        func conformsNSAttributeDescriptionAttributeTypeHashable<T: Hashable>(_: T.Type) {}
        conformsNSAttributeDescriptionAttributeTypeHashable(NSAttributeDescription.AttributeType.self)
        func conformsNSAttributeDescriptionAttributeTypeEquatable<T: Equatable>(_: T.Type) {}
        conformsNSAttributeDescriptionAttributeTypeEquatable(NSAttributeDescription.AttributeType.self)
        func conformsNSAttributeDescriptionAttributeTypeRawRepresentable<T: RawRepresentable>(_: T.Type) {}
        conformsNSAttributeDescriptionAttributeTypeRawRepresentable(NSAttributeDescription.AttributeType.self)
        _ = { (object: NSAttributeDescription.AttributeType) -> NSAttributeType in object.rawValue }
        _ = { (a0: NSAttributeType) -> NSAttributeDescription.AttributeType in
            NSAttributeDescription.AttributeType(rawValue: a0)
        }
        _ = { (value: NSAttributeType) -> NSAttributeDescription.AttributeType.RawValue in value }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.undefined }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.integer16 }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.integer32 }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.integer64 }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.decimal }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.double }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.float }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.string }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.boolean }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.date }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.binaryData }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.uuid }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.uri }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.transformable }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.objectID }
        _ = { () -> NSAttributeDescription.AttributeType in NSAttributeDescription.AttributeType.composite }
    }

    static func nsAttributeType() {
        _ = NSAttributeType.self
        _ = { (value: NSAttributeType) -> UInt in value.rawValue }
        _ = { (object: NSAttributeType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSAttributeType? in NSAttributeType(rawValue: a0) }
        _ = { (object: NSAttributeType) -> UInt in object.rawValue }
        _ = { () -> NSAttributeType in .undefinedAttributeType }
        _ = { () -> NSAttributeType in .integer16AttributeType }
        _ = { () -> NSAttributeType in .integer32AttributeType }
        _ = { () -> NSAttributeType in .integer64AttributeType }
        _ = { () -> NSAttributeType in .decimalAttributeType }
        _ = { () -> NSAttributeType in .doubleAttributeType }
        _ = { () -> NSAttributeType in .floatAttributeType }
        _ = { () -> NSAttributeType in .stringAttributeType }
        _ = { () -> NSAttributeType in .booleanAttributeType }
        _ = { () -> NSAttributeType in .dateAttributeType }
        _ = { () -> NSAttributeType in .binaryDataAttributeType }
        _ = { () -> NSAttributeType in .UUIDAttributeType }
        _ = { () -> NSAttributeType in .URIAttributeType }
        _ = { () -> NSAttributeType in .transformableAttributeType }
        _ = { () -> NSAttributeType in .objectIDAttributeType }
        _ = { () -> NSAttributeType in .compositeAttributeType }
    }

    static func nsCompositeAttributeDescription() {
        _ = NSCompositeAttributeDescription.self
        _ = { (object: NSCompositeAttributeDescription) -> NSAttributeDescription in object }
        _ = { (object: NSCompositeAttributeDescription) -> [NSAttributeDescription] in object.elements }
        _ = { (object: NSCompositeAttributeDescription, value: [NSAttributeDescription]) -> Void in
            object.elements = value
        }
    }

    static func nsDeleteRule() {
        _ = NSDeleteRule.self
        _ = { (value: NSDeleteRule) -> UInt in value.rawValue }
        _ = { (object: NSDeleteRule) -> any Sendable in object }
        _ = { (a0: UInt) -> NSDeleteRule? in NSDeleteRule(rawValue: a0) }
        _ = { (object: NSDeleteRule) -> UInt in object.rawValue }
        _ = { () -> NSDeleteRule in .noActionDeleteRule }
        _ = { () -> NSDeleteRule in .nullifyDeleteRule }
        _ = { () -> NSDeleteRule in .cascadeDeleteRule }
        _ = { () -> NSDeleteRule in .denyDeleteRule }
    }

    static func nsDerivedAttributeDescription() {
        _ = NSDerivedAttributeDescription.self
        _ = { (object: NSDerivedAttributeDescription) -> NSAttributeDescription in object }
        _ = { (object: NSDerivedAttributeDescription) -> NSExpression? in object.derivationExpression }
        _ = { (object: NSDerivedAttributeDescription, value: NSExpression?) -> Void in
            object.derivationExpression = value
        }
    }

    static func nsEntityDescription() {
        _ = { (object: NSEntityDescription) -> NSObject in object }
        _ = { (object: NSEntityDescription) -> any NSCoding in object }
        _ = { (object: NSEntityDescription) -> any NSCopying in object }
        _ = { (object: NSEntityDescription) -> any Sequence in object }
        _ = { (a0: String, a1: NSManagedObjectContext) -> NSEntityDescription? in
            NSEntityDescription.entity(forEntityName: a0, in: a1)
        }
        _ = { (a0: String, a1: NSManagedObjectContext) -> NSManagedObject in
            NSEntityDescription.insertNewObject(forEntityName: a0, into: a1)
        }
        _ = { (object: NSEntityDescription) -> NSManagedObjectModel in object.managedObjectModel }
        _ = { (object: NSEntityDescription) -> String? in object.managedObjectClassName }
        _ = { (object: NSEntityDescription, value: String?) -> Void in object.managedObjectClassName = value }
        _ = { (object: NSEntityDescription) -> String? in object.name }
        _ = { (object: NSEntityDescription, value: String?) -> Void in object.name = value }
        _ = { (object: NSEntityDescription) -> Bool in object.isAbstract }
        _ = { (object: NSEntityDescription, value: Bool) -> Void in object.isAbstract = value }
        _ = { (object: NSEntityDescription) -> [String: NSEntityDescription] in object.subentitiesByName }
        _ = { (object: NSEntityDescription) -> [NSEntityDescription] in object.subentities }
        _ = { (object: NSEntityDescription, value: [NSEntityDescription]) -> Void in object.subentities = value }
        _ = { (object: NSEntityDescription) -> NSEntityDescription? in object.superentity }
        _ = { (object: NSEntityDescription) -> [String: NSPropertyDescription] in object.propertiesByName }
        _ = { (object: NSEntityDescription) -> [NSPropertyDescription] in object.properties }
        _ = { (object: NSEntityDescription, value: [NSPropertyDescription]) -> Void in object.properties = value }
        _ = { (object: NSEntityDescription) -> [AnyHashable: Any]? in object.userInfo }
        _ = { (object: NSEntityDescription, value: [AnyHashable: Any]?) -> Void in object.userInfo = value }
        _ = { (object: NSEntityDescription) -> [String: NSAttributeDescription] in object.attributesByName }
        _ = { (object: NSEntityDescription) -> [String: NSRelationshipDescription] in object.relationshipsByName }
        _ = { (object: NSEntityDescription, a0: NSEntityDescription) -> [NSRelationshipDescription] in
            object.relationships(forDestination: a0)
        }
        _ = { (object: NSEntityDescription, a0: NSEntityDescription) -> Bool in object.isKindOf(entity: a0) }
        _ = { (object: NSEntityDescription) -> Data in object.versionHash }
        _ = { (object: NSEntityDescription) -> String? in object.versionHashModifier }
        _ = { (object: NSEntityDescription, value: String?) -> Void in object.versionHashModifier = value }
        _ = { (object: NSEntityDescription) -> String? in object.renamingIdentifier }
        _ = { (object: NSEntityDescription, value: String?) -> Void in object.renamingIdentifier = value }
        _ = { (object: NSEntityDescription) -> [NSFetchIndexDescription] in object.indexes }
        _ = { (object: NSEntityDescription, value: [NSFetchIndexDescription]) -> Void in object.indexes = value }
        _ = { (object: NSEntityDescription) -> [[Any]] in object.uniquenessConstraints }
        _ = { (object: NSEntityDescription, value: [[Any]]) -> Void in object.uniquenessConstraints = value }
    }

    static func nsExpressionDescription() {
        _ = NSExpressionDescription.self
        _ = { (object: NSExpressionDescription) -> NSPropertyDescription in object }
        _ = { (object: NSExpressionDescription) -> NSExpression? in object.expression }
        _ = { (object: NSExpressionDescription, value: NSExpression?) -> Void in object.expression = value }
        _ = { (object: NSExpressionDescription) -> NSAttributeType in object.expressionResultType }
        _ = { (object: NSExpressionDescription, value: NSAttributeType) -> Void in object.expressionResultType = value }
        _ = { (object: NSExpressionDescription) -> NSAttributeDescription.AttributeType in object.resultType }
        _ = { (object: NSExpressionDescription, value: NSAttributeDescription.AttributeType) -> Void in
            object.resultType = value
        }
    }

    static func nsFetchIndexDescription() {
        _ = NSFetchIndexDescription.self
        _ = { (object: NSFetchIndexDescription) -> NSObject in object }
        _ = { (object: NSFetchIndexDescription) -> any NSCoding in object }
        _ = { (object: NSFetchIndexDescription) -> any NSCopying in object }
        _ = { (a0: String, a1: [NSFetchIndexElementDescription]?) -> NSFetchIndexDescription in
            NSFetchIndexDescription(name: a0, elements: a1)
        }
        _ = { (object: NSFetchIndexDescription) -> String in object.name }
        _ = { (object: NSFetchIndexDescription, value: String) -> Void in object.name = value }
        _ = { (object: NSFetchIndexDescription) -> [NSFetchIndexElementDescription] in object.elements }
        _ = { (object: NSFetchIndexDescription, value: [NSFetchIndexElementDescription]) -> Void in
            object.elements = value
        }
        _ = { (object: NSFetchIndexDescription) -> NSEntityDescription? in object.entity }
        _ = { (object: NSFetchIndexDescription) -> NSPredicate? in object.partialIndexPredicate }
        _ = { (object: NSFetchIndexDescription, value: NSPredicate?) -> Void in object.partialIndexPredicate = value }
    }

    static func nsFetchIndexElementDescription() {
        _ = NSFetchIndexElementDescription.self
        _ = { (object: NSFetchIndexElementDescription) -> NSObject in object }
        _ = { (object: NSFetchIndexElementDescription) -> any NSCoding in object }
        _ = { (object: NSFetchIndexElementDescription) -> any NSCopying in object }
        _ = { (a0: NSPropertyDescription, a1: NSFetchIndexElementType) -> NSFetchIndexElementDescription in
            NSFetchIndexElementDescription(property: a0, collationType: a1)
        }
        _ = { (object: NSFetchIndexElementDescription) -> NSPropertyDescription? in object.property }
        _ = { (object: NSFetchIndexElementDescription) -> String? in object.propertyName }
        _ = { (object: NSFetchIndexElementDescription) -> NSFetchIndexElementType in object.collationType }
        _ = { (object: NSFetchIndexElementDescription, value: NSFetchIndexElementType) -> Void in
            object.collationType = value
        }
        _ = { (object: NSFetchIndexElementDescription) -> Bool in object.isAscending }
        _ = { (object: NSFetchIndexElementDescription, value: Bool) -> Void in object.isAscending = value }
        _ = { (object: NSFetchIndexElementDescription) -> NSFetchIndexDescription? in object.indexDescription }
    }

    static func nsFetchIndexElementType() {
        _ = NSFetchIndexElementType.self
        _ = { (value: NSFetchIndexElementType) -> UInt in value.rawValue }
        _ = { (object: NSFetchIndexElementType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSFetchIndexElementType? in NSFetchIndexElementType(rawValue: a0) }
        _ = { (object: NSFetchIndexElementType) -> UInt in object.rawValue }
        _ = { () -> NSFetchIndexElementType in .binary }
        _ = { () -> NSFetchIndexElementType in .rTree }
    }

    static func nsFetchedPropertyDescription() {
        _ = NSFetchedPropertyDescription.self
        _ = { (object: NSFetchedPropertyDescription) -> NSPropertyDescription in object }
        _ = { (object: NSFetchedPropertyDescription) -> NSFetchRequest<any NSFetchRequestResult>? in object.fetchRequest
        }
        _ = { (object: NSFetchedPropertyDescription, value: NSFetchRequest<any NSFetchRequestResult>?) -> Void in
            object.fetchRequest = value
        }
    }

    static func nsPropertyDescription() {
        _ = NSPropertyDescription.self
        _ = { (object: NSPropertyDescription) -> NSObject in object }
        _ = { (object: NSPropertyDescription) -> any NSCoding in object }
        _ = { (object: NSPropertyDescription) -> any NSCopying in object }
        _ = { (object: NSPropertyDescription) -> NSEntityDescription in object.entity }
        _ = { (object: NSPropertyDescription) -> String in object.name }
        _ = { (object: NSPropertyDescription, value: String) -> Void in object.name = value }
        _ = { (object: NSPropertyDescription) -> Bool in object.isOptional }
        _ = { (object: NSPropertyDescription, value: Bool) -> Void in object.isOptional = value }
        _ = { (object: NSPropertyDescription) -> Bool in object.isTransient }
        _ = { (object: NSPropertyDescription, value: Bool) -> Void in object.isTransient = value }
        _ = { (object: NSPropertyDescription) -> [AnyHashable: Any]? in object.userInfo }
        _ = { (object: NSPropertyDescription, value: [AnyHashable: Any]?) -> Void in object.userInfo = value }
        _ = { (object: NSPropertyDescription) -> Data in object.versionHash }
        _ = { (object: NSPropertyDescription) -> String? in object.versionHashModifier }
        _ = { (object: NSPropertyDescription, value: String?) -> Void in object.versionHashModifier = value }
        _ = { (object: NSPropertyDescription) -> String? in object.renamingIdentifier }
        _ = { (object: NSPropertyDescription, value: String?) -> Void in object.renamingIdentifier = value }
    }

    static func nsRelationshipDescription() {
        _ = NSRelationshipDescription.self
        _ = { (object: NSRelationshipDescription) -> NSPropertyDescription in object }
        _ = { (object: NSRelationshipDescription) -> NSEntityDescription? in object.destinationEntity }
        _ = { (object: NSRelationshipDescription, value: NSEntityDescription?) -> Void in
            object.destinationEntity = value
        }
        _ = { (object: NSRelationshipDescription) -> NSRelationshipDescription? in object.inverseRelationship }
        _ = { (object: NSRelationshipDescription, value: NSRelationshipDescription?) -> Void in
            object.inverseRelationship = value
        }
        _ = { (object: NSRelationshipDescription) -> Int in object.maxCount }
        _ = { (object: NSRelationshipDescription, value: Int) -> Void in object.maxCount = value }
        _ = { (object: NSRelationshipDescription) -> Int in object.minCount }
        _ = { (object: NSRelationshipDescription, value: Int) -> Void in object.minCount = value }
        _ = { (object: NSRelationshipDescription) -> NSDeleteRule in object.deleteRule }
        _ = { (object: NSRelationshipDescription, value: NSDeleteRule) -> Void in object.deleteRule = value }
        _ = { (object: NSRelationshipDescription) -> Bool in object.isToMany }
        _ = { (object: NSRelationshipDescription) -> Data in object.versionHash }
        _ = { (object: NSRelationshipDescription) -> Bool in object.isOrdered }
        _ = { (object: NSRelationshipDescription, value: Bool) -> Void in object.isOrdered = value }
    }
}

import Foundation

@testable import Strata

/// Random models that are free of contradictions, for a seed always the same.
struct ModelGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

    mutating func model() -> NSManagedObjectModel {
        let entities = (0..<number(1...8)).map { index in
            let entity = NSEntityDescription()
            entity.name = "Entity\(index)"
            return entity
        }
        for (index, entity) in entities.enumerated() {
            if index > 0, chance(40) { entities[number(0...index - 1)].subentities.append(entity) }
            decorate(entity, index)
        }
        for index in 0..<number(0...entities.count * 2) { relate(entities, index) }
        for entity in entities { constrain(entity) }
        let model = NSManagedObjectModel()
        model.entities = entities
        if chance(50) {
            model.setEntities(entities.filter { _ in chance(50) }, forConfigurationName: "Local")
        }
        if chance(30) { model.localizationDictionary = ["Entity/Entity0": "Erste", "Property/p": "Größe"] }
        model.versionIdentifiers = chance(50) ? ["1.0", 7, "ß"] : []
        if chance(50) {
            model.templates["all"] = template()
            model.templates["some"] = template()
        }
        return model
    }

    private mutating func decorate(_ entity: NSEntityDescription, _ index: Int) {
        if chance(70) { entity.managedObjectClassName = "Class\(index)" }
        entity.isAbstract = chance(15)
        if chance(20) { entity.versionHashModifier = "v\(index)" }
        if chance(20) { entity.renamingIdentifier = "Old\(index)" }
        if chance(30) { entity.userInfo = userInfo() }
        if chance(10) { entity.coreSpotlightDisplayNameExpression = NSExpression(forKeyPath: "name") }
        entity.properties = (0..<number(0...9)).map { property("e\(index)p\($0)") }
    }

    private mutating func property(_ name: String) -> NSPropertyDescription {
        let property: NSPropertyDescription
        switch number(1...20) {
        case 1:
            let derived = NSDerivedAttributeDescription()
            derived.attributeType = .integer64AttributeType
            derived.derivationExpression = NSExpression(format: "items.@count")
            property = derived
        case 2:
            let composite = NSCompositeAttributeDescription()
            composite.elements = (0..<number(0...3)).map { attribute("\(name)e\($0)") }
            property = composite
        case 3:
            let fetched = NSFetchedPropertyDescription()
            fetched.template = chance(80) ? template() : nil
            property = fetched
        default: property = attribute(name)
        }
        property.name = name
        property.isOptional = chance(50)
        property.isTransient = chance(10)
        if chance(20) { property.versionHashModifier = "m" }
        if chance(20) { property.renamingIdentifier = "old\(name)" }
        if chance(20) { property.userInfo = userInfo() }
        property.isIndexedBySpotlight = chance(10)
        property.hasOwnIndex = chance(10)
        if chance(20) {
            property.setValidationPredicates(
                [NSPredicate(format: "SELF != nil"), NSPredicate(format: "SELF BEGINSWITH[cd] 'a'")],
                withValidationWarnings: ["missing", "wrong"])
        }
        return property
    }

    private mutating func attribute(_ name: String) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        let types: [(NSAttributeType, Any)] = [
            (.integer16AttributeType, Int16(truncatingIfNeeded: next())),
            (.integer32AttributeType, Int32(truncatingIfNeeded: next())),
            (.integer64AttributeType, Int64(truncatingIfNeeded: next())),
            (.decimalAttributeType, NSDecimalNumber(mantissa: next(), exponent: -7, isNegative: chance(50))),
            (.doubleAttributeType, Double(bitPattern: next() >> 2)), (.floatAttributeType, Float(number(0...9)) / 8),
            (.stringAttributeType, "Zeichen \(next())"), (.booleanAttributeType, chance(50)),
            (.dateAttributeType, Date(timeIntervalSinceReferenceDate: Double(number(-9_000...9_000)) / 16)),
            (.binaryDataAttributeType, Data((0..<number(0...40)).map { UInt8($0) })), (.UUIDAttributeType, UUID()),
            (.URIAttributeType, URL(string: "https://example.org/\(number(0...99))") as Any),
            (.transformableAttributeType, ["list": [1, 2.5, "three"], "none": NSNull()] as [String: Any]),
        ]
        let (type, value) = types[number(0...types.count - 1)]
        attribute.attributeType = type
        if chance(50) { attribute.defaultValue = value }
        if type == .transformableAttributeType, chance(50) { attribute.valueTransformerName = "Colors" }
        if chance(10) { attribute.attributeValueClassName = "Value" }
        attribute.allowsExternalBinaryDataStorage = chance(10)
        attribute.preservesValueInHistoryOnDeletion = chance(10)
        attribute.allowsCloudEncryption = chance(10)
        return attribute
    }

    private mutating func relate(_ entities: [NSEntityDescription], _ index: Int) {
        let source = entities[number(0...entities.count - 1)]
        let destination = entities[number(0...entities.count - 1)]
        let forth = relationship("r\(index)", to: destination)
        source.properties.append(forth)
        guard chance(80) else { return }
        if chance(10), source === destination {
            forth.inverseRelationship = forth
            return
        }
        let back = relationship("r\(index)back", to: source)
        destination.properties.append(back)
        forth.inverseRelationship = back
        back.inverseRelationship = forth
    }

    private mutating func relationship(_ name: String, to entity: NSEntityDescription) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = number(0...3)
        relationship.minCount = relationship.maxCount == 0 ? number(0...2) : number(0...relationship.maxCount)
        relationship.isOrdered = relationship.isToMany && chance(20)
        relationship.deleteRule = NSDeleteRule(rawValue: UInt(number(0...3))) ?? .nullifyDeleteRule
        if chance(20) { relationship.userInfo = userInfo() }
        return relationship
    }

    private mutating func constrain(_ entity: NSEntityDescription) {
        let attributes = entity.attributesByName.values.sorted { $0.name < $1.name }
        guard let first = attributes.first else { return }
        if chance(30) { entity.uniquenessConstraints = [[first.name], attributes.prefix(2).map(\.name)] }
        guard chance(30) else { return }
        let elements = attributes.prefix(2).map {
            NSFetchIndexElementDescription(property: $0, collationType: chance(80) ? .binary : .rTree)
        }
        elements[0].isAscending = chance(50)
        let index = NSFetchIndexDescription(name: "byFirst", elements: elements)
        if chance(50) { index.partialIndexPredicate = NSPredicate(format: "\(first.name) != nil") }
        entity.indexes = [index]
        if chance(30) {
            let expression = NSExpressionDescription()
            expression.name = "sum"
            expression.expression = NSExpression(format: "1 + 2")
            expression.expressionResultType = .integer64AttributeType
            entity.indexes.append(
                NSFetchIndexDescription(
                    name: "bySum",
                    elements: [NSFetchIndexElementDescription(property: expression, collationType: .binary)]))
        }
    }

    private mutating func template() -> FetchRequestTemplate {
        var template = FetchRequestTemplate()
        template.entityName = chance(90) ? "Entity0" : nil
        if chance(50) { template.predicate = NSPredicate(format: "name == $NAME AND age > 3") }
        if chance(50) {
            template.sorts = [
                FetchRequestTemplate.Sort(key: "name", isAscending: false, selectorName: "compare:"),
                FetchRequestTemplate.Sort(key: "age", isAscending: true),
            ]
        }
        template.resultType = NSFetchRequestResultType(rawValue: UInt(number(0...4)))
        template.fetchLimit = number(0...100)
        template.fetchOffset = number(0...100)
        template.fetchBatchSize = number(0...100)
        template.includesSubentities = chance(50)
        template.returnsDistinctResults = chance(50)
        if chance(30) { template.propertyNamesToFetch = ["name", "age"] }
        if chance(30) { template.propertyNamesToGroupBy = [] }
        if chance(30) { template.relationshipKeyPathsForPrefetching = ["a.b"] }
        return template
    }

    private mutating func userInfo() -> [AnyHashable: Any] {
        var info: [AnyHashable: Any] = ["text": "Größe \(number(0...9))", "flag": chance(50), "count": number(0...9)]
        if chance(30) { info["nested"] = ["list": [1, "two", Data([3])], "set": Set(["a", "b"])] as [String: Any] }
        if chance(30) { info[7] = UInt64.max }
        return info
    }
}

extension NSDecimalNumber {
    fileprivate convenience init(mantissa: UInt64, exponent: Int16, isNegative: Bool) {
        let value = Decimal(mantissa) * pow(Decimal(10), Int(exponent))
        self.init(decimal: isNegative ? -value : value)
    }
}

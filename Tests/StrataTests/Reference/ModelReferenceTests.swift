import CoreData
import Foundation
import Testing

/// What Core Data's reference says of models, entities, properties and indexes, where no other suite says it.
@Suite struct ModelReferenceTests {
    @Test func defaultsOfDescriptions() {
        let entity = NSEntityDescription()
        #expect(entity.name == nil && !entity.isAbstract && entity.superentity == nil && entity.subentities.isEmpty)
        #expect(entity.properties.isEmpty && entity.propertiesByName.isEmpty && entity.indexes.isEmpty)
        #expect(entity.uniquenessConstraints.isEmpty && entity.versionHashModifier == nil)
        #expect(entity.userInfo?.isEmpty == true)
        let attribute = NSAttributeDescription()
        #expect(attribute.name.isEmpty && attribute.attributeType == .undefinedAttributeType)
        #expect(attribute.defaultValue == nil && attribute.valueTransformerName == nil)
        #expect(!attribute.allowsExternalBinaryDataStorage && !attribute.preservesValueInHistoryOnDeletion)
        #expect(attribute.validationPredicates.isEmpty && attribute.validationWarnings.isEmpty)
        #expect(attribute.versionHashModifier == nil && !attribute.isIndexedBySpotlight)
        let relationship = NSRelationshipDescription()
        #expect(relationship.maxCount == 0 && relationship.minCount == 0 && !relationship.isOrdered)
        #expect(relationship.destinationEntity == nil && relationship.inverseRelationship == nil)
        #expect(NSFetchedPropertyDescription().fetchRequest == nil)
        #expect(NSDerivedAttributeDescription().derivationExpression == nil)
        let expression = NSExpressionDescription()
        #expect(expression.expressionResultType == .undefinedAttributeType)
        let properties = [
            attribute, relationship, expression, NSFetchedPropertyDescription(), NSDerivedAttributeDescription(),
            NSCompositeAttributeDescription(), NSPropertyDescription(),
        ]
        #expect(properties.allSatisfy { $0.userInfo?.isEmpty == true })
        let model = NSManagedObjectModel()
        #expect(model.entities.isEmpty && model.configurations.isEmpty && model.fetchRequestTemplatesByName.isEmpty)
        #expect(model.versionIdentifiers.isEmpty && model.entityVersionHashesByName.isEmpty)
    }

    @Test(arguments: [
        (NSAttributeType.integer16AttributeType, "NSNumber"), (.integer32AttributeType, "NSNumber"),
        (.integer64AttributeType, "NSNumber"), (.doubleAttributeType, "NSNumber"), (.floatAttributeType, "NSNumber"),
        (.booleanAttributeType, "NSNumber"), (.decimalAttributeType, "NSDecimalNumber"),
        (.stringAttributeType, "NSString"), (.dateAttributeType, "NSDate"), (.binaryDataAttributeType, "NSData"),
        (.UUIDAttributeType, "NSUUID"), (.URIAttributeType, "NSURL"),
    ])
    func typesNameTheClassOfTheirValues(type: NSAttributeType, name: String) {
        let attribute = NSAttributeDescription()
        attribute.attributeType = type
        #expect(attribute.attributeValueClassName == name)
    }

    @Test func aRelationshipIsToManyUnlessItsMaximumIsOne() {
        let relationship = NSRelationshipDescription()
        #expect(
            [0, 1, 2, 7].map { maximum -> Bool in
                relationship.maxCount = maximum
                return relationship.isToMany
            } == [true, false, true, true])
    }

    @Test func entitiesKnowTheirFamilyAndModel() throws {
        let model = GraphModel.company()
        let (employee, manager) = (
            try #require(model.entitiesByName["Employee"]), try #require(model.entitiesByName["Manager"])
        )
        #expect(manager.superentity === employee && employee.subentitiesByName["Manager"] === manager)
        #expect(manager.isKindOf(entity: employee) && !employee.isKindOf(entity: manager))
        #expect(employee.isKindOf(entity: employee) && manager.managedObjectModel === model)
        #expect(manager.attributesByName["name"] != nil && manager.attributesByName["bonus"] != nil)
        #expect(employee.attributesByName["bonus"] == nil && manager.relationshipsByName["department"] != nil)
        let department = try #require(model.entitiesByName["Department"])
        #expect(employee.relationships(forDestination: department).map(\.name) == ["department"])
        #expect(manager.relationships(forDestination: department).map(\.name) == ["department"])
        #expect(department.relationships(forDestination: employee).map(\.name) == ["employees"])
        let inverse = department.relationshipsByName["employees"]?.inverseRelationship
        #expect(inverse?.entity === employee && inverse?.destinationEntity === department)
    }

    /// Copies may be changed though the model they are of is in use; what a copy says is the copy's own.
    @Test func copiesAreTheirOwn() throws {
        let store = try TestStore(.memory)
        let copy = try #require(store.model.copy() as? NSManagedObjectModel)
        let employee = try #require(copy.entitiesByName["Employee"])
        #expect(employee !== store.model.entitiesByName["Employee"])
        #expect(copy.entityVersionHashesByName == store.model.entityVersionHashesByName)
        #expect(copy.versionChecksum == store.model.versionChecksum)
        let extra = GraphModel.attribute("extra", .stringAttributeType)
        employee.properties.append(extra)
        #expect(store.model.entitiesByName["Employee"]?.propertiesByName["extra"] == nil)
        #expect(copy.entityVersionHashesByName["Employee"] != store.model.entityVersionHashesByName["Employee"])
        #expect(copy.versionChecksum != store.model.versionChecksum)
        let property = try #require(store.model.entitiesByName["Employee"]?.attributesByName["name"])
        let name = try #require(property.copy() as? NSAttributeDescription)
        name.name = "renamed"
        #expect(property.name == "name" && name.attributeType == property.attributeType)
        #expect(name.defaultValue as? String == "")
    }

    /// What is not part of the version: defaults, classes, user info, validation, delete rules' and counts' are.
    @Test func versionsIgnoreWhatStoresDoNotKeep() throws {
        func hash(_ change: (NSEntityDescription, NSAttributeDescription) -> Void) throws -> Data {
            let entity = GraphModel.entity("Thing")
            let attribute = GraphModel.attribute("name", .stringAttributeType)
            entity.properties = [attribute]
            let model = NSManagedObjectModel()
            model.entities = [entity]
            change(entity, attribute)
            return try #require(model.entityVersionHashesByName["Thing"])
        }
        let plain = try hash { _, _ in }
        #expect(try hash { $1.defaultValue = "x" } == plain)
        #expect(try hash { entity, _ in entity.userInfo = ["a": 1] } == plain)
        #expect(try hash { entity, _ in entity.managedObjectClassName = "Other" } == plain)
        #expect(
            try hash { $1.setValidationPredicates([NSPredicate(format: "length > 1")], withValidationWarnings: ["w"]) }
                == plain)
        #expect(try hash { $1.renamingIdentifier = "old" } == plain)
        #expect(try hash { $1.isOptional = false } != plain)
        #expect(try hash { $1.attributeType = .integer16AttributeType } != plain)
        #expect(try hash { $1.versionHashModifier = "2" } != plain)
        #expect(try hash { entity, _ in entity.versionHashModifier = "2" } != plain)
        #expect(try hash { $1.isTransient = true } != plain)
    }

    @Test func indexesKnowTheirEntityAndElements() throws {
        let entity = GraphModel.entity("Thing")
        let attribute = GraphModel.attribute("name", .stringAttributeType)
        entity.properties = [attribute]
        let element = NSFetchIndexElementDescription(property: attribute, collationType: .binary)
        #expect(element.isAscending && element.collationType == .binary && element.indexDescription == nil)
        #expect(element.property === attribute && element.propertyName == "name")
        let index = NSFetchIndexDescription(name: "byName", elements: [element])
        #expect(index.name == "byName" && index.entity == nil && index.partialIndexPredicate == nil)
        #expect(index.elements.count == 1 && index.elements[0].propertyName == "name")
        #expect(index.elements[0].indexDescription === index)
        entity.indexes = [index]
        #expect(entity.indexes.first?.entity === entity)
        #expect(NSFetchIndexDescription(name: "empty", elements: nil).elements.isEmpty)
    }

    @Test func templatesAreKeptAndFilledIn() throws {
        let model = GraphModel.company()
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
        request.entity = model.entitiesByName["Employee"]
        request.predicate = NSPredicate(format: "name == $NAME AND age > $AGE")
        model.setFetchRequestTemplate(request, forName: "byName")
        #expect(model.fetchRequestTemplate(forName: "byName")?.entityName == "Employee")
        #expect(model.fetchRequestTemplatesByName.keys.sorted() == ["byName"])
        #expect(model.fetchRequestTemplate(forName: "other") == nil)
        #expect(model.fetchRequestFromTemplate(withName: "other", substitutionVariables: [:]) == nil)
        let filled = model.fetchRequestFromTemplate(
            withName: "byName", substitutionVariables: ["NAME": "a", "AGE": 20])
        #expect(filled?.predicate == NSPredicate(format: "name == 'a' AND age > 20"))
        let store = try TestStore(.memory, model)
        let context = store.context()
        try context.check { () throws in
            for (name, age) in [("a", 30), ("a", 10), ("b", 30)] {
                let employee = Employee(context: context)
                (employee.name, employee.age) = (name, Int16(age))
            }
            try context.save()
            #expect(try context.count(for: try #require(filled)) == 1)
        }
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        copy.setFetchRequestTemplate(nil, forName: "byName")
        #expect(copy.fetchRequestTemplate(forName: "byName") == nil)
        #expect(model.fetchRequestTemplate(forName: "byName") != nil)
    }

    @Test func mergingFindsNothingOrAll() throws {
        let (company, probe) = (GraphModel.company(), Probe.model())
        let merged = try #require(NSManagedObjectModel(byMerging: [company, probe]))
        #expect(Set(merged.entitiesByName.keys) == Set(company.entitiesByName.keys).union(["Probe"]))
        let hashes = [NSStoreModelVersionHashesKey: probe.entityVersionHashesByName]
        let found = NSManagedObjectModel(byMerging: [company, probe], forStoreMetadata: hashes)
        #expect(found?.entitiesByName.keys.sorted() == ["Probe"])
        #expect(NSManagedObjectModel(byMerging: [company], forStoreMetadata: hashes) == nil)
        // The same entity twice is one.
        #expect(NSManagedObjectModel(byMerging: [probe, Probe.model()])?.entities.count == 1)
    }

    @Test func localizationIsADictionaryOfKeys() throws {
        let model = GraphModel.company()
        model.localizationDictionary = [
            "Entity/Employee": "Angestellte", "Property/name/Entity/Employee": "Name", "Property/age": "Alter",
        ]
        #expect(model.localizationDictionary?["Entity/Employee"] == "Angestellte")
        #expect(model.localizationDictionary?["Property/name/Entity/Employee"] == "Name")
        #expect(model.localizationDictionary?["Property/age"] == "Alter")
    }

    /// Configurations may share entities; setting one's entities again replaces them.
    @Test func configurationsShareEntities() throws {
        let model = GraphModel.company()
        let (employee, badge) = (
            try #require(model.entitiesByName["Employee"]), try #require(model.entitiesByName["Badge"])
        )
        model.setEntities([employee, badge], forConfigurationName: "A")
        model.setEntities([badge], forConfigurationName: "B")
        #expect(Set(model.configurations) == ["A", "B", "PF_DEFAULT_CONFIGURATION_NAME"])
        #expect(model.entities(forConfigurationName: "A").map(Set.init)?.contains(badge) == true)
        model.setEntities([employee], forConfigurationName: "A")
        #expect(model.entities(forConfigurationName: "A")?.contains(badge) == false)
        #expect(model.entities(forConfigurationName: "B") == [badge])
    }
}

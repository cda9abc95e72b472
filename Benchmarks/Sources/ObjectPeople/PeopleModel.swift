import Strata

/// The model of the data set, built in code.
enum PeopleModel {
    /// - Parameters:
    ///   - rule: what becomes of the persons when their department is deleted.
    ///   - isIndexed: whether the persons have an ordered index on age and name.
    static func model(
        deletingPersons rule: NSDeleteRule = .nullifyDeleteRule, isIndexed: Bool = false
    ) -> NSManagedObjectModel {
        let person = entity("Person")
        let department = entity("Department")
        let toDepartment = NSRelationshipDescription()
        toDepartment.name = "department"
        toDepartment.destinationEntity = department
        toDepartment.maxCount = 1
        toDepartment.deleteRule = .nullifyDeleteRule
        let toPersons = NSRelationshipDescription()
        toPersons.name = "persons"
        toPersons.destinationEntity = person
        toPersons.maxCount = 0
        toPersons.deleteRule = rule
        toDepartment.inverseRelationship = toPersons
        toPersons.inverseRelationship = toDepartment
        let attributes: [(String, NSAttributeType)] = [
            ("number", .integer64AttributeType), ("name", .stringAttributeType), ("email", .stringAttributeType),
            ("age", .integer16AttributeType), ("score", .doubleAttributeType), ("created", .dateAttributeType),
            ("active", .booleanAttributeType), ("bio", .stringAttributeType),
        ]
        person.properties = attributes.map { attribute($0.0, $0.1) } + [toDepartment]
        if isIndexed {
            let elements = ["age", "name"].compactMap { person.propertiesByName[$0] }
                .map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
            person.indexes = [NSFetchIndexDescription(name: "byAgeAndName", elements: elements)]
        }
        department.properties = [
            attribute("number", .integer32AttributeType), attribute("name", .stringAttributeType), toPersons,
        ]
        let model = NSManagedObjectModel()
        model.entities = [person, department]
        return model
    }

    private static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "ObjectPeople.\(name)"
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = false
        return attribute
    }
}

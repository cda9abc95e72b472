import DataSet
import Foundation
import Strata

/// A person of the data set, without its department: in both versions of the model.
final class MigratedPerson: NSManagedObject {
    private enum Slot {
        static let number = AttributeSlot<Int64>("number")
        static let name = AttributeSlot<String>("name")
        static let email = AttributeSlot<String>("email")
        static let age = AttributeSlot<Int16>("age")
        static let score = AttributeSlot<Double>("score")
        static let created = AttributeSlot<Date>("created")
        static let active = AttributeSlot<Bool>("active")
        static let bio = AttributeSlot<String>("bio")
    }

    func set(_ row: PersonRow) {
        self[Slot.number] = Int64(row.id)
        self[Slot.name] = row.name
        self[Slot.email] = row.email
        self[Slot.age] = row.age
        self[Slot.score] = row.score
        self[Slot.created] = Date(timeIntervalSince1970: row.created)
        self[Slot.active] = row.active
        self[Slot.bio] = row.bio
    }

    /// Reads every field.
    var digest: UInt64 {
        DataSet.digest(
            age: self[Slot.age], department: UInt64(bitPattern: self[Slot.number]), score: self[Slot.score],
            created: self[Slot.created].timeIntervalSince1970, active: self[Slot.active], name: self[Slot.name],
            email: self[Slot.email], bio: self[Slot.bio])
    }
}

enum PeopleVersions {
    private static let attributes: [(String, NSAttributeType)] = [
        ("number", .integer64AttributeType), ("name", .stringAttributeType), ("email", .stringAttributeType),
        ("age", .integer16AttributeType), ("score", .doubleAttributeType), ("created", .dateAttributeType),
        ("active", .booleanAttributeType), ("bio", .stringAttributeType),
    ]

    private static func model(_ added: [NSAttributeDescription]) -> NSManagedObjectModel {
        let person = NSEntityDescription()
        person.name = "Person"
        person.managedObjectClassName = String(reflecting: MigratedPerson.self)
        person.properties = attributes.map { attribute($0.0, $0.1) } + added
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = false
        return attribute
    }

    static func first() -> NSManagedObjectModel { model([]) }

    /// With an attribute more, which has a default value.
    static func second() -> NSManagedObjectModel {
        let rank = attribute("rank", .integer32AttributeType)
        rank.defaultValue = 7
        return model([rank])
    }
}

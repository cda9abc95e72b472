public import StrataLog

/// The shape of the data set in the engine: numbers for entities and slots.
public enum PeopleSchema {
    public static let department: UInt16 = 1
    public static let person: UInt16 = 2
    /// Under this number the log keeps the persons of each department.
    public static let persons: UInt16 = 1

    /// Dates lie in the log as seconds since 2001; the data set counts from 1970.
    static let secondsFrom1970To2001 = 978_307_200.0

    enum Slot {
        static let name = 0
        static let email = 1
        static let age = 2
        static let score = 3
        static let created = 4
        static let active = 5
        static let bio = 6
        static let department = 7
        static let count = 8
    }

    static let index = OrderedIndexDefinition(
        root: person, entities: [person],
        elements: [.init(slot: Slot.age, kind: .int16), .init(slot: Slot.name, kind: .string)])

    /// - Parameter postings: keep the inverse of the person's department.
    public static func schema(postings: Bool) -> Schema {
        let person = [
            SlotLayout(.string), SlotLayout(.string), SlotLayout(.int16), SlotLayout(.double), SlotLayout(.date),
            SlotLayout(.bool), SlotLayout(.string), SlotLayout(.reference, postingsID: postings ? persons : 0),
        ]
        return Schema(entities: [
            EntityLayout(id: department, rootID: department, name: "Department", slots: [SlotLayout(.string)]),
            EntityLayout(id: Self.person, rootID: Self.person, name: "Person", slots: person),
        ])
    }
}

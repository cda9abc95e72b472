public import Foundation
public import Strata

/// A person, written by hand as generated code would be.
public final class Person: NSManagedObject {
    private enum Slot {
        static let number = AttributeSlot<Int64>("number")
        static let name = AttributeSlot<String>("name")
        static let email = AttributeSlot<String>("email")
        static let age = AttributeSlot<Int16>("age")
        static let score = AttributeSlot<Double>("score")
        static let created = AttributeSlot<Date>("created")
        static let active = AttributeSlot<Bool>("active")
        static let bio = AttributeSlot<String>("bio")
        static let department = ToOneSlot<Department>("department")
    }

    /// The row's number in the data set.
    public var number: Int64 {
        get { self[Slot.number] }
        set { self[Slot.number] = newValue }
    }

    public var name: String {
        get { self[Slot.name] }
        set { self[Slot.name] = newValue }
    }

    public var email: String {
        get { self[Slot.email] }
        set { self[Slot.email] = newValue }
    }

    public var age: Int16 {
        get { self[Slot.age] }
        set { self[Slot.age] = newValue }
    }

    public var score: Double {
        get { self[Slot.score] }
        set { self[Slot.score] = newValue }
    }

    public var created: Date {
        get { self[Slot.created] }
        set { self[Slot.created] = newValue }
    }

    public var active: Bool {
        get { self[Slot.active] }
        set { self[Slot.active] = newValue }
    }

    public var bio: String {
        get { self[Slot.bio] }
        set { self[Slot.bio] = newValue }
    }

    public var department: Department? {
        get { self[Slot.department] }
        set { self[Slot.department] = newValue }
    }
}

public import Strata

/// A department with its persons.
public final class Department: NSManagedObject {
    private enum Slot {
        static let number = AttributeSlot<Int32>("number")
        static let name = AttributeSlot<String>("name")
        static let persons = ToManySlot<Person>("persons")
    }

    /// 1 and up.
    public var number: Int32 {
        get { self[Slot.number] }
        set { self[Slot.number] = newValue }
    }

    public var name: String {
        get { self[Slot.name] }
        set { self[Slot.name] = newValue }
    }

    public var persons: Set<Person> {
        get { self[Slot.persons] }
        set { self[Slot.persons] = newValue }
    }
}

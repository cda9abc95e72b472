import Strata

/// An order: all of it but its links is a function of its number and revision.
final class ServiceOrder: NSManagedObject {
    private enum Slot {
        static let number = AttributeSlot<Int64>("number")
        static let revision = AttributeSlot<Int64>("revision")
        static let status = AttributeSlot<String>("status")
        static let total = AttributeSlot<Double>("total")
        static let note = AttributeSlot<String>("note")
        static let items = ToManySlot<ServiceItem>("items")
        static let customer = ToOneSlot<ServiceCustomer>("customer")
    }

    var number: Int64 {
        get { self[Slot.number] }
        set { self[Slot.number] = newValue }
    }

    var revision: Int64 {
        get { self[Slot.revision] }
        set { self[Slot.revision] = newValue }
    }

    var status: String {
        get { self[Slot.status] }
        set { self[Slot.status] = newValue }
    }

    var total: Double {
        get { self[Slot.total] }
        set { self[Slot.total] = newValue }
    }

    var note: String {
        get { self[Slot.note] }
        set { self[Slot.note] = newValue }
    }

    var items: Set<ServiceItem> {
        get { self[Slot.items] }
        set { self[Slot.items] = newValue }
    }

    var customer: ServiceCustomer? {
        get { self[Slot.customer] }
        set { self[Slot.customer] = newValue }
    }
}

/// What is written in the same save as its order.
final class ServiceItem: NSManagedObject {
    private enum Slot {
        static let revision = AttributeSlot<Int64>("revision")
        static let note = AttributeSlot<String>("note")
        static let order = ToOneSlot<ServiceOrder>("order")
    }

    var revision: Int64 {
        get { self[Slot.revision] }
        set { self[Slot.revision] = newValue }
    }

    var note: String {
        get { self[Slot.note] }
        set { self[Slot.note] = newValue }
    }

    var order: ServiceOrder? {
        get { self[Slot.order] }
        set { self[Slot.order] = newValue }
    }
}

/// Whose orders they are; orders come and go, customers stay.
final class ServiceCustomer: NSManagedObject {
    private enum Slot {
        static let number = AttributeSlot<Int64>("number")
    }

    var number: Int64 {
        get { self[Slot.number] }
        set { self[Slot.number] = newValue }
    }
}

import Strata

/// A customer with their orders.
final class Customer: NSManagedObject {
    private enum Slot {
        static let number = AttributeSlot<Int32>("number")
        static let name = AttributeSlot<String>("name")
        static let email = AttributeSlot<String>("email")
        static let orders = ToManySlot<Order>("orders")
    }

    var number: Int32 {
        get { self[Slot.number] }
        set { self[Slot.number] = newValue }
    }

    var name: String {
        get { self[Slot.name] }
        set { self[Slot.name] = newValue }
    }

    var email: String {
        get { self[Slot.email] }
        set { self[Slot.email] = newValue }
    }

    var orders: Set<Order> {
        get { self[Slot.orders] }
        set { self[Slot.orders] = newValue }
    }
}

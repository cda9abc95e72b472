import Strata

/// A product with the orders of it.
final class Product: NSManagedObject {
    private enum Slot {
        static let number = AttributeSlot<Int32>("number")
        static let name = AttributeSlot<String>("name")
        static let price = AttributeSlot<Double>("price")
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

    var price: Double {
        get { self[Slot.price] }
        set { self[Slot.price] = newValue }
    }

    var orders: Set<Order> {
        get { self[Slot.orders] }
        set { self[Slot.orders] = newValue }
    }
}

import Foundation
import Strata

/// An order, written by hand as generated code would be.
final class Order: NSManagedObject {
    private enum Slot {
        static let number = AttributeSlot<Int64>("number")
        static let reference = AttributeSlot<String>("reference")
        static let status = AttributeSlot<String>("status")
        static let placed = AttributeSlot<Date>("placed")
        static let total = AttributeSlot<Double>("total")
        static let note = AttributeSlot<String>("note")
        static let customer = ToOneSlot<Customer>("customer")
        static let product = ToOneSlot<Product>("product")
        static let tags = ToManySlot<Tag>("tags")
    }

    var number: Int64 {
        get { self[Slot.number] }
        set { self[Slot.number] = newValue }
    }

    var reference: String {
        get { self[Slot.reference] }
        set { self[Slot.reference] = newValue }
    }

    var status: String {
        get { self[Slot.status] }
        set { self[Slot.status] = newValue }
    }

    var placed: Date {
        get { self[Slot.placed] }
        set { self[Slot.placed] = newValue }
    }

    var total: Double {
        get { self[Slot.total] }
        set { self[Slot.total] = newValue }
    }

    var note: String {
        get { self[Slot.note] }
        set { self[Slot.note] = newValue }
    }

    var customer: Customer? {
        get { self[Slot.customer] }
        set { self[Slot.customer] = newValue }
    }

    var product: Product? {
        get { self[Slot.product] }
        set { self[Slot.product] = newValue }
    }

    var tags: Set<Tag> {
        get { self[Slot.tags] }
        set { self[Slot.tags] = newValue }
    }
}

import Strata

/// A connection from an atomic part to another.
final class Connection: NSManagedObject {
    private enum Slot {
        static let type = AttributeSlot<String>("type")
        static let length = AttributeSlot<Int64>("length")
        static let from = ToOneSlot<AtomicPart>("from")
        static let to = ToOneSlot<AtomicPart>("to")
    }

    var type: String {
        get { self[Slot.type] }
        set { self[Slot.type] = newValue }
    }

    var length: Int64 {
        get { self[Slot.length] }
        set { self[Slot.length] = newValue }
    }

    var from: AtomicPart? {
        get { self[Slot.from] }
        set { self[Slot.from] = newValue }
    }

    var to: AtomicPart? {
        get { self[Slot.to] }
        set { self[Slot.to] = newValue }
    }
}

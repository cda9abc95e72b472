import Strata

/// The manual of the module: one long text.
final class Manual: NSManagedObject {
    private enum Slot {
        static let id = AttributeSlot<Int64>("id")
        static let title = AttributeSlot<String>("title")
        static let text = AttributeSlot<String>("text")
        static let module = ToOneSlot<Module>("module")
    }

    var id: Int64 {
        get { self[Slot.id] }
        set { self[Slot.id] = newValue }
    }

    var title: String {
        get { self[Slot.title] }
        set { self[Slot.title] = newValue }
    }

    var text: String {
        get { self[Slot.text] }
        set { self[Slot.text] = newValue }
    }

    var module: Module? {
        get { self[Slot.module] }
        set { self[Slot.module] = newValue }
    }
}

import Strata

/// The document of a composite part.
final class Document: NSManagedObject {
    private enum Slot {
        static let id = AttributeSlot<Int64>("id")
        static let title = AttributeSlot<String>("title")
        static let text = AttributeSlot<String>("text")
        static let part = ToOneSlot<CompositePart>("part")
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

    var part: CompositePart? {
        get { self[Slot.part] }
        set { self[Slot.part] = newValue }
    }
}

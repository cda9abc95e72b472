import Strata

/// A composite part: a document and a graph of atomic parts.
final class CompositePart: NSManagedObject {
    private enum Slot {
        static let id = AttributeSlot<Int64>("id")
        static let type = AttributeSlot<String>("type")
        static let buildDate = AttributeSlot<Int64>("buildDate")
        static let documentation = ToOneSlot<Document>("documentation")
        static let rootPart = ToOneSlot<AtomicPart>("rootPart")
        static let parts = ToManySlot<AtomicPart>("parts")
        static let usedIn = ToManySlot<BaseAssembly>("usedIn")
    }

    var id: Int64 {
        get { self[Slot.id] }
        set { self[Slot.id] = newValue }
    }

    var type: String {
        get { self[Slot.type] }
        set { self[Slot.type] = newValue }
    }

    var buildDate: Int64 {
        get { self[Slot.buildDate] }
        set { self[Slot.buildDate] = newValue }
    }

    var documentation: Document? {
        get { self[Slot.documentation] }
        set { self[Slot.documentation] = newValue }
    }

    var rootPart: AtomicPart? {
        get { self[Slot.rootPart] }
        set { self[Slot.rootPart] = newValue }
    }

    var parts: Set<AtomicPart> {
        get { self[Slot.parts] }
        set { self[Slot.parts] = newValue }
    }

    var usedIn: Set<BaseAssembly> {
        get { self[Slot.usedIn] }
        set { self[Slot.usedIn] = newValue }
    }
}

import Strata

/// The design, with its manual.
final class Module: NSManagedObject {
    private enum Slot {
        static let id = AttributeSlot<Int64>("id")
        static let type = AttributeSlot<String>("type")
        static let buildDate = AttributeSlot<Int64>("buildDate")
        static let manual = ToOneSlot<Manual>("manual")
        static let designRoot = ToOneSlot<ComplexAssembly>("designRoot")
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

    var manual: Manual? {
        get { self[Slot.manual] }
        set { self[Slot.manual] = newValue }
    }

    var designRoot: ComplexAssembly? {
        get { self[Slot.designRoot] }
        set { self[Slot.designRoot] = newValue }
    }
}

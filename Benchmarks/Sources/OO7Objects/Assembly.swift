import Strata

/// A base assembly or a complex one.
class Assembly: NSManagedObject {
    private enum Slot {
        static let id = AttributeSlot<Int64>("id")
        static let type = AttributeSlot<String>("type")
        static let buildDate = AttributeSlot<Int64>("buildDate")
        static let module = ToOneSlot<Module>("module")
        static let superAssembly = ToOneSlot<ComplexAssembly>("superAssembly")
    }

    final var id: Int64 {
        get { self[Slot.id] }
        set { self[Slot.id] = newValue }
    }

    final var type: String {
        get { self[Slot.type] }
        set { self[Slot.type] = newValue }
    }

    final var buildDate: Int64 {
        get { self[Slot.buildDate] }
        set { self[Slot.buildDate] = newValue }
    }

    final var module: Module? {
        get { self[Slot.module] }
        set { self[Slot.module] = newValue }
    }

    final var superAssembly: ComplexAssembly? {
        get { self[Slot.superAssembly] }
        set { self[Slot.superAssembly] = newValue }
    }
}

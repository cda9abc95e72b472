import Strata

/// An atomic part, with the connections that leave it and those that come to it.
final class AtomicPart: NSManagedObject {
    private enum Slot {
        static let id = AttributeSlot<Int64>("id")
        static let type = AttributeSlot<String>("type")
        static let buildDate = AttributeSlot<Int64>("buildDate")
        static let x = AttributeSlot<Int64>("x")
        static let y = AttributeSlot<Int64>("y")
        static let docId = AttributeSlot<Int64>("docId")
        static let partOf = ToOneSlot<CompositePart>("partOf")
        static let to = ToManySlot<Connection>("to")
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

    var x: Int64 {
        get { self[Slot.x] }
        set { self[Slot.x] = newValue }
    }

    var y: Int64 {
        get { self[Slot.y] }
        set { self[Slot.y] = newValue }
    }

    var docId: Int64 {
        get { self[Slot.docId] }
        set { self[Slot.docId] = newValue }
    }

    var partOf: CompositePart? {
        get { self[Slot.partOf] }
        set { self[Slot.partOf] = newValue }
    }

    var to: Set<Connection> {
        get { self[Slot.to] }
        set { self[Slot.to] = newValue }
    }
}

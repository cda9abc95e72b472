import Strata

/// A record as a managed object, with accessors written by hand.
final class YCSBUser: NSManagedObject {
    private enum Slot {
        static let key = AttributeSlot<String>("key")
        static let fields = YCSBModel.fieldNames.map { AttributeSlot<String>($0) }
    }

    var key: String {
        get { self[Slot.key] }
        set { self[Slot.key] = newValue }
    }

    subscript(field index: Int) -> String {
        get { self[Slot.fields[index]] }
        set { self[Slot.fields[index]] = newValue }
    }
}

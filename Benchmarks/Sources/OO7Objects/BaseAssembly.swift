import Strata

/// An assembly of composite parts.
final class BaseAssembly: Assembly {
    private enum Slot {
        static let components = ToManySlot<CompositePart>("components")
    }

    var components: Set<CompositePart> {
        get { self[Slot.components] }
        set { self[Slot.components] = newValue }
    }
}

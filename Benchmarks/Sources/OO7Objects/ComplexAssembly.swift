import Strata

/// An assembly of assemblies.
final class ComplexAssembly: Assembly {
    private enum Slot {
        static let subAssemblies = ToManySlot<Assembly>("subAssemblies")
    }

    var subAssemblies: Set<Assembly> {
        get { self[Slot.subAssemblies] }
        set { self[Slot.subAssemblies] = newValue }
    }
}

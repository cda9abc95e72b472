/// How large the database is.
public enum OO7Size: String, CaseIterable, Sendable {
    case small
    case medium

    /// Atomic parts of a composite part [NumAtomicPerComp].
    public var partsPerComposite: Int { self == .small ? 20 : 200 }
    /// Bytes of a document [DocumentSize], about.
    public var documentByteCount: Int { self == .small ? 2_000 : 20_000 }
    /// Bytes of the manual [ManualSize], about.
    public var manualByteCount: Int { self == .small ? 100_000 : 1_000_000 }
}

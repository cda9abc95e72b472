/// What the conflict keys of saves name.
enum ConflictKeyKind {
    /// What is derived from an object.
    static let derivation: UInt64 = 1
    /// That two objects are linked.
    static let link: UInt64 = 2
    /// That an object may have links.
    static let linkEnd: UInt64 = 3
}

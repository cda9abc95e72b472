/// The name of something that the versions of rows do not show, such as that two objects are linked: two transactions
/// that hold the same key conflict, unless both only read what it names.
public struct ConflictKey: Hashable, Sendable {
    /// Two keys of the same name only make a commit be tried again that need not have been.
    public let name: UInt64
    /// Whether the transaction changes what the key names. One that does not only reads it: any number may.
    public let isExclusive: Bool

    /// A key for what these numbers name.
    ///
    /// - Parameters:
    ///   - kind: what sort of thing the key names.
    ///   - first: what it is about.
    ///   - second: what else it is about.
    ///   - isExclusive: whether the transaction changes what the key names.
    public init(kind: UInt64, _ first: UInt64, _ second: UInt64 = 0, isExclusive: Bool) {
        name = Self.mix(Self.mix(Self.mix(kind) ^ first) ^ second)
        self.isExclusive = isExclusive
    }

    /// SplitMix64's last step.
    private static func mix(_ bits: UInt64) -> UInt64 {
        var bits = bits &+ 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits &>> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits &>> 31)
    }
}

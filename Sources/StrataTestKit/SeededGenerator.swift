/// Random numbers that a seed determines (SplitMix64), the same on every platform and in every run.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator; equal seeds give equal sequences.
    public init(seed: UInt64) {
        state = seed
    }

    /// One of many independent generators that share a seed.
    public init(seed: UInt64, stream: UInt64) {
        var outer = SeededGenerator(seed: seed)
        var inner = SeededGenerator(seed: stream &* 0xD1B5_4A32_D192_ED03 ^ outer.next())
        state = inner.next()
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in `0..<bound`.
    ///
    /// - Parameter bound: At least 1. The bias is below `bound` in 2^64.
    public mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "no number lies below \(bound)")
        return Int(UInt64(bound).multipliedFullWidth(by: next()).high)
    }

    /// True with the given probability (0 never, 1 always).
    public mutating func chance(_ probability: Double) -> Bool {
        Double(next() >> 11) < probability * 0x1p53
    }
}

/// FNV-1a with 64 bits: a number that is the same for equal bytes on every machine, and hardly for others. It protects
/// from nobody: inputs with one number are easily found.
package enum FNV {
    private static let basis: UInt64 = 0xcbf2_9ce4_8422_2325
    private static let prime: UInt64 = 0x100_0000_01b3

    /// - Complexity: O(n)
    package static func digest(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(basis) { ($0 ^ UInt64($1)) &* prime }
    }
}

/// Uses an object without counting a reference to it.
///
/// Assumes: `Unmanaged._withUnsafeGuaranteedRef`, which the standard library exports and documents in its source, but
/// with an underscore. If it goes, `takeUnretainedValue()` does the same at the cost of a reference.
extension Unmanaged {
    /// Calls the body with the object.
    ///
    /// - Precondition: somebody else holds the object until the body has returned. Where a call does not say who, it is
    ///   whoever has the `Unmanaged`.
    @inlinable @inline(__always)
    package func withBorrowed<Result>(_ body: (Instance) throws -> Result) rethrows -> Result {
        try _withUnsafeGuaranteedRef(body)
    }
}

enum BorrowedReferences {
    private final class Probe {}

    static func check() -> String? {
        let probe = Probe()
        let isSame = Unmanaged.passUnretained(probe).withBorrowed { $0 === probe }
        return isSame ? nil : "_withUnsafeGuaranteedRef gives another object"
    }
}

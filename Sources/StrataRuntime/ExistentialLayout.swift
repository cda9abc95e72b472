/// Reads the reference in an `Any` without a cast, which takes hundreds of instructions, and which sets would ask for
/// at each collision.
///
/// Assumes: an `Any` is four words, three for the value and one for its type; a reference lies in the first one. So
/// says the ABI documentation (TypeLayout.rst, "Existential Container Layout").
/// If that were wrong: ``check()`` says so.
@usableFromInline
package enum ExistentialLayout {
    /// The object that an existential has a reference to.
    ///
    /// - Precondition: `type(of: any)` is a class.
    @inlinable @inline(__always)
    package static func reference(in any: Any) -> UnsafeRawPointer? {
        // `as Any` keeps the existential from being opened.
        UnsafeRawPointer(bitPattern: unsafeBitCast(any as Any, to: (UInt, UInt, UInt, UInt).self).0)
    }

    // MARK: Check

    private class Probe {}
    private final class Narrow: Probe {}

    static func check() -> String? {
        if MemoryLayout<Any>.size != 4 * MemoryLayout<UInt>.size { return "an Any is not four words" }
        for probe in [Probe(), Narrow()] {
            let any: Any = probe
            if reference(in: any) != UnsafeRawPointer(Unmanaged.passUnretained(probe).toOpaque()) {
                return "the first word of an Any is not the reference in it"
            }
        }
        return nil
    }
}

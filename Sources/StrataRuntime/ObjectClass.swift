/// Makes an object one of a subclass that adds nothing to it but methods.
///
/// Assumes: the first word of an object is the address of its class's metadata (TypeMetadata.rst, "Heap Metadata"), in
/// which the fourth word has the size of the class's objects ("Class Metadata"); and nothing else of an object depends
/// on its class.
/// If that were wrong: ``check()`` says so. Without this an object stays one of the class it was made as.
package enum ObjectClass {
    /// The bytes that an object of a class takes.
    package static func byteCount(_ type: AnyClass) -> UInt32 {
        unsafeBitCast(type, to: UnsafeRawPointer.self).load(fromByteOffset: 24, as: UInt32.self)
    }

    /// Whether objects of a class can become ones of a subclass: that has no stored properties of its own.
    package static func canChange(from base: AnyClass, to type: AnyClass) -> Bool {
        byteCount(base) == byteCount(type)
    }

    /// Makes an object one of another class.
    ///
    /// - Precondition: that is a subclass of its own, for which ``canChange(from:to:)`` holds, and nobody else knows
    ///   the object yet.
    @inline(never)
    package static func change(_ object: AnyObject, to type: AnyClass) {
        Unmanaged.passUnretained(object).toOpaque().storeBytes(
            of: unsafeBitCast(type, to: UnsafeRawPointer.self), as: UnsafeRawPointer.self)
    }

    // MARK: Check

    /// Never inlined: where the compiler sees how an object was made, it may take its class for known.
    @inline(never)
    private static func makeProbe() -> ClassProbe { ClassProbe(7) }

    static func check() -> String? {
        if canChange(from: ClassProbe.self, to: LargerProbe.self) { return "a class with a property more is as large" }
        guard canChange(from: ClassProbe.self, to: MethodsOnlyProbe.self) else {
            return "a class with only a method more is larger"
        }
        let probe = makeProbe()
        change(probe, to: MethodsOnlyProbe.self)
        guard probe.name() == "methods only 7", type(of: probe as AnyObject) == MethodsOnlyProbe.self else {
            return "an object that was made one of another class is not one of it"
        }
        return nil
    }
}

package class ClassProbe {
    final let number: Int

    @inline(never) package init(_ number: Int) { self.number = number }

    package func name() -> String { "base \(number)" }
}

package final class MethodsOnlyProbe: ClassProbe {
    override package func name() -> String { "methods only \(number)" }
}

package final class LargerProbe: ClassProbe {
    package var more = 0
}

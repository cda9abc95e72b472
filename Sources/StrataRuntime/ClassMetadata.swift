/// Which methods a class overrides, by its table of methods.
///
/// Assumes: a class is known by the address of its metadata; the fifth word has the size and how much of it lies before
/// the address (TypeMetadata.rst, "Class Metadata"); each method has one word there, the same in all subclasses. The
/// word of a method is where a class that overrides nothing but this method differs from its superclass, while one that
/// overrides nothing does not.
/// If that were wrong: ``word(of:in:notIn:)`` gives nil, and a method counts as overridden; ``check()`` says so.
package enum ClassMetadata {
    /// The words of a class's metadata, from its address point on.
    package static func words(_ type: AnyClass) -> UnsafeBufferPointer<UInt> {
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        let size = metadata.load(fromByteOffset: 32, as: UInt32.self)
        let before = metadata.load(fromByteOffset: 36, as: UInt32.self)
        guard size > before, size < 1 << 20 else { return UnsafeBufferPointer(start: nil, count: 0) }
        let count = Int(size - before) / MemoryLayout<UInt>.size
        return UnsafeBufferPointer(start: metadata.assumingMemoryBound(to: UInt.self), count: count)
    }

    /// The word of the one method that `overriding` overrides and `inheriting` does not, both subclasses of `base`; nil
    /// when there is not exactly one.
    package static func word(of overriding: AnyClass, in base: AnyClass, notIn inheriting: AnyClass) -> Int? {
        let (base, overriding, inheriting) = (words(base), words(overriding), words(inheriting))
        let count = min(base.count, overriding.count, inheriting.count)
        // What comes before the method tables says what the class is, and always differs.
        let found = (0..<count).filter { base[$0] == inheriting[$0] && base[$0] != overriding[$0] }
        return found.count == 1 ? found.first : nil
    }

    /// Whether a class has a method of its own where `base` has another one, or whether that cannot be seen.
    package static func isOverridden(_ word: Int?, in type: AnyClass, of base: AnyClass) -> Bool {
        let (own, base) = (words(type), words(base))
        guard let word, word < own.count, word < base.count else { return true }
        return own[word] != base[word]
    }

    // MARK: Check

    static func check() -> String? {
        guard
            let word = word(
                of: OverridingProbe.self, in: MethodProbe.self, notIn: InheritingProbe.self)
        else {
            return "a class that overrides one method does not differ in one word"
        }
        if isOverridden(word, in: InheritingProbe.self, of: MethodProbe.self) {
            return "a method counts as overridden that is not"
        }
        let isSeen = isOverridden(word, in: ProbeBelow.self, of: MethodProbe.self)
        return isSeen ? nil : "a method that a superclass overrides does not count as overridden"
    }
}

// Of these classes no objects are made. They can be seen in other modules: of a class that only this one has, an
// optimised build leaves out the methods that nothing calls. Empty methods may be made one by the compiler.
package class MethodProbe {
    package func first() -> String { "first" }
    package func second() -> String { "second" }
}

package class InheritingProbe: MethodProbe {}

package class OverridingProbe: InheritingProbe {
    override package func second() -> String { "own" }
}

package final class ProbeBelow: OverridingProbe {}

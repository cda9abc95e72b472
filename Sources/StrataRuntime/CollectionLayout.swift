/// Takes an array or a set of references as one of another class, without going through its elements.
///
/// Assumes: arrays and sets of native classes are a reference to a storage, whose layout depends on that of its
/// elements only, and which destroys them as what it was made for; a struct of one reference lies as the reference
/// does. So it is where there is no Objective-C runtime: there `Array` and `Set` have one representation.
/// If that were wrong: ``check()`` says so.
@usableFromInline
package enum CollectionLayout {
    /// The array as one of another class.
    ///
    /// - Precondition: `Element` and `Other` lie in memory alike, and every element is an `Other`.
    @inlinable @inline(__always)
    package static func cast<Element, Other>(_ array: [Element], to type: [Other].Type) -> [Other] {
        unsafeBitCast(array, to: type)
    }

    /// The set as one of another type.
    ///
    /// - Precondition: as for arrays; and no two members are equal as `Other`s, whose hashes are the same as before.
    @inlinable @inline(__always)
    package static func cast<Element, Other>(_ set: consuming Set<Element>, to type: Set<Other>.Type) -> Set<Other> {
        unsafeBitCast(set, to: type)
    }

    // MARK: Check

    private class Base: Hashable {
        static func == (left: Base, right: Base) -> Bool { left === right }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    private final class Probe: Base {
        let deaths: Deaths

        init(_ deaths: Deaths) { self.deaths = deaths }

        deinit { deaths.count += 1 }
    }

    private final class Deaths {
        var count = 0
    }

    private struct Member: Hashable {
        let base: Base

        static func == (left: Member, right: Member) -> Bool { left.base === right.base }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(base)) }
    }

    static func check() -> String? {
        let deaths = Deaths()
        if let problem = check(deaths) { return problem }
        return deaths.count == 20 ? nil : "a set or an array frees its elements too often, or not at all"
    }

    private static func check(_ deaths: Deaths) -> String? {
        let probes = (0..<20).map { _ in Probe(deaths) }
        let bases: [Base] = probes
        let array = cast(bases, to: [Probe].self)
        guard array.count == probes.count, zip(array, probes).allSatisfy({ $0 === $1 }) else {
            return "an array of a class does not lie as one of its subclass"
        }
        let set = cast(Set(probes.map { Member(base: $0) }), to: Set<Base>.self)
        guard set.count == probes.count, probes.allSatisfy({ set.contains($0) }), Set(bases) == set else {
            return "a set of structs with a reference does not lie as one of references"
        }
        let narrowed = cast(set, to: Set<Probe>.self)
        guard narrowed.count == probes.count, probes.allSatisfy({ narrowed.contains($0) }) else {
            return "a set of a class does not lie as one of its subclass"
        }
        return nil
    }
}

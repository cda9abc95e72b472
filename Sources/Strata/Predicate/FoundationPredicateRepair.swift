import CStrataSupport
import Foundation

/// Makes Foundation's own `NSCompoundPredicate` print, compare and copy, and its `NSPredicate` print, as they do on Apple's
/// platforms.
///
/// On Linux a compound prints `FALSEPREDICATE`, equals every other compound and is copied to a predicate that is always
/// false, and there is no way to put a class of ours in its place: files that import Foundation and CoreData would find the
/// name ambiguous. What a class does is what its table of methods says, which on Linux is data that can be written. So the
/// classes are given the methods of subclasses; instances look there whenever they are asked.
///
/// Done once, before the first predicate of ours is made. Where anything is not as expected (another Foundation that
/// overrides these methods itself, or a table that cannot be written), nothing is changed.
enum FoundationPredicateRepair {
    /// Whether Foundation's predicates are in order.
    static let isDone =
        give(
            NSCompoundPredicate.self, below: NSPredicate.self, methods: 5, of: Compound.self,
            unlike: PlainCompound.self)
        && give(NSPredicate.self, below: NSObject.self, methods: 1, of: Predicate.self, unlike: PlainPredicate.self)

    // Without stored properties, so that their methods may be called on the superclass's instances.

    private final class Compound: NSCompoundPredicate {
        override var predicateFormat: String { PredicatePrinter.text(self) }
        override var description: String { PredicatePrinter.text(self) }
        override var hash: Int { CompoundPredicate.canonical(self).hash }
        override func isEqual(_ object: Any?) -> Bool { CompoundPredicate.canonical(self).isEqual(object) }
        // Immutable, so a copy is the predicate itself.
        override func copy(with zone: NSZone? = nil) -> Any { self }
    }

    private final class Predicate: NSPredicate {
        override var description: String { PredicatePrinter.text(self) }
    }

    // What differs from Foundation's classes in every subclass, such as initialisers, differs in these, too.

    private final class PlainCompound: NSCompoundPredicate {}
    private final class PlainPredicate: NSPredicate {}

    /// Gives a class the methods that it inherits and that a subclass overrides, if there are as many as there should be.
    private static func give(
        _ target: NSPredicate.Type, below base: NSObject.Type, methods count: Int, of source: NSPredicate.Type,
        unlike plain: NSPredicate.Type
    ) -> Bool {
        let (base, target) = (Methods(base), Methods(target))
        let (plain, source) = (Methods(plain), Methods(source))
        guard target.wordCount == source.wordCount, plain.wordCount == source.wordCount else { return false }
        let slots = (Methods.firstSlot..<base.wordCount).filter {
            target.word($0) == base.word($0) && source.word($0) != target.word($0) && source.word($0) != plain.word($0)
        }
        guard slots.count == count else { return false }
        return slots.allSatisfy { target.set($0, to: source.word($0)) }
    }
}

/// The words of a native class's metadata, from its address point on. The methods follow seven words of other things; those
/// of a superclass come first, at the same places in all subclasses.
///
/// Source: Swift's ABI documentation, TypeMetadata.rst, "Class Metadata".
private struct Methods {
    private let start: UnsafeMutableRawPointer

    static let firstSlot = 7

    init(_ type: AnyClass) {
        start = unsafeBitCast(type, to: UnsafeMutableRawPointer.self)
    }

    /// Its length without what lies before the address point.
    var wordCount: Int {
        let byteCount = start.load(fromByteOffset: 4 * 8, as: UInt32.self)
        let addressPoint = start.load(fromByteOffset: 4 * 8 + 4, as: UInt32.self)
        return (Int(byteCount) - Int(addressPoint)) / 8
    }

    func word(_ index: Int) -> UInt { start.load(fromByteOffset: index * 8, as: UInt.self) }

    func set(_ index: Int, to word: UInt) -> Bool {
        withUnsafeBytes(of: word) {
            strata_write_where_writable(start + index * 8, $0.baseAddress!, $0.count) == 0
        }
    }
}

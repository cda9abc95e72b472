public import Foundation

/// A compound predicate that prints, copies and compares as on Apple's platforms.
///
/// Foundation's own on Linux does not: it prints `FALSEPREDICATE`, equals every other compound, and is copied to a
/// predicate that is always false. In files that import CoreData, `NSCompoundPredicate` is this class. Whatever Strata
/// parses or keeps is turned into it; ``Foundation/NSPredicate/canonical`` does so for other predicates.
open class CompoundPredicate: NSCompoundPredicate {
    package final let children: [NSPredicate]
    /// The number of predicates and expressions on the longest way down.
    final let depth: Int

    /// Creates a predicate of a type over others. Compounds of Foundation's among them are replaced by those of this
    /// class.
    ///
    /// - Complexity: O(n) in the size of the subpredicates that are Foundation's own.
    public override init(type: LogicalType, subpredicates: [NSPredicate]) {
        children = subpredicates.map(Self.canonical)
        depth = 1 + children.reduce(0) { max($0, $1.nodeDepth) }
        super.init(type: type, subpredicates: children)
    }

    /// Gives nil: predicates cannot be archived on Linux.
    public required init?(coder: NSCoder) {
        return nil
    }

    /// The predicate with every compound of Foundation's in it replaced by one of this class.
    static func canonical(_ predicate: NSPredicate) -> NSPredicate {
        if predicate is CompoundPredicate { return predicate }
        guard let compound = predicate as? NSCompoundPredicate else { return predicate }
        return CompoundPredicate(
            type: compound.compoundPredicateType, subpredicates: compound.subpredicates)
    }

    /// Whether the predicate holds for an object.
    override open func evaluate(with object: Any?) -> Bool {
        evaluate(with: object, substitutionVariables: nil)
    }

    /// Whether the predicate holds for an object, with values for its variables.
    ///
    /// Never stops the program: see `NSPredicate.parse(_:arguments:)`.
    override open func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        switch compoundPredicateType {
        case .and: children.allSatisfy { $0.evaluate(with: object, substitutionVariables: bindings) }
        case .or: children.contains { $0.evaluate(with: object, substitutionVariables: bindings) }
        case .not: !(children.first?.evaluate(with: object, substitutionVariables: bindings) ?? false)
        }
    }

    /// The predicate itself, which never changes.
    override open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both say the same, in the same order, whichever class the other compound is of.
    override open func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSCompoundPredicate else { return false }
        if self === other { return true }
        guard let other = Self.canonical(other) as? CompoundPredicate else { return false }
        return compoundPredicateType == other.compoundPredicateType && children == other.children
    }

    /// Agrees with equality.
    override open var hash: Int {
        var hasher = Hasher()
        hasher.combine(compoundPredicateType.rawValue)
        for child in children { hasher.combine(child.structuralHash) }
        return hasher.finalize()
    }

    /// The notation, which `NSPredicate(format:)` reads back to an equal predicate.
    override open var predicateFormat: String { PredicatePrinter.text(self) }

    /// The notation.
    override open var description: String { PredicatePrinter.text(self) }
}

extension NSPredicate {
    /// A hash that equal predicates share, also Foundation's own, which hash by identity.
    var structuralHash: Int {
        switch canonical {
        case let predicate as NSComparisonPredicate: predicate.hash
        case let predicate as CompoundPredicate: predicate.hash
        default: formatString.hashValue
        }
    }

    /// The number of predicates and expressions on the longest way down, itself included.
    package var nodeDepth: Int {
        switch self {
        case let comparison as NSComparisonPredicate: comparison.depth
        case let compound as CompoundPredicate: compound.depth
        case let compound as NSCompoundPredicate:
            1 + compound.subpredicates.reduce(0) { max($0, $1.nodeDepth) }
        default: 1
        }
    }
}

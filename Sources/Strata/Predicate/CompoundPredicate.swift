import Foundation

/// A compound predicate that prints, copies and compares as Core Data's does, and knows how deep it is.
///
/// Foundation's own on Linux does not of itself (``FoundationPredicateRepair``). Whatever Strata parses or keeps is turned
/// into this subclass; `subpredicates` and the type stay Foundation's.
final class CompoundPredicate: NSCompoundPredicate {
    let children: [NSPredicate]
    let depth: Int

    override init(type: LogicalType, subpredicates: [NSPredicate]) {
        children = subpredicates.map(Self.canonical)
        depth = 1 + children.reduce(0) { max($0, $1.nodeDepth) }
        super.init(type: type, subpredicates: children)
    }

    required init?(coder: NSCoder) {
        return nil
    }

    /// The predicate with every compound of Foundation's in it replaced by one of this class.
    static func canonical(_ predicate: NSPredicate) -> NSPredicate {
        if predicate is CompoundPredicate { return predicate }
        guard let compound = predicate as? NSCompoundPredicate else { return predicate }
        return CompoundPredicate(
            type: compound.compoundPredicateType, subpredicates: compound.subpredicates)
    }

    override func evaluate(with object: Any?) -> Bool {
        evaluate(with: object, substitutionVariables: nil)
    }

    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        switch compoundPredicateType {
        case .and: children.allSatisfy { $0.evaluate(with: object, substitutionVariables: bindings) }
        case .or: children.contains { $0.evaluate(with: object, substitutionVariables: bindings) }
        case .not: !(children.first?.evaluate(with: object, substitutionVariables: bindings) ?? false)
        }
    }

    // Immutable, so a copy is the predicate itself.
    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSCompoundPredicate else { return false }
        if self === other { return true }
        guard let other = Self.canonical(other) as? CompoundPredicate else { return false }
        return compoundPredicateType == other.compoundPredicateType && children == other.children
    }

    override var hash: Int {
        var hasher = Hasher()
        hasher.combine(compoundPredicateType.rawValue)
        for child in children { hasher.combine(child.structuralHash) }
        return hasher.finalize()
    }

    override var predicateFormat: String { PredicatePrinter.text(self) }

    override var description: String { PredicatePrinter.text(self) }
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

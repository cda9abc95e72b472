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
    /// Whether it was read from a text from outside, so that evaluating it has a budget.
    final let isBounded: Bool
    /// Whether it, or a predicate in it, has a budget.
    final let containsBounds: Bool

    /// Creates a predicate of a type over others. Compounds of Foundation's among them are replaced by those of this
    /// class.
    ///
    /// Predicates nest at most `PredicateFormatError.maximumDepthOfObjects` levels. Where chains of `AND` or of `OR`
    /// made of pairs would be deeper, they become one `AND` or `OR` of many, which says the same. What is deeper all
    /// the same holds for nothing, and requests refuse it with an error.
    ///
    /// - Complexity: O(n) in the size of the subpredicates that are Foundation's own.
    public override init(type: LogicalType, subpredicates: [NSPredicate]) {
        (children, depth) = Self.limited(type, subpredicates.map(Self.canonical))
        isBounded = false
        containsBounds = children.contains { $0.hasBounds }
        super.init(type: type, subpredicates: children)
    }

    /// The same with a budget.
    init(bounding other: CompoundPredicate) {
        children = other.children
        depth = other.depth
        isBounded = true
        containsBounds = true
        super.init(type: other.compoundPredicateType, subpredicates: children)
    }

    /// The subpredicates as far as they are not too deep, and how deep they are with the compound itself.
    private static func limited(_ type: LogicalType, _ children: [NSPredicate]) -> ([NSPredicate], depth: Int) {
        let limit = PredicateFormatError.maximumDepthOfObjects
        let depth = 1 + children.reduce(0) { max($0, $1.nodeDepth) }
        guard depth > limit else { return (children, depth) }
        if type != .not {
            let members = members(of: children, type, where: isPlain)
            let depth = 1 + members.reduce(0) { max($0, $1.nodeDepth) }
            if depth <= limit { return (members, depth) }
        }
        return ([NSComparisonPredicate.tooDeep], depth)
    }

    /// What an `AND` or an `OR` joins, in order, however its parts are nested: programs often build long ones pair by
    /// pair.
    ///
    /// - Parameter opens: whether a compound of the type is replaced by its parts.
    /// - Complexity: O(members), without recursion: it may be deep.
    package static func members(
        of predicates: [NSPredicate], _ type: LogicalType, where opens: (NSCompoundPredicate) -> Bool = { _ in true }
    ) -> [NSPredicate] {
        var members: [NSPredicate] = []
        var rest = Array(predicates.reversed())
        while let next = rest.popLast() {
            if let compound = next as? NSCompoundPredicate, compound.compoundPredicateType == type, opens(compound) {
                rest.append(contentsOf: compound.subpredicates.reversed())
            } else {
                members.append(next)
            }
        }
        return members
    }

    /// Whether its parts say all that it does.
    private static func isPlain(_ compound: NSCompoundPredicate) -> Bool {
        guard let own = compound as? CompoundPredicate else { return false }
        return Swift.type(of: own) == CompoundPredicate.self && !own.isBounded && !own.isTooDeep
    }

    /// Whether it nests deeper than predicates may: its parts are gone.
    private var isTooDeep: Bool { depth > PredicateFormatError.maximumDepthOfObjects }

    /// Gives nil: predicates cannot be archived on Linux.
    public required init?(coder: NSCoder) {
        return nil
    }

    /// The predicate with every compound of Foundation's in it replaced by one of this class.
    static func canonical(_ predicate: NSPredicate) -> NSPredicate {
        guard let compound = foreign(predicate) else { return predicate }
        // Parts before wholes, and without recursion: Foundation's compounds have no limit.
        var open = [(compound: compound, parts: compound.subpredicates, made: [NSPredicate]())]
        while true {
            let last = open.count - 1
            let (compound, parts, made) = open[last]
            if made.count < parts.count {
                let part = parts[made.count]
                if let inner = foreign(part) {
                    open.append((inner, inner.subpredicates, []))
                } else {
                    open[last].made.append(part)
                }
                continue
            }
            let whole = CompoundPredicate(type: compound.compoundPredicateType, subpredicates: made)
            open.removeLast()
            if open.isEmpty { return whole }
            open[last - 1].made.append(whole)
        }
    }

    /// The predicate if it is a compound of Foundation's own.
    private static func foreign(_ predicate: NSPredicate) -> NSCompoundPredicate? {
        predicate is CompoundPredicate ? nil : predicate as? NSCompoundPredicate
    }

    /// Whether the predicate holds for an object.
    override open func evaluate(with object: Any?) -> Bool {
        evaluate(with: object, substitutionVariables: nil)
    }

    /// Whether the predicate holds for an object, with values for its variables.
    ///
    /// Never stops the program: see `NSPredicate.parse(_:arguments:)`.
    override open func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        isBounded ? EvaluationWork.bounded { holds(for: object, bindings) } : holds(for: object, bindings)
    }

    private func holds(for object: Any?, _ bindings: [String: Any]?) -> Bool {
        if isTooDeep { return NSComparisonPredicate.warnsOfDepth() }
        return switch compoundPredicateType {
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
        // What it said is gone.
        if isTooDeep { return false }
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
        case is NSCompoundPredicate: canonical.nodeDepth
        default: 1
        }
    }

    /// The predicate with a budget, for one that was read from a text from outside.
    package var bounded: NSPredicate {
        switch self {
        case let comparison as NSComparisonPredicate: NSComparisonPredicate(bounding: comparison)
        case let compound as CompoundPredicate: CompoundPredicate(bounding: compound)
        default: self
        }
    }

    /// Whether the predicate, or one that it is a compound of, has a budget.
    package var hasBounds: Bool {
        switch self {
        case let comparison as NSComparisonPredicate: comparison.isBounded
        case let compound as CompoundPredicate: compound.containsBounds
        default: false
        }
    }
}

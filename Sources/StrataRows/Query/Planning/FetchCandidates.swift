import Foundation
import StrataLog

/// The rows that a fetch has to look at in one store.
enum FetchCandidates {
    /// Every row of the entities.
    case scan
    /// Only these.
    case refs([ObjectRef])
    /// Only these, which refer to one object.
    case postings([ObjectRef])

    /// What the predicate allows to be left out: it is looked at for parts that must hold and that name objects
    /// (`SELF == x`, `SELF IN list`) or the target of a to-one relationship kept as postings (`parent == x`).
    static func of(_ plan: FetchPlan, _ scope: RowScope) throws(StoreError) -> FetchCandidates {
        guard plan.mayNameObjects, let predicate = plan.predicate else { return .scan }
        return try of(predicate, plan, scope) ?? .scan
    }

    /// Whether ``of(_:_:)`` would look for a part of the predicate that names objects. Reads nothing.
    static func mayNarrow(_ predicate: NSPredicate, _ shape: EntityShape) -> Bool {
        switch predicate {
        case let compound as NSCompoundPredicate:
            compound.compoundPredicateType == .and && compound.subpredicates.contains { mayNarrow($0, shape) }
        case let comparison as NSComparisonPredicate: Naming(comparison, shape) != nil
        default: false
        }
    }

    /// How a comparison names objects.
    private enum Naming {
        /// `SELF == x`.
        case object(Any?)
        /// `SELF IN list`.
        case list(Any?)
        /// `parent == x`, the relationship by its slot.
        case target(slot: Int, Any)

        init?(_ comparison: NSComparisonPredicate, _ shape: EntityShape) {
            guard comparison.comparisonPredicateModifier == .direct else { return nil }
            let sides = (comparison.leftExpression.form, comparison.rightExpression.form)
            switch (sides.0, comparison.predicateOperatorType, sides.1) {
            case (.evaluatedObject, .equalTo, .constant(let value)), (.constant(let value), .equalTo, .evaluatedObject):
                self = .object(value)
            case (.evaluatedObject, .in, .constant(let list)):
                self = .list(list)
            case (.keyPath(nil, let path), .equalTo, .constant(let value?)),
                (.constant(let value?), .equalTo, .keyPath(nil, let path)):
                guard path.names.count == 1, let relationship = shape.relationship(path.names[0]),
                    relationship.keepsPostings
                else { return nil }
                self = .target(slot: relationship.slot, value)
            default: return nil
            }
        }
    }

    private static func of(
        _ predicate: NSPredicate, _ plan: FetchPlan, _ scope: RowScope
    ) throws(StoreError) -> FetchCandidates? {
        if let compound = predicate as? NSCompoundPredicate, compound.compoundPredicateType == .and {
            for part in compound.subpredicates {
                if let found = try of(part, plan, scope) { return found }
            }
            return nil
        }
        guard let comparison = predicate as? NSComparisonPredicate, let naming = Naming(comparison, plan.shape)
        else { return nil }
        switch naming {
        case .object(let value): return refs([value], scope).map { .refs($0) }
        case .list(let list):
            guard let list, let elements = AnyElements(list) else { return nil }
            return refs(elements.elements, scope).map { .refs($0) }
        case .target(let slot, let value):
            guard let targets = refs([value], scope) else { return nil }
            guard let target = targets.first else { return .postings([]) }
            let postings = scope.handle.map.postings(plan.shape, slot)
            return .postings(try scope.snapshot.referrers(postings: postings, to: target).sorted { $0.key < $1.key })
        }
    }

    /// The references that objects and IDs stand for, without repetitions; nil when something else is among them.
    private static func refs(_ values: [Any?], _ scope: RowScope) -> [ObjectRef]? {
        var refs: [ObjectRef] = []
        var seen: Set<ObjectRef> = []
        for value in values {
            guard let value else { continue }
            guard let id = NSManagedObjectID.of(value) else { return nil }
            if id.identity === scope.handle.identity, seen.insert(id.ref).inserted { refs.append(id.ref) }
        }
        return refs.sorted { $0.key < $1.key }
    }
}

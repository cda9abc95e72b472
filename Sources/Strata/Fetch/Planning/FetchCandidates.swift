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
            return compound.compoundPredicateType == .and
                && compound.subpredicates.contains { mayNarrow($0, shape) }
        case let comparison as NSComparisonPredicate:
            guard comparison.comparisonPredicateModifier == .direct else { return false }
            let sides = (comparison.leftExpression.form, comparison.rightExpression.form)
            switch (sides.0, comparison.predicateOperatorType, sides.1) {
            case (.evaluatedObject, .equalTo, .constant), (.constant, .equalTo, .evaluatedObject),
                (.evaluatedObject, .in, .constant):
                return true
            case (.keyPath(nil, let path), .equalTo, .constant(_?)), (.constant(_?), .equalTo, .keyPath(nil, let path)):
                return path.names.count == 1 && shape.relationship(path.names[0])?.keepsPostings == true
            default: return false
            }
        default: return false
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
        guard let comparison = predicate as? NSComparisonPredicate,
            comparison.comparisonPredicateModifier == .direct
        else { return nil }
        switch (comparison.leftExpression.form, comparison.predicateOperatorType, comparison.rightExpression.form) {
        case (.evaluatedObject, .equalTo, .constant(let value)):
            return refs([value], scope).map { .refs($0) }
        case (.constant(let value), .equalTo, .evaluatedObject):
            return refs([value], scope).map { .refs($0) }
        case (.evaluatedObject, .in, .constant(let list?)):
            guard let elements = AnyElements(list) else { return nil }
            return refs(elements.elements, scope).map { .refs($0) }
        case (.keyPath(nil, let path), .equalTo, .constant(let value?)):
            return try referrers(path, value, plan, scope)
        case (.constant(let value?), .equalTo, .keyPath(nil, let path)):
            return try referrers(path, value, plan, scope)
        default:
            return nil
        }
    }

    /// The references that objects and IDs stand for, without repetitions; nil when something else is among them.
    private static func refs(_ values: [Any?], _ scope: RowScope) -> [ObjectRef]? {
        var refs: [ObjectRef] = []
        var seen: Set<ObjectRef> = []
        for value in values {
            guard let value else { continue }
            let id = (value as? NSManagedObject)?.objectID ?? value as? NSManagedObjectID
            guard let id else { return nil }
            if id.identity === scope.handle.identity, seen.insert(id.ref).inserted { refs.append(id.ref) }
        }
        return refs.sorted { $0.key < $1.key }
    }

    private static func referrers(
        _ path: KeyPathComponents, _ value: Any, _ plan: FetchPlan, _ scope: RowScope
    ) throws(StoreError) -> FetchCandidates? {
        guard path.names.count == 1, let relationship = plan.shape.relationship(path.names[0]),
            relationship.keepsPostings, let targets = refs([value], scope)
        else { return nil }
        guard let target = targets.first else { return .postings([]) }
        let postings = scope.handle.map.postings(plan.shape, relationship.slot)
        return .postings(try scope.snapshot.referrers(postings: postings, to: target).sorted { $0.key < $1.key })
    }
}

import Foundation
import StrataLog

/// One execution of a ``PreparedFetch``: what it does, and the values of its parameters. All that an executor needs to
/// know.
///
/// Belongs to whoever executes it, one thread at a time; what the threads of a service share is the prepared fetch,
/// which it refers to once.
@usableFromInline
package final class FetchPlan {
    @usableFromInline package let prepared: PreparedFetch
    /// Nil where the prepared fetch has the constants.
    @usableFromInline let parameters: PlanParameters?
    @usableFromInline package let limit: Int
    @usableFromInline package let offset: Int
    @usableFromInline package let includesPendingChanges: Bool
    /// Whether the prepared fetch was there from an earlier request.
    @usableFromInline package let isReused: Bool
    /// Whether the predicate, or a part of it, was read from a text from outside: then the request has a budget.
    @usableFromInline package let isBounded: Bool
    @usableFromInline private(set) var boundPredicate: NSPredicate?

    @inlinable
    package init(_ prepared: PreparedFetch, _ values: [PlanParameter] = [], isReused: Bool = false, isBounded: Bool) {
        self.prepared = prepared
        self.isBounded = isBounded
        self.isReused = isReused
        parameters = values.isEmpty ? nil : prepared.condition.map { PlanParameters(values, $0) }
        (limit, offset) = (prepared.limit, prepared.offset)
        includesPendingChanges = prepared.includesPendingChanges
    }

    /// What a child context asks its parent, whose unsaved changes always count: for the child they are what is stored.
    ///
    /// - Parameter limit: how many matches do.
    package init(asking plan: FetchPlan, limit: Int) {
        prepared = plan.prepared
        parameters = plan.parameters
        isReused = plan.isReused
        isBounded = plan.isBounded
        boundPredicate = plan.boundPredicate
        self.limit = limit
        offset = 0
        includesPendingChanges = true
    }

    @inlinable package var shape: EntityShape { prepared.shape }
    package var family: [EntityShape] { prepared.family }
    @inlinable package var needsObjects: Bool { prepared.needsObjects }
    package var sorts: [NSSortDescriptor] { prepared.sorts }
    @inlinable package var resultType: NSFetchRequestResultType { prepared.resultType }
    @inlinable package var includesValues: Bool { prepared.includesValues }
    @inlinable package var returnsFaults: Bool { prepared.returnsFaults }
    @inlinable package var refreshes: Bool { prepared.refreshes }
    @inlinable package var isDistinct: Bool { prepared.isDistinct }
    @inlinable package var batchSize: Int { prepared.batchSize }
    package var prefetchedPaths: [KeyPathComponents] { prepared.prefetchedPaths }
    package var stores: [any OpenStore]? { prepared.stores }
    package var dictionaries: DictionaryPlan? { prepared.dictionaries }

    /// Whether rows are left out at all.
    package var hasPredicate: Bool { prepared.condition != nil }

    /// Whether a part of the predicate may name objects, whose rows are looked up.
    var mayNameObjects: Bool { prepared.condition?.mayNameObjects ?? false }

    /// The predicate with the parameters in place, for what interprets it; nil for all rows.
    ///
    /// - Complexity: O(n) in the size of the predicate the first time.
    package var predicate: NSPredicate? {
        guard let condition = prepared.condition else { return nil }
        guard let parameters else { return condition.predicate }
        if let boundPredicate { return boundPredicate }
        let bound = parameters.substituted(in: condition.predicate)
        boundPredicate = bound
        return bound
    }

    /// The condition compiled for one state of a store.
    package func compiled(_ handle: StoreHandle, _ snapshot: Snapshot) throws -> CompiledPredicate {
        try PredicateCompiler(shape, handle, snapshot, parameters).compile(prepared.condition)
    }
}

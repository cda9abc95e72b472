import Foundation
import StrataLog

/// Something that satisfies a plan's predicate: a stored row, or an object with unsaved changes.
struct FetchMatch {
    var ref: ObjectRef
    var storeIndex: UInt16
    var object: NSManagedObject?
    var keys: SortKeys?
}

/// The context's unsaved changes as a fetch sees them.
struct PendingOverlay {
    /// Inserted objects, in the order of insertion.
    let inserted: [NSManagedObject]
    /// Changed and deleted objects that have a row.
    let stored: [NSManagedObject]

    /// - Parameter handles: the stores asked; only called for when something has changed.
    init(_ context: NSManagedObjectContext, _ plan: FetchPlan, _ handles: @autoclosure () -> [StoreHandle]) {
        guard plan.includesPendingChanges, !context.pipeline.changed.isEmpty else {
            inserted = []
            stored = []
            return
        }
        var inserted: [NSManagedObject] = []
        var stored: [NSManagedObject] = []
        let isWholeFamily = plan.family.count > 1
        let handles = handles()
        for object in context.pipeline.changed where object.hasChanges {
            // Who began the work throws what comes of it away.
            guard EvaluationWork.step() else { break }
            guard isWholeFamily ? object.shape.isKind(of: plan.shape) : object.shape === plan.shape,
                Self.isIn(handles, object, context, plan)
            else { continue }
            if !object.flags.contains(.inserted) {
                stored.append(object)
            } else if !object.isMarkedDeleted {
                inserted.append(object)
            }
        }
        self.inserted = inserted
        self.stored = stored
    }

    /// Whether the object is, or will be, in one of the stores asked.
    private static func isIn(
        _ handles: [StoreHandle], _ object: NSManagedObject, _ context: NSManagedObjectContext, _ plan: FetchPlan
    ) -> Bool {
        guard plan.stores != nil else { return true }
        let handle: StoreHandle?
        if object.storeIndex != 0 {
            handle = context.registry.handle(object.storeIndex)
        } else {
            handle =
                context.pipeline.assignments[ObjectIdentifier(object)]?.handle
                ?? context.coordinator?.handle(holding: object.shape)
        }
        return handles.contains { $0 === handle }
    }

    var isEmpty: Bool { inserted.isEmpty && stored.isEmpty }

    /// How many of the objects satisfy the plan's predicate.
    func count(_ plan: FetchPlan) -> Int {
        (inserted + stored).count { !EvaluationWork.isStopped && !$0.isMarkedDeleted && Self.satisfies($0, plan) }
    }

    private static func satisfies(_ object: NSManagedObject, _ plan: FetchPlan) -> Bool {
        guard let predicate = plan.predicate else { return true }
        EvaluationWork.beginObject()
        let isMatch = predicate.evaluate(with: object)
        // A block may take long, and takes no steps.
        if plan.needsObjects { EvaluationWork.ask() }
        return isMatch
    }

    /// Lays the changes over what was found in the stores, which is in the order of creation.
    func apply(to matches: inout [FetchMatch], _ plan: FetchPlan, _ sorts: [KeySortDescriptor]) {
        func match(_ object: NSManagedObject) -> FetchMatch? {
            guard !EvaluationWork.isStopped, !object.isMarkedDeleted, Self.satisfies(object, plan) else { return nil }
            return FetchMatch(
                ref: object.ref, storeIndex: object.storeIndex, object: object,
                keys: sorts.isEmpty ? nil : SortKeys(object, sorts))
        }
        if !stored.isEmpty {
            var changed: [UInt16: Set<ObjectRef>] = [:]
            for object in stored { changed[object.storeIndex, default: []].insert(object.ref) }
            matches.removeAll { changed[$0.storeIndex]?.contains($0.ref) ?? false }
            let updated = stored.compactMap(match).sorted(by: Self.precedes)
            if !updated.isEmpty { matches = Self.merged(matches, updated) }
        }
        matches += inserted.compactMap(match)
    }

    private static func precedes(_ left: FetchMatch, _ right: FetchMatch) -> Bool {
        (left.storeIndex, left.ref.key) < (right.storeIndex, right.ref.key)
    }

    private static func merged(_ left: [FetchMatch], _ right: [FetchMatch]) -> [FetchMatch] {
        var result: [FetchMatch] = []
        result.reserveCapacity(left.count + right.count)
        var next = right[...]
        for match in left {
            while let other = next.first, precedes(other, match) { result.append(next.removeFirst()) }
            result.append(match)
        }
        return result + next
    }
}

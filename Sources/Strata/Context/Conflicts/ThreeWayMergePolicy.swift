import Foundation
import StrataLog

/// A merge policy that merges changes to different properties and leaves changes to the same property to a fallback
/// policy.
///
/// The policy compares each object in conflict with the row its changes are based on, which is still in the log, and
/// with the newest row. A property that only one side changed gets that side's value. If both sides changed a property
/// to different values, the fallback policy resolves the conflict of that object as a whole.
///
/// ```swift
/// context.mergePolicy = ThreeWayMergePolicy(fallback: .mergeByPropertyStoreTrump)
/// ```
open class ThreeWayMergePolicy: NSMergePolicy, @unchecked Sendable {
    // Unchecked, as an open class has to be: the only state is constant.

    /// Who resolves changes of the same property, deletions and broken constraints.
    public let fallback: NSMergePolicy

    /// A policy that leaves what it cannot merge to another one.
    ///
    /// - Parameter fallback: by default the save fails when both sides have changed the same property.
    public init(fallback: NSMergePolicy = .error) {
        self.fallback = fallback
        super.init(merge: fallback.mergeType)
    }

    /// Merges what can be merged; `fallback` gets the rest.
    ///
    /// - Throws: what `fallback` throws.
    override open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        var rest: [NSMergeConflict] = []
        var merges: [(ObjectMerge, Row)] = []
        for conflict in list {
            let object = conflict.sourceObject
            guard object.isUpdated, let row = try ObjectMerge.newestRow(of: object),
                !ObjectMerge(object).isChangedTwice(row)
            else {
                rest.append(conflict)
                continue
            }
            merges.append((ObjectMerge(object), row))
        }
        // First, since a save that fails must leave all objects as they are.
        if !rest.isEmpty { try fallback.resolve(optimisticLockingConflicts: rest) }
        for (merge, row) in merges { merge.rebase(row) { _, _, _ in true } }
    }

    /// Hands all of them to ``fallback``: values that must be unique cannot be merged.
    ///
    /// - Throws: what ``fallback`` throws.
    override open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        try fallback.resolve(constraintConflicts: list)
    }

    override var isStandard: Bool { Swift.type(of: self) == ThreeWayMergePolicy.self && fallback.isStandard }

    /// The policy and its fallback.
    override open var description: String { "ThreeWayMergePolicy(fallback: \(fallback))" }
}

extension ObjectMerge {
    /// Whether the context and the store have changed some property to different values.
    func isChangedTwice(_ row: Row) -> Bool {
        guard let overlay = object.overlay, let base = object.committedRow() else { return object.overlay != nil }
        let comparison = ColumnComparison(object)
        return (0..<object.shape.persistentSlotCount).contains { slot in
            guard overlay.isDirty(slot), !object.shape.slots[slot].isHidden else { return false }
            let before = base.block.verifiedColumn(slot)
            let after = row.block.verifiedColumn(slot)
            return !overlay.equals(slot, before, base.row, object) && !overlay.equals(slot, after, row.index, object)
                && comparison.value(slot, base.block, base.row) != comparison.value(slot, row.block, row.index)
        }
    }
}

import Foundation
import StrataLog

/// Describes the conflicts of a commit that was refused, and has the context's merge policy resolve them.
struct ConflictResolver {
    private let context: NSManagedObjectContext
    private let ending: StoreEnding

    init(_ context: NSManagedObjectContext, _ ending: StoreEnding) {
        self.context = context
        self.ending = ending
    }

    /// Brings the objects into a state in which the save can be tried again.
    ///
    /// - Returns: the objects that the policy was asked about.
    /// - Throws: what the policy throws: for the policies that are there, error 133020 or 133021 with the conflicts.
    func resolve(_ error: StoreError) throws -> [NSManagedObject] {
        let snapshot = ending.handle.log.snapshot
        let merges = try mergeConflicts(error.conflicts, snapshot)
        let constraints = try constraintConflicts(error.uniqueConflicts, snapshot)
        // What is left are hidden links, which have no object, and what was derived from older rows: trying again reads
        // the newest.
        if merges.isEmpty, constraints.isEmpty { return [] }
        defer {
            context.pipeline.forgetDropped()
            context.pipeline.mergedAway = []
        }
        let policy = context.mergePolicy as? NSMergePolicy ?? .error
        // The program may use the stored objects before they are merged, and after.
        if !policy.isStandard { constraints.forEach { $0.isDatabaseObjectNew = false } }
        let versions = merges.map(\.sourceObject.version)
        let deleted = merges.map(\.sourceObject).filter(\.isMarkedDeleted)
        try policy.resolve(mergeConflicts: merges + constraints)
        if !policy.isStandard { ConstraintMerge.forward(context.pipeline.mergedAway) }
        for (conflict, version) in zip(merges, versions) where conflict.sourceObject.version == version {
            try acceptWhatIsLeft(conflict.sourceObject, snapshot)
        }
        try LateRelationships(context, ending, snapshot).settle(merges.map(\.sourceObject))
        return merges.map(\.sourceObject)
            + constraints.flatMap { $0.conflictingObjects + [$0.databaseObject].compactMap(\.self) }
            + (deleted.contains { !$0.isMarkedDeleted } ? denied() : [])
    }

    /// The deleted objects whose rules may deny that, now that others are not deleted any more.
    private func denied() -> [NSManagedObject] {
        context.pipeline.changed.filter { object in
            object.isMarkedDeleted && object.shape.hasDenyRules && object.flags.isDisjoint(with: [.gone, .inserted])
        }
    }

    /// A policy that has resolved a conflict without `super` wants the object written as it is.
    ///
    /// It has been told of the rows in the snapshot: one that has been written since is another conflict.
    private func acceptWhatIsLeft(_ object: NSManagedObject, _ snapshot: Snapshot) throws {
        guard object.hasChanges || context.pipeline.isRequired(object) else { return }
        let row = try snapshot.row(object.ref)
        guard let row else {
            ObjectMerge(object).rowIsGone()
            return
        }
        if object.version != row.version { ObjectMerge(object).overwrite(row) }
    }

    // MARK: Rows that are newer

    private func mergeConflicts(_ refs: [ObjectRef], _ snapshot: Snapshot) throws -> [NSMergeConflict] {
        var conflicts: [NSMergeConflict] = []
        for ref in refs where ending.handle.map.shape(ref.entity) != nil {
            // The other end of a relationship need not have been looked at.
            guard let object = context.object(ref, ending.storeIndex) else { continue }
            let row = try snapshot.row(ref)
            if let row { try row.block.verify() }
            conflicts.append(
                NSMergeConflict(
                    source: object, newVersion: Int(row?.version.sequence ?? 0),
                    oldVersion: Int(object.version.sequence),
                    cachedSnapshot: row.map { object.snapshotValues(of: ($0.block, $0.index)) },
                    persistedSnapshot: nil))
        }
        return conflicts
    }

    // MARK: Values that are not unique

    private struct Group: Hashable {
        var constraint: Int
        var holder: ObjectRef
    }

    private func constraintConflicts(
        _ conflicts: [UniqueConflict], _ snapshot: Snapshot
    ) throws -> [NSConstraintConflict] {
        guard !conflicts.isEmpty else { return [] }
        let objects = ending.objectsByRef()
        var order: [Group] = []
        var members: [Group: [NSManagedObject]] = [:]
        var stored: [Group: UniqueConflict] = [:]
        for conflict in conflicts {
            guard let object = objects[conflict.ref] else { continue }
            let group = Group(constraint: conflict.constraint, holder: conflict.holder)
            if members[group] == nil {
                order.append(group)
                if conflict.isHolderStored { stored[group] = conflict }
                members[group] = conflict.isHolderStored ? [] : [objects[conflict.holder]].compactMap(\.self)
            }
            members[group]?.append(object)
        }
        return try order.compactMap { group in
            guard let objects = members[group] else { return nil }
            let names = ending.handle.constraints[group.constraint].names
            guard let first = stored[group] else {
                return NSConstraintConflict(
                    constraint: names, database: nil, databaseSnapshot: nil, conflicting: objects,
                    conflictingSnapshots: objects.map { $0.snapshotValues() })
            }
            return try conflict(names, first, objects, snapshot)
        }
    }

    private func conflict(
        _ names: [String], _ found: UniqueConflict, _ objects: [NSManagedObject], _ snapshot: Snapshot
    ) throws -> NSConstraintConflict? {
        let holder = found.holder
        // A row that has gone in the meantime, or has other values, is no hindrance any more.
        guard let row = try snapshot.row(holder), let values = ending.values(of: found),
            try snapshot.has(values, holder)
        else { return nil }
        let isKnown = context.registry.object(holder, ending.storeIndex) != nil
        guard let object = context.object(holder, ending.storeIndex) else { return nil }
        try row.block.verify()
        let conflict = NSConstraintConflict(
            constraint: names, database: object, databaseSnapshot: object.snapshotValues(of: (row.block, row.index)),
            conflicting: objects, conflictingSnapshots: objects.map { $0.snapshotValues() })
        conflict.isDatabaseObjectNew = !isKnown
        conflict.values = values
        return conflict
    }
}

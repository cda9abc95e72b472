import Foundation
import StrataLog

// What saves to a store and to a parent have in common.
extension NSManagedObjectContext {
    /// The changed objects by what is to be done about them.
    final func classifiedChanges() -> ObjectChanges {
        if let all = classifiedAsReported() { return all }
        var all = ObjectChanges()
        all.inserted.reserveCapacity(changed.count)
        changed.forEachUnretained { object in
            if object.isDeleted {
                if !object.flags.contains(.inserted) { all.deleted.append(object) }
            } else if object.isInserted {
                all.inserted.append(object)
            } else if object.isUpdated {
                all.updated.append(object)
            }
        }
        return all
    }

    /// The changed objects when the inserted ones are those of the one notification that had any, in its order, and the
    /// deleted ones likewise, as is mostly so: then its lists are theirs. Nil if not.
    private func classifiedAsReported() -> ObjectChanges? {
        if reportedInsertOrder == nil, reportedDeleteOrder == nil { return nil }
        let (inserted, deleted) = (reportedInsertOrder ?? [], reportedDeleteOrder ?? [])
        var updated: ContiguousArray<NSManagedObject> = []
        var (insertedCount, deletedCount) = (0, 0)
        var isSame = true
        inserted.withObjectPointers { inserted in
            deleted.withObjectPointers { deleted in
                changed.forEachUnretained { object in
                    let pointer = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
                    if object.isInserted {
                        if insertedCount < inserted.count, inserted[insertedCount] == pointer {
                            insertedCount += 1
                        } else {
                            isSame = false
                        }
                    } else if object.isDeleted {
                        if object.flags.contains(.inserted) { return }
                        if deletedCount < deleted.count, deleted[deletedCount] == pointer {
                            deletedCount += 1
                        } else {
                            isSame = false
                        }
                    } else if object.isUpdated {
                        updated.append(object)
                    }
                }
            }
        }
        guard isSame, insertedCount == inserted.count, deletedCount == deleted.count else { return nil }
        var all = ObjectChanges()
        (all.inserted, all.updated, all.deleted) = (inserted, updated, deleted)
        return all
    }

    /// Takes an object whose changes have been saved out of the state of change. False if it was deleted.
    ///
    /// - Parameter isTold: whether it is one of those that `didSave` is called for.
    final func settle(_ object: NSManagedObject, isTold: Bool = true) -> Bool {
        let wasDeleted = object.isDeleted
        let wasInserted = object.flags.contains(.inserted)
        // Of what others have deleted nothing was saved.
        let isSaved = !(wasDeleted && wasInserted) && !object.flags.contains(.gone)
        if isTold, isSaved, object.hasChanges { object.flags.insert(.saved) }
        object.flags.subtract([
            .listed, .inEvent, .inserted, .updated, .deletePropagated, .insertReported, .dirtySlots, .dirtyToMany,
        ])
        if wasDeleted {
            object.flags.insert(.gone)
            // didSave still sees that the object is deleted.
            if wasInserted {
                object.flags.remove(.deleted)
                detach(object)
            }
            return false
        }
        object.overlay?.clearDirty(object.summary)
        if !object.toMany.isEmpty { for state in object.toMany { state?.didSave() } }
        return true
    }

    /// Forgets what has happened since pending changes were last processed.
    final func dropEvent() {
        eventSets = nil
        event.forEachUnretained { object in
            object.flags.remove(.inEvent)
            object.endEvent()
        }
        event = []
        undoRecorder?.forgetEvent()
        earlierValues.forgetEvent()
    }

    /// Tells the objects that have been saved, after which those that were deleted leave.
    ///
    /// - Parameter overrides: what some class of the objects overrides.
    final func callDidSave(
        _ objects: ContiguousArray<NSManagedObject>, deleted: ContiguousArray<NSManagedObject>,
        _ overrides: MethodOverrides
    ) {
        if overrides.contains(.didSave) {
            objects.forEachUnretained { object in
                guard object.flags.contains(.saved) else { return }
                object.flags.remove(.saved)
                object.didSave()
            }
        }
        if deleted.isEmpty { return }
        // What didSave has inserted again stays.
        let leaving = overrides.contains(.didSave) ? deleted.filter(\.isDeleted) : deleted
        registry.forget(leaving)
        leaving.forEachUnretained { object in
            object.flags.remove(.deleted)
            detach(object)
        }
    }
}

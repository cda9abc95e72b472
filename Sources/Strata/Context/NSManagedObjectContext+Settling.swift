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

    /// The changed objects when the inserted ones are those of the one notification that had any, in its order, as is
    /// mostly so: then its list is theirs. Nil if not.
    private func classifiedAsReported() -> ObjectChanges? {
        guard let reported = reportedInsertOrder else { return nil }
        var all = ObjectChanges()
        var next = 0
        var isSame = true
        reported.withUnsafeBufferPointer { reported in
            // SAFETY: an Unmanaged has the layout of the reference it stands for.
            let base = reported.baseAddress.map {
                UnsafeRawPointer($0).assumingMemoryBound(to: UnsafeRawPointer.self)
            }
            changed.forEachUnretained { object in
                if object.isInserted {
                    if let base, next < reported.count,
                        base[next] == UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
                    {
                        next += 1
                    } else {
                        isSame = false
                    }
                } else if object.isDeleted {
                    if !object.flags.contains(.inserted) { all.deleted.append(object) }
                } else if object.isUpdated {
                    all.updated.append(object)
                }
            }
        }
        guard isSame, next == reported.count else { return nil }
        all.inserted = reported
        return all
    }

    /// Takes an object whose changes have been saved out of the state of change. False if it was deleted.
    final func settle(_ object: NSManagedObject) -> Bool {
        let wasDeleted = object.isDeleted
        let wasInserted = object.flags.contains(.inserted)
        if object.hasChanges, !(wasDeleted && wasInserted) { object.flags.insert(.saved) }
        object.flags.subtract([
            .listed, .inEvent, .inserted, .updated, .deletePropagated, .insertReported, .dirtySlots, .dirtyToMany,
        ])
        if wasDeleted {
            object.flags.insert(.gone)
            // didSave still sees that the object is deleted.
            if wasInserted { leave(object) }
            return false
        }
        object.overlay?.clearDirty(object.facts)
        if !object.toMany.isEmpty { for state in object.toMany { state?.didSave() } }
        return true
    }

    /// Takes a deleted object out of the context.
    private func leave(_ object: NSManagedObject) {
        object.flags.remove(.deleted)
        detach(object)
    }

    /// Forgets what has happened since pending changes were last processed.
    final func dropEvent() {
        event.forEachUnretained { object in
            object.flags.remove(.inEvent)
            object.endEvent()
        }
        event = []
        undoRecorder?.forgetEvent()
    }

    /// Tells the objects that have been saved, after which those that were deleted leave.
    final func callDidSave(_ objects: ContiguousArray<NSManagedObject>) {
        objects.forEachUnretained { object in
            guard object.flags.contains(.saved) else { return }
            object.flags.remove(.saved)
            object.didSave()
            if object.isDeleted { leave(object) }
        }
    }
}

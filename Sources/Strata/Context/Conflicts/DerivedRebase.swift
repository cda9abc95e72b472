import Foundation
import StrataLog

/// Takes conflicts out of a save that are about derived attributes only.
///
/// Core Data keeps derived attributes by triggers inside of its store, so that two contexts which each add an object to
/// a relationship with a derived count do not get in each other's way. Here the owner's row is written: when another
/// context was first, the newest row is taken; then the attributes are computed anew, and the save is tried again.
struct DerivedRebase {
    let context: NSManagedObjectContext
    let ending: StoreEnding

    /// The conflicts that are left to the merge policy.
    ///
    /// - Throws: the store's error if a row cannot be read.
    func resolve(_ refs: [ObjectRef]) throws -> [ObjectRef] {
        guard context.modelShapes?.hasDerivations == true else { return refs }
        do {
            return try rebase(refs)
        } catch {
            throw StoreFailure.cocoaError(error, reading: ending.handle)
        }
    }

    private func rebase(_ refs: [ObjectRef]) throws(StoreError) -> [ObjectRef] {
        let snapshot = ending.handle.log.snapshot
        var rest: [ObjectRef] = []
        for ref in refs {
            guard let object = context.registry.object(ref, ending.storeIndex), object.isUpdated,
                let row = try snapshot.row(ref),
                // Otherwise the conflict is about something else than the row.
                row.version.sequence != object.version.sequence
            else {
                rest.append(ref)
                continue
            }
            try row.block.verify()
            guard hasOnlyDerivedChanges(object) || differsInDerived(row, from: object) else {
                rest.append(ref)
                continue
            }
            if !object.flags.contains(.unobserved) { object.observedEverythingWillChange() }
            object.overlay?.clearUnchanged(object.summary, persistentSlots: object.shape.persistentSlotCount)
            object.attach(row.block, row: row.index, location: row.location)
            for state in object.toMany { state?.unload() }
            if !object.flags.contains(.unobserved) { object.observedEverythingDidChange() }
        }
        return rest
    }

    private func hasOnlyDerivedChanges(_ object: NSManagedObject) -> Bool {
        guard let overlay = object.overlay else { return false }
        let derived = Set(object.shape.derivations.map(\.slot))
        if derived.isEmpty { return false }
        return (0..<object.shape.persistentSlotCount).allSatisfy { !overlay.isDirty($0) || derived.contains($0) }
    }

    /// Whether the others have changed nothing but derived attributes.
    private func differsInDerived(_ row: Row, from object: NSManagedObject) -> Bool {
        guard let base = object.committedRow() else { return false }
        let derived = Set(object.shape.derivations.map(\.slot))
        if derived.isEmpty { return false }
        let comparison = ColumnComparison(object)
        return (0..<object.shape.persistentSlotCount).allSatisfy { slot in
            derived.contains(slot)
                || comparison.value(slot, row.block, row.index) == comparison.value(slot, base.block, base.row)
        }
    }
}

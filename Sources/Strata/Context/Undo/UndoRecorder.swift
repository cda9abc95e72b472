import Foundation
import StrataSupport

/// Turns what happens in a context into undo operations. A context has one as long as it has an undo manager.
///
/// When an object first changes in an event, what it was is kept. When the event is processed, the differences become
/// one operation. Undoing sets them back, which is an event itself, whose operation is what redoing does.
final class UndoRecorder {
    let manager: UndoManager
    private unowned(unsafe) let context: NSManagedObjectContext
    private let target: ObjectIdentifier
    private var observer: (any NSObjectProtocol)?
    /// What the objects of the current event were.
    private var mementos: [ObjectIdentifier: ObjectMemento] = [:]
    /// The same for the event that is being reported.
    private var reported: [ObjectIdentifier: ObjectMemento] = [:]
    /// What undoing has brought back, and what it has changed, to be reported as such.
    private var revived: Set<ObjectIdentifier> = []
    private var restored: Set<ObjectIdentifier> = []

    init(_ context: NSManagedObjectContext, _ manager: UndoManager) {
        self.context = context
        self.manager = manager
        target = ObjectIdentifier(context)
        let box = UncheckedBox(WeakContext(context: context))
        observer = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: manager, queue: nil
        ) { _ in box.value.context?.processPendingChanges() }
    }

    deinit {
        if let observer { NotificationCenter.default.removeObserver(observer) }
        // The context may be going itself, and must not be retained any more.
        manager.removeActions(target: target)
    }

    /// Keeps what an object is, before its first change in an event.
    func capture(_ object: NSManagedObject) {
        mementos[ObjectIdentifier(object)] = ObjectMemento(of: object)
    }

    /// The members of an ordered relationship have been read, before any of them was changed.
    func recordLoaded(_ relationship: RelationshipShape, _ order: [NSManagedObject], of owner: NSManagedObject) {
        guard relationship.isOrdered, owner.flags.contains(.inEvent) else { return }
        let key = ObjectIdentifier(owner)
        guard var memento = mementos[key] else { return }
        while memento.members.count <= relationship.index { memento.members.append(nil) }
        var members = memento.members[relationship.index] ?? .init(added: [], removed: [], order: nil)
        guard members.order == nil else { return }
        members.order = order
        memento.members[relationship.index] = members
        mementos[key] = memento
    }

    /// Registers the changes of the event's objects as one operation.
    func register(_ objects: ContiguousArray<NSManagedObject>) {
        reported = mementos
        mementos = [:]
        guard manager.isUndoRegistrationEnabled else { return }
        var changes: [ObjectUndo] = []
        for object in objects {
            guard let memento = reported[ObjectIdentifier(object)], let change = ObjectUndo(object, memento),
                !change.isEmpty
            else { continue }
            changes.append(change)
        }
        if changes.isEmpty { return }
        let isUngrouped = manager.groupingLevel == 0 && !manager.groupsByEvent
        if isUngrouped { manager.beginUndoGrouping() }
        manager.registerUndo(withTarget: context) { $0.revert(changes) }
        if isUngrouped { manager.endUndoGrouping() }
    }

    /// What a slot had before the current event, or the one that is being reported; nil if that was not kept.
    func memento(of object: NSManagedObject) -> ObjectMemento? {
        let key = ObjectIdentifier(object)
        return mementos[key] ?? reported[key]
    }

    func recordRestored(_ object: NSManagedObject, isRevived: Bool) {
        if isRevived { revived.insert(ObjectIdentifier(object)) } else { restored.insert(ObjectIdentifier(object)) }
    }

    /// Objects that were brought back are reported as inserted, and those that are as they were saved as updated.
    func amend(_ changes: inout ObjectChanges, _ objects: ContiguousArray<NSManagedObject>) {
        if revived.isEmpty, restored.isEmpty { return }
        if !revived.isEmpty {
            changes.updated.removeAll {
                !$0.isMarkedDeleted && !$0.isInserted && revived.contains(ObjectIdentifier($0))
            }
        }
        for object in objects where !object.isMarkedDeleted && !object.isInserted {
            let key = ObjectIdentifier(object)
            if revived.contains(key) {
                changes.inserted.append(object)
            } else if restored.contains(key), !object.hasChanges {
                changes.updated.append(object)
            }
        }
        revived = []
        restored = []
    }

    /// The event has been reported.
    func didReport() {
        reported = [:]
    }

    /// Forgets the current event.
    func forgetEvent() {
        mementos = [:]
    }

    /// Forgets what an object was, which leaves the context: another one may come to lie at its address.
    func forgetEvent(of object: NSManagedObject) {
        mementos[ObjectIdentifier(object)] = nil
    }

    /// Forgets everything that could be undone or redone in the context.
    func discard() {
        mementos = [:]
        reported = [:]
        revived = []
        restored = []
        manager.removeActions(target: target)
    }

    private struct WeakContext {
        weak var context: NSManagedObjectContext?
    }
}

import Foundation
import StrataLog

/// What an object was like before it changed in an event, kept while its context has an undo manager.
struct ObjectMemento {
    /// Whether an object is there, for those who look at the context.
    enum Life {
        case absent
        case alive
        case deleted
    }

    struct Members {
        var added: [NSManagedObject]
        var removed: [NSManagedObject]
        /// Of an ordered relationship whose members were there.
        var order: [NSManagedObject]?
    }

    let life: Life
    /// The values of the slots that the overlay held; nil for null.
    private var held: [Int: Any?] = [:]
    private let block: Block?
    private let row: Int
    private let hasDefaults: Bool
    /// By relationship; nil where nothing was known.
    var members: [Members?] = []

    init(of object: NSManagedObject) {
        let flags = object.flags
        if !flags.isDisjoint(with: [.deleted, .gone]) {
            life = .deleted
        } else {
            life = flags.contains(.inserted) && !flags.contains(.listed) ? .absent : .alive
        }
        block = object.block
        row = Int(object.row)
        hasDefaults = flags.contains(.defaultsBelow) || object.storeIndex == 0
        if let overlay = object.overlay {
            for slot in object.shape.slots.indices where overlay.isPresent(slot) {
                held[slot] = .some(overlay.isNull(slot) ? nil : overlay.boxed(object.shape.codes[slot]))
            }
        }
        for (relationship, state) in zip(object.shape.relationships, object.toMany) {
            members.append(
                state.map { state in
                    let isKnown = relationship.isOrdered && state.isLoaded
                    return Members(
                        added: state.added.objects, removed: state.removed.objects,
                        order: isKnown ? state.order : nil)
                })
        }
    }

    /// The value that a slot had: a boxed attribute or an object.
    func value(_ slot: Int, of object: NSManagedObject) -> Any? {
        if let value = held[slot] { return value }
        let info = object.shape.slots[slot]
        if info.isPersistent, let block { return object.committedValue(slot, (block, row)) }
        if hasDefaults || !info.isPersistent { return info.defaultValue }
        // A fault whose members changed first has been read since.
        return object.block.flatMap { object.committedValue(slot, ($0, Int(object.row))) }
    }
}

/// What happened to one object in one event, as far as it can be undone.
struct ObjectUndo {
    struct MemberUndo {
        let relationship: RelationshipShape
        /// Who came in the event, and who left.
        var came: [NSManagedObject]
        var left: [NSManagedObject]
        /// The order before, of an ordered relationship.
        var order: [NSManagedObject]?
    }

    let object: NSManagedObject
    /// What the object was before the event and after it.
    let before: ObjectMemento.Life
    let after: ObjectMemento.Life
    /// The slots that changed, with the values they had.
    var values: [(slot: Int, value: Any?)] = []
    var toMany: [MemberUndo] = []
    /// Of an object that was deleted: the objects at the other ends of its relationships, by index. When the deletion
    /// has been saved, the store does not know the members any more, and no context the objects.
    var members: [[NSManagedObject]] = []

    var isEmpty: Bool { before == after && values.isEmpty && toMany.isEmpty }

    var dies: Bool { before != .alive && after == .alive }
    var revives: Bool { before == .alive && after == .deleted }

    /// Compares an object with what it was. Nil if it came and went in the same event.
    init?(_ object: NSManagedObject, _ memento: ObjectMemento) {
        self.object = object
        before = memento.life
        after = object.flags.isDisjoint(with: [.deleted, .gone]) ? .alive : .deleted
        if before == .absent {
            // The values stay with the object, for when the insertion is redone.
            if after != .alive { return nil }
            return
        }
        collectValues(memento)
        collectMembers(memento)
        if revives { keepMembers() }
    }

    private mutating func collectValues(_ memento: ObjectMemento) {
        guard let overlay = object.overlay else { return }
        for (slot, info) in object.shape.slots.enumerated() where overlay.isChangedInEvent(slot) && !info.isHidden {
            let old = memento.value(slot, of: object)
            let new = overlay.isNull(slot) ? nil : overlay.boxed(object.shape.codes[slot])
            if !Self.isEqual(old, new) { values.append((slot, old)) }
        }
    }

    static func isEqual(_ first: Any?, _ second: Any?) -> Bool {
        guard let first, let second else { return first == nil && second == nil }
        if let object = first as? NSManagedObject { return isReference(second, to: object) ?? false }
        guard let first = ExactText.comparable(first), let second = ExactText.comparable(second) else { return false }
        return first == second
    }

    private mutating func collectMembers(_ memento: ObjectMemento) {
        for (relationship, state) in zip(object.shape.relationships, object.toMany) {
            guard let state else { continue }
            let old = relationship.index < memento.members.count ? memento.members[relationship.index] : nil
            let added = Set(old?.added ?? [])
            let removed = Set(old?.removed ?? [])
            let came =
                state.added.objects.filter { !added.contains($0) } + removed.filter { !state.removed.contains($0) }
            let left =
                state.removed.objects.filter { !removed.contains($0) } + added.filter { !state.added.contains($0) }
            let hasMoved = relationship.isOrdered && state.isLoaded && old?.order != nil && old?.order != state.order
            if came.isEmpty, left.isEmpty, !hasMoved { continue }
            toMany.append(MemberUndo(relationship: relationship, came: came, left: left, order: old?.order))
        }
    }

    /// Keeps everything that the object refers to.
    private mutating func keepMembers() {
        for relationship in object.shape.relationships {
            members.append(object.targets(relationship))
        }
    }
}

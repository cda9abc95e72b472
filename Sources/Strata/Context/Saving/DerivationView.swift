import Foundation
import StrataLog

/// What objects will be like once a save has been committed, for those who derive values from them: what the context
/// has changed, over the newest rows of the store.
///
/// What the context has read is not enough: others may have changed it since, and a value that was derived from it
/// would be wrong from then on. Nothing that is looked at here is brought up to date for the program.
///
/// Remembers what was looked at, for the commit: see ``addConflictKeys(to:of:)``. Belongs to the context's queue and to
/// one attempt to save.
final class DerivationView {
    private let context: NSManagedObjectContext
    private var snapshots: [UInt16: Snapshot] = [:]
    private var conflictKeys: [UInt16: Set<ConflictKey>] = [:]
    /// Why something could not be read; what was derived is of no use then.
    private(set) var failure: (any Error)?

    /// Nil in a child: its parent decides what is written.
    init?(_ context: NSManagedObjectContext) {
        if context.link != nil { return nil }
        self.context = context
    }

    // MARK: What the commit has to make sure of

    /// Others must not change what is derived from the object at the same time.
    func guardDerivation(from object: NSManagedObject, isExclusive: Bool = true) {
        guard !object.isInserted, snapshot(for: object) != nil else { return }
        conflictKeys[object.storeIndex, default: []].insert(
            ConflictKey(kind: ConflictKeyKind.derivation, object.ref.rawValue, isExclusive: isExclusive))
    }

    /// Has the commit to a store refused if others have changed what was looked at.
    func addConflictKeys(to transaction: WriteTransaction, of storeIndex: UInt16) {
        guard let snapshot = snapshots[storeIndex] else { return }
        for key in conflictKeys[storeIndex] ?? [] { transaction.hold(key, asOf: snapshot.sequence) }
    }

    // MARK: Rows

    private enum Freshness {
        /// The object has its newest row, or none yet.
        case current
        case outdated(Row)
        case gone
    }

    /// The newest snapshot of the object's store. Nil for an object without a row that could be newer.
    private func snapshot(for object: NSManagedObject) -> Snapshot? {
        let index = object.storeIndex
        if let known = snapshots[index] { return known }
        guard index != 0, let handle = context.registry.handle(index), handle.custom == nil, !handle.isDetached else {
            return nil
        }
        let new = handle.log.snapshot
        snapshots[index] = new
        return new
    }

    private func freshness(_ object: NSManagedObject) -> Freshness {
        if object.isInserted { return .current }
        guard let snapshot = snapshot(for: object) else { return .current }
        do {
            let location = try snapshot.locate(object.ref)
            if location == object.version.location, !object.isUnread { return .current }
            guard let row = try snapshot.row(object.ref) else { return .gone }
            // Compaction moves rows without changing them.
            if row.version.sequence == object.version.sequence, !object.isUnread { return .current }
            try row.block.verify()
            return .outdated(row)
        } catch {
            record(error, of: object)
            return .current
        }
    }

    private func record(_ error: StoreError, of object: NSManagedObject) {
        guard failure == nil, let handle = context.registry.handle(object.storeIndex) else { return }
        failure = StoreFailure.cocoaError(error, reading: handle)
    }

    /// Whether a derived attribute with this value need not be written.
    func hasStored(_ value: Any?, in slot: Int, of object: NSManagedObject) -> Bool {
        if object.overlay?.isDirty(slot) == true { return true }
        guard case .outdated(let row) = freshness(object) else { return true }
        return Operand(value).equals(Operand(object.boxed(in: row.block, row: row.index, slot: slot)))
    }

    // MARK: Properties

    private func attribute(_ slot: Int, of object: NSManagedObject) -> Any? {
        if object.overlay?.isDirty(slot) == true { return object.boxedValue(slot) }
        switch freshness(object) {
        case .current: return object.boxedValue(slot)
        case .outdated(let row): return object.boxed(in: row.block, row: row.index, slot: slot)
        case .gone: return nil
        }
    }

    private func target(_ relationship: RelationshipShape, of object: NSManagedObject) -> NSManagedObject? {
        let slot = relationship.slot
        if object.overlay?.isDirty(slot) == true { return object.toOneTarget(relationship) }
        switch freshness(object) {
        case .current: return object.toOneTarget(relationship)
        case .outdated(let row):
            let ref = row.block.verifiedColumn(slot).reference(row.index)
            return ref.isNull ? nil : context.object(ref, object.storeIndex)
        case .gone: return nil
        }
    }

    private func members(_ relationship: RelationshipShape, of object: NSManagedObject) -> [NSManagedObject] {
        guard !object.isInserted, let snapshot = snapshot(for: object),
            let handle = context.registry.handle(object.storeIndex)
        else { return object.toManyOrder(relationship).filter(\.isGoingToBeStored) }
        do throws(StoreError) {
            let refs = try RelationshipReader(handle: handle, snapshot: snapshot)
                .members(relationship, of: object.ref).map(\.ref)
            let stored = context.objects(refs, object.storeIndex, handle)
            guard let state = object.existingState(relationship), state.isChanged else { return stored }
            let known = Set(stored)
            return stored.filter { !state.removed.contains($0) }
                + state.added.objects.filter { $0.isGoingToBeStored && !known.contains($0) }
        } catch {
            record(error, of: object)
            return []
        }
    }

    /// How many members there will be. Reads only those that come or leave.
    func count(_ relationship: RelationshipShape, of object: NSManagedObject) -> Int {
        if object.isInserted { return members(relationship, of: object).count }
        guard let snapshot = snapshot(for: object), let handle = context.registry.handle(object.storeIndex) else {
            return members(relationship, of: object).count
        }
        do throws(StoreError) {
            let reader = RelationshipReader(handle: handle, snapshot: snapshot)
            let state = object.existingState(relationship)
            return try reader.count(relationship, of: object, with: state, adding: \.isGoingToBeStored)
                ?? members(relationship, of: object).count
        } catch {
            record(error, of: object)
            return 0
        }
    }

    /// The objects at the other end of a relationship.
    func targets(_ relationship: RelationshipShape, of object: NSManagedObject) -> [NSManagedObject] {
        relationship.isToMany
            ? members(relationship, of: object) : target(relationship, of: object).map { [$0] } ?? []
    }

    // MARK: Key paths

    /// The value at the end of a path, as key-value coding has it.
    func value(of object: NSManagedObject, path: KeyPathComponents) -> Any? {
        var current: Any? = object
        for name in path.names {
            guard let base = current else { return nil }
            current = AnyElements.plain(property(name, of: base))
        }
        return current
    }

    /// Every value that a path reaches; `nil`s stay, empty collections vanish.
    func leaves(of object: NSManagedObject, path: KeyPathComponents) -> [Any?] {
        var frontier: [Any?] = [object]
        for name in path.names {
            frontier = frontier.flatMap { base -> [Any?] in
                guard let base else { return [nil] }
                return AnyElements.flattened(property(name, of: base))
            }
        }
        return frontier
    }

    private func property(_ name: String, of base: Any) -> Any? {
        guard let object = base as? NSManagedObject, object.registry === context.registry else {
            return KeyValueAccess.value(of: base, forKey: name)
        }
        switch object.shape.property(name) {
        case .slot(let slot)? where object.shape.slots[slot].isPersistent:
            let index = object.shape.slots[slot].relationshipIndex
            guard index >= 0 else { return attribute(slot, of: object) }
            let target = target(object.shape.relationships[index], of: object)
            if let target { guardDerivation(from: target, isExclusive: false) }
            return target
        case .toMany(let index)?: return members(object.shape.relationships[index], of: object)
        default: return KeyValueAccess.value(of: object, forKey: name)
        }
    }
}

extension NSManagedObject {
    /// Whether the object is in the store after a save. One that others have deleted takes values, and comes to members
    /// by them, until it leaves the context; nothing of that is stored.
    final var isGoingToBeStored: Bool { flags.isDisjoint(with: [.deleted, .gone]) }
}

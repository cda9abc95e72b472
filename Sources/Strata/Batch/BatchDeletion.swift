import Foundation
import StrataLog

/// Everything that follows from deleting some rows: further deletions by cascade, references that become null, and
/// links that go.
///
/// Memory: about 40 bytes for a deleted row.
final class BatchDeletion {
    private let handle: StoreHandle
    private let snapshot: Snapshot
    private let appliesDeny: Bool
    private let control: RequestControl?
    /// In the order in which they were found; grows while cascades are followed.
    private var deleted: [Row] = []
    /// Empty as long as nothing follows from the deletions.
    private var isDeleted: Set<UInt64> = []
    /// By entity number, the relationships of which something follows when an object goes.
    private var followed: [UInt16: [RelationshipShape]] = [:]
    /// Slots that become null, by object.
    private var nullified: [ObjectRef: SlotSet] = [:]
    private var links: [ObjectRef: Row] = [:]
    /// Relationships with the deny rule: if one of the members stays, nothing is deleted.
    private var denied: [(owner: Row, relationship: RelationshipShape, member: ObjectRef)] = []

    init(_ handle: StoreHandle, _ snapshot: Snapshot, appliesDeny: Bool, _ control: RequestControl?) {
        self.control = control
        self.handle = handle
        self.snapshot = snapshot
        self.appliesDeny = appliesDeny
    }

    /// What is deleted, and which objects lose references and stay.
    var deletedRefs: [ObjectRef] { deleted.map(\.ref) }
    var nullifiedRefs: [ObjectRef] { nullified.keys.filter { !isDeleted.contains(identity($0)) } }

    /// Objects are told apart by root entity and key: a reference may name any entity of the family.
    private func identity(_ ref: ObjectRef) -> UInt64 {
        guard let shape = handle.map.shape(ref.entity) else { return ref.rawValue }
        return ObjectRef(entity: handle.map.root(shape), key: ref.key).rawValue
    }

    private func add(_ row: Row) {
        if isDeleted.insert(identity(row.ref)).inserted { deleted.append(row) }
    }

    private func add(_ ref: ObjectRef) throws(StoreError) {
        if let row = try snapshot.row(ref) { add(row) }
    }

    /// Follows the delete rules of the rows.
    ///
    /// - Throws: `CocoaError` 134070 when a mandatory reference would become null, 1600 for the deny rule.
    func collect(_ rows: [Row]) throws {
        if Set(rows.lazy.map(\.block.entity)).allSatisfy({ relationships(of: $0).isEmpty }) {
            deleted = rows
            return
        }
        isDeleted.reserveCapacity(rows.count)
        for row in rows { add(row) }
        var index = 0
        var pace = ControlPace(control, every: 64)
        while index < deleted.count {
            try pace.step()
            let row = deleted[index]
            index += 1
            for relationship in relationships(of: row.block.entity) { try follow(relationship, of: row) }
        }
        try check()
    }

    private func relationships(of entity: UInt16) -> [RelationshipShape] {
        if let known = followed[entity] { return known }
        let found = handle.map.shape(entity)?.relationships.filter { relationship in
            switch relationship.storage {
            case .slot:
                // A to-many inverse is found by the references to the object, which go with it.
                switch relationship.deleteRule {
                case .noActionDeleteRule: false
                case .nullifyDeleteRule: relationship.inverse.map { !$0.isToMany } ?? false
                default: true
                }
            case .inverse: relationship.deleteRule != .noActionDeleteRule
            case .link: true
            }
        }
        followed[entity] = found ?? []
        return found ?? []
    }

    private func follow(_ relationship: RelationshipShape, of row: Row) throws {
        switch relationship.storage {
        case .slot(let slot):
            guard relationship.deleteRule != .noActionDeleteRule else { return }
            let target = try row.block.column(slot).reference(row.index)
            guard !target.isNull else { return }
            if relationship.deleteRule == .cascadeDeleteRule {
                try add(target)
            } else if let inverse = relationship.inverse, !inverse.isToMany {
                try nullify(target, inverse.slot, owner: row.ref)
            }
            if relationship.deleteRule == .denyDeleteRule { denied.append((row, relationship, target)) }
        case .inverse(let slot):
            guard relationship.deleteRule != .noActionDeleteRule else { return }
            let postings = handle.map.postings(relationship.destination, slot)
            var pace = ControlPace(control, every: 256)
            for member in try snapshot.referrers(postings: postings, to: row.ref) {
                // One object may be referred to by very many.
                try pace.step()
                if relationship.deleteRule == .cascadeDeleteRule {
                    try add(member)
                } else {
                    nullified[member, default: SlotSet()].insert(slot)
                }
                if relationship.deleteRule == .denyDeleteRule { denied.append((row, relationship, member)) }
            }
        case .link(let link, let side):
            for side in relationship.isSymmetric ? [0, 1] : [side] {
                try unlink(relationship, link, side, of: row)
            }
        }
    }

    private func nullify(_ target: ObjectRef, _ slot: Int, owner: ObjectRef) throws(StoreError) {
        guard let row = try snapshot.row(target), slot < row.block.slotCount else { return }
        if try row.block.column(slot).reference(row.index) == owner {
            nullified[row.ref, default: SlotSet()].insert(slot)
        }
    }

    /// The rows of links go with either end, whatever the rule says.
    private func unlink(_ relationship: RelationshipShape, _ link: LinkShape, _ side: Int, of row: Row) throws {
        var pace = ControlPace(control, every: 64)
        for ref in try snapshot.referrers(postings: handle.map.linkPostings(link, side), to: row.ref) {
            try pace.step()
            guard let linkRow = try snapshot.row(ref) else { continue }
            links[linkRow.ref] = linkRow
            let member = try linkRow.block.column(1 - side).reference(linkRow.index)
            if relationship.deleteRule == .cascadeDeleteRule { try add(member) }
            if relationship.deleteRule == .denyDeleteRule { denied.append((row, relationship, member)) }
        }
    }

    private func check() throws {
        if appliesDeny {
            for (owner, relationship, member) in denied where !isDeleted.contains(identity(member)) {
                let name = handle.map.shape(owner.block.entity)?.name ?? ""
                throw DescribedError(
                    .validationRelationshipDeniedDelete,
                    userInfo: [
                        NSLocalizedDescriptionKey:
                            "The relationship \(name).\(relationship.name) denies the deletion of its object.",
                        NSValidationKeyErrorKey: relationship.name,
                    ])
            }
        }
        for (ref, slots) in nullified where !isDeleted.contains(identity(ref)) {
            guard let shape = handle.map.shape(ref.entity) else { continue }
            for slot in slots.slots where shape.slots[slot].relationshipIndex >= 0 {
                let relationship = shape.relationships[shape.slots[slot].relationshipIndex]
                guard !relationship.description.isOptional else { continue }
                throw BatchSession.error(
                    "Constraint trigger violation: Batch delete failed due to mandatory nullify inverse on "
                        + "\(shape.name)/\(relationship.name).")
            }
        }
    }

    /// The postings that list what refers to objects of an entity.
    private func postings(to entity: UInt16) -> [UInt16] {
        relationships(of: entity).flatMap { relationship -> [UInt16] in
            switch relationship.storage {
            case .slot: []
            case .inverse(let slot): [handle.map.postings(relationship.destination, slot)]
            case .link(let link, let side):
                (relationship.isSymmetric ? [0, 1] : [side]).map { handle.map.linkPostings(link, $0) }
            }
        }
    }

    func write(to transaction: WriteTransaction) throws {
        var pace = ControlPace(control, every: 256)
        var last: (entity: UInt16, writer: EntityWriter)?
        for row in deleted {
            try pace.step()
            let ref = row.ref
            if last?.entity != ref.entity {
                last = (ref.entity, transaction.writer(for: ref.entity))
                // Others may go on committing references and links until the deletion is committed.
                transaction.requireUnreferred(deleted: ref.entity, by: postings(to: ref.entity), asOf: snapshot)
            }
            last?.writer.willReplace(rowOf: row.block)
            try last?.writer.delete(key: ref.key, replacing: row.version)
        }
        for row in links.values.sorted(by: { $0.ref < $1.ref }) {
            try pace.step()
            try transaction.delete(row.ref, replacing: row.version)
        }
        for (ref, slots) in nullified.sorted(by: { $0.key < $1.key }) where !isDeleted.contains(identity(ref)) {
            try pace.step()
            guard let row = try snapshot.row(ref), let shape = handle.map.shape(row.block.entity) else { continue }
            let writer = transaction.writer(for: row.ref.entity)
            try writer.beginUpdate(key: row.ref.key, replacing: row.version, changed: slots)
            try writer.copyRow(row, shape, except: slots)
            writer.endRow()
        }
    }
}

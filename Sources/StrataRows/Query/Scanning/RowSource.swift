import Foundation
import StrataLog

/// What all rows that a fetch looks at have in common.
package final class RowScope {
    package let handle: StoreHandle
    package let snapshot: Snapshot
    /// The snapshot's rows, for whoever asks for many of them.
    @exclusivity(unchecked) package var rows: RowReader
    /// The first error that reading a value met: predicates cannot throw.
    @exclusivity(unchecked) package var error: StoreError?
    /// The first key that an entity turned out not to have.
    @exclusivity(unchecked) package var unknownKey: (any Error)?
    /// What may stop the request that the rows are looked at for.
    package let control: RequestControl?

    package init(_ handle: StoreHandle, _ snapshot: Snapshot, _ control: RequestControl? = nil) {
        self.control = control
        self.handle = handle
        self.snapshot = snapshot
        rows = RowReader(snapshot)
    }

    /// - Throws: what the values that were read could not say.
    package func check() throws {
        if let error { throw failure(error) }
        if let unknownKey { throw unknownKey }
    }

    /// What a fetch throws for an error of the engine.
    package func failure(_ error: StoreError) -> any Error {
        if error.code == .cancelled, let control { return control.error }
        return StoreFailure.cocoaError(error, reading: handle)
    }
}

/// A stored row that predicates and sort descriptors read by name, without an object for it.
package final class RowSource: KeyValueCoding, PredicateIdentifiable {
    private let scope: RowScope
    @exclusivity(unchecked) package private(set) var shape: EntityShape
    @exclusivity(unchecked) package private(set) var block: Block
    @exclusivity(unchecked) package private(set) var row: Int

    package init(_ scope: RowScope, _ shape: EntityShape, _ block: Block, _ row: Int) {
        self.scope = scope
        self.shape = shape
        self.block = block
        self.row = row
    }

    /// Makes it stand for another row.
    package func move(to block: Block, _ row: Int, _ shape: EntityShape) {
        self.block = block
        self.row = row
        self.shape = shape
    }

    package var ref: ObjectRef { ObjectRef(entity: block.entity, key: block.key(row)) }

    package var predicateIdentity: AnyHashable { objectID }
    package var hasFinalPredicateIdentity: Bool { true }

    package var objectID: NSManagedObjectID {
        NSManagedObjectID(ref: ref, identity: scope.handle.identity, shape: shape)
    }

    package func value(forKey key: String) -> Any? {
        switch shape.property(key) {
        case .slot(let slot)?: return value(slot)
        case .toMany(let index)?: return members(shape.relationships[index])
        case .composite(let composite)?: return composite.dictionary { value($0) }
        case .fetched?: return nil
        case nil:
            switch key {
            case "self", "SELF": return self
            case "objectID": return objectID
            case "entity": return shape.entity
            default:
                scope.unknownKey = scope.unknownKey ?? FetchProblem.unknownKey(key, shape, missing: key, owner: shape)
                return nil
            }
        }
    }

    /// The value in a slot; a row for a to-one relationship.
    package func value(_ slot: Int) -> Any? {
        let info = shape.slots[slot]
        // A transient property has no stored value.
        guard info.isPersistent else { return nil }
        do {
            let column = try block.column(slot)
            if info.kind == .toOne { return try source(column.reference(row)) }
            return ColumnBoxing.box(column, row, info.kind, info.attribute, external: read)
        } catch {
            scope.error = scope.error ?? error
            return nil
        }
    }

    private func read(_ value: ExternalValue) -> [UInt8]? {
        do {
            return try scope.handle.read(value, of: ref)
        } catch {
            scope.error = scope.error ?? error
            return nil
        }
    }

    private func source(_ ref: ObjectRef) throws(StoreError) -> RowSource? {
        guard !ref.isNull, let row = try scope.rows.row(ref), let shape = scope.handle.map.shape(row.block.entity)
        else { return nil }
        return RowSource(scope, shape, row.block, row.index)
    }

    private func members(_ relationship: RelationshipShape) -> Any? {
        do {
            let reader = RelationshipReader(handle: scope.handle, snapshot: scope.snapshot)
            var sources: [RowSource] = []
            for member in try reader.members(relationship, of: ref) {
                // A row may have very many.
                try scope.control?.checkRead()
                if let source = try source(member.ref) { sources.append(source) }
            }
            return sources
        } catch {
            scope.error = scope.error ?? error
            return nil
        }
    }
}

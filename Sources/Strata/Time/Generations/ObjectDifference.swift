import Foundation
import StrataLog

/// An object that two states of a store have differently.
public struct ObjectDifference: @unchecked Sendable {
    // Unchecked: values are immutable property values.

    /// A property and what it was and is.
    public struct Value: @unchecked Sendable {
        /// The name of an attribute, of a to-one relationship, or of a relationship without a to-one end.
        public let property: String
        /// As key-value coding gives it, of a relationship the other object's `NSManagedObjectID`; nil for null. Of a
        /// relationship without a to-one end, the ID of the member that went.
        public let before: Any?
        /// As ``before``; of a relationship without a to-one end, the ID of the member that came.
        public let after: Any?
    }

    /// The object.
    public let objectID: NSManagedObjectID
    /// Whether the object is there only after (`insert`), only before (`delete`), or both.
    public let kind: NSPersistentHistoryChangeType
    /// The properties whose values differ; of objects that come or go, those that are not null.
    public let values: [Value]
}

/// The objects that differ between two points of a coordinator's stores, one after the other.
///
/// Nothing is collected: each object is read when it is asked for, and comes once. Memory is that of the changes of one
/// transaction. To-many relationships are told from the other side. Of a relationship that is to-many at both ends, or
/// has no inverse, each member that came or went is a difference of its own: an update of the object at one end with
/// that member as its only value, also where the object itself came or went. Orders are not told. Each iteration begins
/// anew. Belongs to one task.
public struct ObjectDifferences: AsyncSequence, Sendable {
    public typealias Element = ObjectDifference
    public typealias Failure = any Error

    fileprivate struct Part: Sendable {
        let handle: StoreHandle
        let from: Snapshot
        let to: Snapshot
    }

    fileprivate let parts: [Part]

    /// An iterator that begins with the first difference.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts) }

    /// Calls a closure with each difference, on the calling thread.
    ///
    /// - Throws: what the closure throws, and the store's error when it cannot be read.
    public func forEach(_ body: (ObjectDifference) throws -> Void) throws {
        var iterator = AsyncIterator(parts)
        while let difference = try iterator.nextDifference() { try body(difference) }
    }

    /// Where somebody is in the differences.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var parts: ArraySlice<Part>
        private var current: StoreDifference?

        fileprivate init(_ parts: [Part]) {
            self.parts = parts[...]
        }

        /// The next difference; nil at the end. Reads on the calling thread.
        ///
        /// - Throws: the store's error when it cannot be read.
        public mutating func next() async throws -> ObjectDifference? { try nextDifference() }

        /// As ``next()``, for code that is not asynchronous.
        public mutating func nextDifference() throws -> ObjectDifference? { try nextDifference { true } }

        /// As ``nextDifference()``, as long as it may go on, which it asks also where nothing differs.
        ///
        /// - Throws: `CancellationError` when it may not; the next call goes on there.
        package mutating func nextDifference(while mayGoOn: () -> Bool) throws -> ObjectDifference? {
            while let part = parts.first {
                do throws(StoreError) {
                    if current == nil { current = try part.handle.log.difference(from: part.from, to: part.to) }
                    while let rows = try current?.next(while: mayGoOn) {
                        if let difference = try Self.difference(rows, part) { return difference }
                    }
                } catch  where error.code == .cancelled {
                    throw CancellationError()
                } catch {
                    throw StoreFailure.cocoaError(error, reading: part.handle)
                }
                parts.removeFirst()
                current = nil
            }
            return nil
        }

        /// A member that came or went; nil where only its place in an order has changed, or it went and came again.
        private static func difference(
            _ rows: RowDifference, of ends: LinkEnds, _ part: Part
        ) throws(StoreError) -> ObjectDifference? {
            let handle = part.handle
            guard (rows.before == nil) != (rows.after == nil), let row = rows.before ?? rows.after,
                let refs = try LinkEnds.refs(row),
                try !ends.isThere(refs, in: rows.before == nil ? part.from : part.to, handle)
            else { return nil }
            for side in 0...1 {
                let other = refs[1 - side]
                guard let end = ends.end(refs[side], side), let shape = handle.map.shape(other.entity)
                else { continue }
                let member = NSManagedObjectID(ref: other, identity: handle.identity, shape: shape)
                return ObjectDifference(
                    objectID: NSManagedObjectID(ref: end.ref, identity: handle.identity, shape: end.shape),
                    kind: .update,
                    values: [
                        ObjectDifference.Value(
                            property: end.relationship.name, before: rows.before == nil ? nil : member,
                            after: rows.after == nil ? nil : member)
                    ])
            }
            return nil
        }

        /// Nil for rows that say the same.
        private static func difference(
            _ rows: RowDifference, _ part: Part
        ) throws(StoreError) -> ObjectDifference? {
            let handle = part.handle
            guard let shape = handle.map.shape(rows.ref.entity) else {
                guard let ends = LinkEnds(handle.map, rows.ref.entity) else { return nil }
                return try difference(rows, of: ends, part)
            }
            var values: [ObjectDifference.Value] = []
            for (slot, info) in shape.slots.prefix(shape.persistentSlotCount).enumerated() {
                let before = try value(slot, info, rows.before, shape, handle)
                let after = try value(slot, info, rows.after, shape, handle)
                if (before as? NSObject) == (after as? NSObject), (before == nil) == (after == nil) { continue }
                values.append(ObjectDifference.Value(property: info.name, before: before, after: after))
            }
            let kind: NSPersistentHistoryChangeType =
                rows.before == nil ? .insert : rows.after == nil ? .delete : .update
            if kind == .update && values.isEmpty { return nil }
            return ObjectDifference(
                objectID: NSManagedObjectID(ref: rows.ref, identity: handle.identity, shape: shape), kind: kind,
                values: values)
        }

        private static func value(
            _ slot: Int, _ info: SlotInfo, _ row: Row?, _ shape: EntityShape, _ handle: StoreHandle
        ) throws(StoreError) -> Any? {
            guard let row, slot < row.block.slotCount else { return nil }
            let column = try row.block.column(slot)
            if column.isNull(row.index) { return nil }
            guard info.relationshipIndex >= 0 else {
                var failure: StoreError?
                let value = ColumnBoxing.box(column, row.index, info.kind, info.attribute) { external in
                    do throws(StoreError) {
                        return try handle.log.read(external)
                    } catch {
                        failure = error
                        return nil
                    }
                }
                if let failure { throw failure }
                return value
            }
            let target = column.reference(row.index)
            guard let shape = handle.map.shape(target.entity) else { return nil }
            return NSManagedObjectID(ref: target, identity: handle.identity, shape: shape)
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// What differs between two points of the stores: the objects that came, went and changed, with the values that
    /// differ.
    ///
    /// ```swift
    /// let yesterday = try coordinator.queryGeneration(at: .now.addingTimeInterval(-86_400))
    /// for try await difference in try coordinator.diff(from: yesterday) {
    ///     print(difference.objectID, difference.values)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - from: the point before: a context's ``NSManagedObjectContext/queryGenerationToken``, one of
    ///     ``queryGeneration(at:)-(Date)`` and its like, or ``NSQueryGenerationToken/current``.
    ///   - to: the point after, which may be the earlier one. Default what is newest now.
    /// - Returns: differences of the stores that both tokens name.
    /// - Throws: `CocoaError` 134070 when a point is not retained any more; the store's error when it cannot be read.
    /// - Complexity: opens both points, which reads what was committed since; then reads the changes between them as
    ///   they are asked for.
    public final func diff(
        from: NSQueryGenerationToken, to: NSQueryGenerationToken = .current
    ) throws -> ObjectDifferences {
        var parts: [ObjectDifferences.Part] = []
        for handle in persistentStores.compactMap(\.handle) where handle.custom == nil {
            guard let before = try snapshot(of: handle, from), let after = try snapshot(of: handle, to) else {
                continue
            }
            parts.append(ObjectDifferences.Part(handle: handle, from: before, to: after))
        }
        return ObjectDifferences(parts: parts)
    }

    private func snapshot(of handle: StoreHandle, _ token: NSQueryGenerationToken) throws -> Snapshot? {
        guard let sequences = token.sequences else { return handle.log.snapshot }
        let uuid = handle.identity.uuidString
        guard let sequence = sequences[uuid] else { return nil }
        let snapshot = try token.snapshots[uuid] ?? NSManagedObjectContext.snapshot(handle, sequence)
        handle.heldSnapshots.add(snapshot)
        return snapshot
    }
}

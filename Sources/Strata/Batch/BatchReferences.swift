import Foundation
import StrataLog

/// The objects that a batch request makes the rows of one transaction refer to. They must be there when it is
/// committed: the program has given their IDs, and others may have deleted them at any time.
///
/// Memory: about 40 bytes for each object that is referred to, however many rows do.
struct BatchReferences {
    private struct Place {
        var shape: EntityShape
        var slot: Int
    }

    private let handle: StoreHandle
    private let transaction: WriteTransaction
    private let snapshot: Snapshot
    /// Where each object was given first.
    private var places: [ObjectRef: Place] = [:]
    private var last = ObjectRef.null

    init(_ handle: StoreHandle, _ transaction: WriteTransaction, _ snapshot: Snapshot) {
        self.handle = handle
        self.transaction = transaction
        self.snapshot = snapshot
    }

    /// Makes the transaction depend on what a value refers to.
    ///
    /// - Throws: `CocoaError` 134070 when there is no such object; the store's error when that cannot be found out.
    mutating func add(_ value: SlotValue, _ slot: Int, of shape: EntityShape) throws {
        if case .reference(let ref) = value { try add(ref, slot, of: shape) }
    }

    mutating func add(_ ref: ObjectRef, _ slot: Int, of shape: EntityShape) throws {
        // Neighbours often refer to the same object.
        if ref.isNull || ref == last { return }
        last = ref
        if places[ref] != nil { return }
        let place = Place(shape: shape, slot: slot)
        do {
            if try snapshot.locate(ref).isAbsent { throw missing(ref, place) }
        } catch let error as StoreError {
            throw StoreFailure.cocoaError(error, reading: handle)
        }
        places[ref] = place
        transaction.requireExistence(of: ref)
    }

    /// What a refused commit means when one of the objects is gone; nil when it was refused for something else.
    func failure(_ error: StoreError) -> (any Error)? {
        for ref in error.conflicts {
            if let place = places[ref] { return missing(ref, place) }
        }
        return nil
    }

    private func missing(_ ref: ObjectRef, _ place: Place) -> any Error {
        let id = handle.map.shape(ref.entity).map { NSManagedObjectID(ref: ref, identity: handle.identity, shape: $0) }
        return BatchSession.error(
            "\(place.shape.name).\(place.shape.slots[place.slot].name) was given an object that has been deleted, or "
                + "was never there: \(id?.errorText ?? "\(ref)").")
    }
}

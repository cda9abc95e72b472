import Foundation
import StrataLog
import StrataSupport

// What happens when a part of a store turns out not to be readable: one place for all who read.
extension StoreHandle {
    /// Whether an error says that something in the store cannot be read, now or ever.
    static func isReadFailure(_ error: StoreError) -> Bool {
        switch error.code {
        // What has expired is as lost to whoever reads the past as what is damaged.
        case .corruption, .unsupportedFormat, .io, .expired: true
        case .locked, .readOnly, .conflict, .tooLarge, .schemaMismatch, .notFound, .closed, .invalidArgument,
            .cancelled:
            false
        }
    }

    /// Records something that could not be read: remembers the place, so that who touches it next is refused, and
    /// says so once, on standard error and by a notification.
    ///
    /// - Parameters:
    ///   - object: whose row or value was to be read.
    ///   - value: the large value that was.
    package func recordDamage(_ error: StoreError, object: ObjectRef? = nil, value: ExternalValue? = nil) {
        guard Self.isReadFailure(error) else { return }
        let isNew = log.damage.record(error, object: object, value: value)
        if isNew, EventHub.wants(.damage) { EventHub.tell(.damage(DamageEvent(store: .at(path), error: error))) }
        guard isNew || stopsOnDamage else { return }
        let what = error.code == .expired ? "is read as of a time that has expired in part" : "has a damaged place"
        let text = "Strata: error: the store at \(path) \(what): \(error.description)"
        StandardDescriptors.writeError("\(text)\n")
        if stopsOnDamage { fatalError(text) }
        // An observer may wait for a thread that waits until this one has searched.
        AfterSearch.run {
            for store in self.identity.openStores where store.handle?.log === self.log {
                store.tellDamage(error, object)
            }
        }
    }

    /// Reads ordered indexes. If one turns out damaged they are built anew, and the result is nil: what reads them has
    /// another way.
    func rebuildingIfDamaged<Result>(
        _ indexes: [OrderedIndex], _ body: () throws(StoreError) -> Result?
    ) throws(StoreError) -> Result? {
        do throws(StoreError) {
            return try body()
        } catch {
            guard error.code == .corruption else { throw error }
            for index in indexes { log.rebuild(index) }
            return nil
        }
    }

    /// The ID of an object; nil for one of an entity that the model does not have.
    package func objectID(_ ref: ObjectRef) -> NSManagedObjectID? {
        map.shape(ref.entity).map { NSManagedObjectID(ref: ref, identity: identity, shape: $0) }
    }

    /// Refuses results that lie in places which could not be read.
    ///
    /// - Throws: the store's error for the first row that still cannot be read.
    /// - Complexity: O(1) while no such place is known.
    @inlinable
    package func checkDamage(of refs: some Sequence<ObjectRef>, in snapshot: Snapshot) throws {
        if !log.damage.isEmpty { try checkSuspects(refs, snapshot) }
    }

    @usableFromInline
    func checkSuspects(_ refs: some Sequence<ObjectRef>, _ snapshot: Snapshot) throws {
        do throws(StoreError) {
            try log.checkDamage(of: refs, in: snapshot)
        } catch {
            throw StoreFailure.cocoaError(error, reading: self)
        }
    }

    /// Reads a large value of no object in particular.
    ///
    /// - Throws: the store's error; the place has been noted then.
    package func read(_ value: ExternalValue, of ref: ObjectRef?) throws(StoreError) -> [UInt8] {
        do throws(StoreError) {
            return try log.read(value)
        } catch {
            recordDamage(error, object: ref, value: value)
            throw error
        }
    }

    /// The store's own among those that coordinators of this process have open under its identity.
    package var openStore: (any OpenStore)? { identity.openStores.first { $0.handle === self } }
}

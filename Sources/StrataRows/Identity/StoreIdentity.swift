import Foundation
import StrataSupport
import Synchronization

/// Names a store for the life of the process: object IDs from different coordinators over one store compare by it.
///
/// There is one instance per store UUID and it is never freed, so that object IDs need not retain it.
@usableFromInline
package final class StoreIdentity: Sendable {
    package let uuidString: String
    /// As the host of object URIs.
    package let escapedUUID: String
    /// The reference objects of a store whose class is the user's own; nil for log stores.
    package let references = AtomicLazyReference<ReferenceTable>()
    /// The stores opened under this identity, the most recently added last.
    private let current = AdaptiveMutex<[WeakStore]>([])

    private static let known = AdaptiveMutex<[String: StoreIdentity]>([:])

    private init(uuidString: String) {
        self.uuidString = uuidString
        escapedUUID = URIPart.escaped(uuidString, .urlHostAllowed) {
            URIPart.isAlphanumeric($0) || $0 == UInt8(ascii: "-")
        }
    }

    /// All open stores of this identity: coordinators may share one.
    package var openStores: [any OpenStore] {
        current.withLock { $0.compactMap(\.store) }
    }

    package func add(_ store: any OpenStore) {
        let box = WeakStore(store: store)
        current.withLock { stores in
            stores.removeAll { $0.store == nil || $0.store === box.store }
            stores.append(box)
        }
    }

    package func remove(_ store: any OpenStore) {
        let box = WeakStore(store: store)
        current.withLock { stores in stores.removeAll { $0.store == nil || $0.store === box.store } }
    }

    /// The table of reference objects, made if need be.
    package var ensuredReferences: ReferenceTable {
        references.load() ?? references.storeIfNil(ReferenceTable())
    }

    package static func named(_ uuidString: String) -> StoreIdentity {
        known.withLock { table in
            if let identity = table[uuidString] { return identity }
            let identity = StoreIdentity(uuidString: uuidString)
            table[uuidString] = identity
            return identity
        }
    }
}

/// A weak reference to a store. Unchecked: only kept inside a mutex.
struct WeakStore: @unchecked Sendable {
    weak var store: (any OpenStore)?
}

import Foundation
import Synchronization

/// Names a store for the life of the process: object IDs from different coordinators over one store compare by it.
///
/// There is one instance per store UUID and it is never freed, so that object IDs need not retain it.
final class StoreIdentity: Sendable {
    let uuidString: String
    /// The store most recently added under this identity.
    private let current = Mutex<WeakStore>(WeakStore())

    private static let known = Mutex<[String: StoreIdentity]>([:])

    private init(uuidString: String) {
        self.uuidString = uuidString
    }

    var store: NSPersistentStore? {
        get { current.withLock { $0.store } }
        set { current.withLock { [box = WeakStore(store: newValue)] in $0 = box } }
    }

    static func named(_ uuidString: String) -> StoreIdentity {
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
    weak var store: NSPersistentStore?
}

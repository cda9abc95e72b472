import Foundation
import Strata
import Synchronization

/// The orders that there are, each in the slot of its number: a new order takes the place of an older one, so that the
/// store stays as large as it is.
final class ServiceSlots: Sendable {
    /// An order as a client names it: by numbers, so that what the clients know takes no memory in small pieces.
    struct Entry: Sendable {
        var number: Int64
        private var key: Int64

        /// - Parameter id: a permanent ID, whose URI ends in `/p` and the key.
        init(number: Int64, id: NSManagedObjectID) {
            self.number = number
            key = Int64(id.uriRepresentation().lastPathComponent.dropFirst()) ?? 0
        }

        /// The order's ID, by way of its URI.
        func id(in context: NSManagedObjectContext) throws -> NSManagedObjectID {
            guard let coordinator = context.persistentStoreCoordinator,
                let store = coordinator.persistentStores.first,
                let uri = URL(string: "x-coredata://\(store.identifier ?? "")/Order/p\(key)"),
                let id = coordinator.managedObjectID(forURIRepresentation: uri)
            else { throw Finding(description: "order \(number) has no ID for key \(key)") }
            return id
        }
    }

    /// One lock for each part, so that clients seldom wait for another here.
    private final class Part: Sendable {
        let entries: Mutex<[Entry?]>

        init(count: Int) {
            entries = Mutex(Array(repeating: nil, count: count))
        }
    }

    private static let partCount = 256

    let count: Int
    private let parts: [Part]
    private let newest = Atomic<Int64>(0)

    init(count: Int) {
        self.count = count
        parts = (0..<Self.partCount).map { _ in Part(count: count / Self.partCount + 1) }
    }

    /// A number that no order has had, as far as is known.
    func takeNumber() -> Int64 { newest.add(1, ordering: .relaxed).newValue }

    func put(_ entry: Entry) {
        newest.max(entry.number, ordering: .relaxed)
        let slot = Int(entry.number % Int64(count))
        parts[slot % Self.partCount].entries.withLock { entries in
            let known = entries[slot / Self.partCount]
            if known == nil || entry.number > known?.number ?? 0 { entries[slot / Self.partCount] = entry }
        }
    }

    /// What is in the slot of a number, or of any other number that shares it.
    func entry(_ number: Int64) -> Entry? {
        let slot = Int(number % Int64(count))
        return parts[slot % Self.partCount].entries.withLock { $0[slot / Self.partCount] }
    }
}

import Strata
import Synchronization

/// The orders that there are, each in the slot of its number: a new order takes the place of an older one, so that the
/// store stays as large as it is.
final class ServiceSlots: Sendable {
    struct Entry: Sendable {
        var number: Int64
        var id: NSManagedObjectID
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

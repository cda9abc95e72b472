import Strata
import StrataBrowsing
import Synchronization

/// From one transaction to another.
struct TransactionSpan: Hashable, Sendable {
    let from: Int64
    let to: Int64
}

/// What differs between the two ends of a span.
struct Changes: Sendable {
    let span: TransactionSpan
    let differences: ObjectDifferences
}

/// A page of changes that is being put together.
struct ChangePlace: @unchecked Sendable {
    // Unchecked: requests hand the iterator over by ``ChangePlaces``, and none uses it after that.

    /// Which page it is.
    struct Key: Hashable, Sendable {
        let span: TransactionSpan
        let entity: String?
        let skipped: Int64
        let limit: Int
    }

    var iterator: ObjectDifferences.AsyncIterator
    /// Objects that were met, those of the page too.
    var passed: Int64 = 0
    /// What the page has so far, and of how many objects.
    var records: [[Cell]] = []
    var taken = 0
}

/// Where pages of changes go on: differences can only be gone through from the first.
final class ChangePlaces: Sendable {
    private let places = Mutex<[(key: ChangePlace.Key, place: ChangePlace)]>([])

    var count: Int { places.withLock { $0.count } }

    /// Nobody else gets the place then.
    func take(_ key: ChangePlace.Key) -> ChangePlace? {
        places.withLock { places in
            places.firstIndex { $0.key == key }.map { places.remove(at: $0).place }
        }
    }

    func put(_ key: ChangePlace.Key, _ place: ChangePlace) {
        // What goes may close files, while nobody waits for it.
        let old = places.withLock { places in
            let old = places.filter { $0.key == key } + (places.count >= Limits.changePlaces ? [places[0]] : [])
            places.removeAll { $0.key == key }
            if places.count >= Limits.changePlaces { places.removeFirst() }
            places.append((key, place))
            return old
        }
        withExtendedLifetime(old) {}
    }
}

import StrataLog
import StrataTestKit
import Testing

@testable import Strata

/// The cache of IDs: whatever is in it, it hands out the ID of the object that is asked for.
@Suite struct IDCacheTests {
    private static func handle() throws -> (TestStore, StoreHandle) {
        let entities = ["A", "B", "C"].map { name in
            let entity = GraphModel.entity(name)
            entity.properties = [GraphModel.attribute("number", .integer64AttributeType)]
            return entity
        }
        let store = try TestStore(.memory, makeModel(entities))
        return (store, try #require(store.store.handle))
    }

    private static func numbers(_ handle: StoreHandle) -> [UInt16] {
        (0..<64).filter { handle.map.shape($0) != nil }
    }

    @Test(arguments: RandomRuns.seeds(from: 300, count: 3)) func idsAreOfTheObjectsAskedFor(seed: UInt64) throws {
        let (store, handle) = try Self.handle()
        let (other, otherHandle) = try Self.handle()
        let numbers = Self.numbers(handle)
        #expect(numbers == Self.numbers(otherHandle) && numbers.count == 3)
        var random = SeededGenerator(seed: seed)
        var cache = IDCache()
        let extremes: [UInt64] = [1, 2, 1 << 24, ObjectRef.maximumKey - 1, ObjectRef.maximumKey]
        for step in 0..<300 {
            // Few at first, so that it grows; in the end more than it has places for.
            let count = random.below(step < 20 ? 30 : IDCache.resultsMaximum) + 1
            let refs = (0..<count).map { _ in
                let key = random.chance(0.1) ? extremes[random.below(5)] : UInt64(random.below(step * 100 + 10)) + 1
                return ObjectRef(entity: numbers[random.below(3)], key: key)
            }
            let isOther = random.chance(0.3)
            let asked = isOther ? otherHandle : handle
            let found = cache.ids(refs, asked)
            let ids = try #require(found, "seed \(seed), step \(step)")
            let isRight = zip(ids, refs).allSatisfy { id, ref in
                id.ref == ref && id.entity === asked.map.shape(ref.entity)?.entity
                    && id.persistentStore === (isOther ? other : store).store
            }
            #expect(ids.count == refs.count && isRight, "seed \(seed), step \(step)")
            if random.chance(0.02) { cache.removeAll() }
        }
    }

    @Test func whatWasHandedOutLatelyIsHandedOutAgain() throws {
        let (store, handle) = try Self.handle()
        let number = Self.numbers(handle)[0]
        let refs = (1...200 as ClosedRange<UInt64>).map { ObjectRef(entity: number, key: $0) }
        var cache = IDCache()
        let first = cache.ids(refs, handle) ?? []
        let second = cache.ids(refs, handle) ?? []
        #expect(first.map(\.ref) == refs && second.map(\.ref) == refs)
        // A place keeps the last of those that share it.
        #expect(zip(first, second).filter { $0 === $1 }.count > 100)
        cache.removeAll()
        let third = cache.ids(refs, handle) ?? []
        #expect(third.count == refs.count && zip(first, third).allSatisfy { $0 !== $1 && $0 == $1 })
        let none = cache.ids([], handle)
        #expect(none?.isEmpty == true)
        withExtendedLifetime(store) {}
    }

    @Test func anEntityThatTheStoreDoesNotHaveHasNoIDs() throws {
        let (store, handle) = try Self.handle()
        let number = Self.numbers(handle)[0]
        var cache = IDCache()
        let refs = [ObjectRef(entity: number, key: 1), ObjectRef(entity: 60_000, key: 1)]
        let all = cache.ids(refs, handle)
        #expect(all == nil)
        let left = cache.ids([refs[0]], handle)
        #expect(left?.map(\.ref) == [refs[0]])
        withExtendedLifetime(store) {}
    }

    /// The cache and its results each keep an ID; when both are gone, so is the ID.
    @Test func idsLiveNoLongerThanTheyAreKept() throws {
        let (store, handle) = try Self.handle()
        let number = Self.numbers(handle)[0]
        weak var lost: NSManagedObjectID?
        do {
            var cache = IDCache()
            do {
                let ids = cache.ids([ObjectRef(entity: number, key: 1)], handle)
                lost = ids?.first
            }
            #expect(lost != nil)
            // Over and over through all places, and through growth.
            for start in 0..<40 as Range<UInt64> {
                let refs = (1...1_000 as ClosedRange<UInt64>).map { ObjectRef(entity: number, key: start * 1_000 + $0) }
                _ = cache.ids(refs, handle)
            }
        }
        #expect(lost == nil)
        withExtendedLifetime(store) {}
    }
}

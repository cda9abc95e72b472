import Foundation
import StrataIO
import StrataSupport
import StrataTestKit
import Synchronization
import Testing

@testable import StrataLog

/// A cache that is read without a lock while blocks come, are driven out and are forgotten. Meant to be run under the
/// thread sanitizer, too.
@Suite struct CacheConcurrencyTests {
    private static let layout = makeLayout([.int64, .string])

    private static func block(_ number: Int) throws -> Block {
        let buffer = RowBuffer(layout: layout, schemaVersion: 5)
        for row in 0..<3 {
            buffer.beginRow(key: UInt64(row + 1))
            buffer.set(0, Int64(number))
            buffer.set(1, "number \(number)")
            buffer.endRow()
        }
        var encoded = buffer.take().encode()
        let location = place(number)
        encoded.stamp(
            at: LogAddress(
                storeUUID: FormatPosition.storeUUID, segment: location.segment, offset: location.byteOffset, sequence: 1
            ))
        return try load(encoded.bytes, layout, at: location)
    }

    private static func place(_ number: Int) -> Location {
        Location(segment: UInt32(number / 100 + 1), byteOffset: number % 100 * 64, row: 0)
    }

    /// Everything in the block follows from its number: what was freed and written over would differ.
    private static func isWhole(_ block: Block, _ number: Int) throws -> Bool {
        guard block.location == place(number) else { return false }
        for row in 0..<3 {
            guard try block.column(0).int64(row) == Int64(number),
                try block.column(1).string(row) == "number \(number)"
            else { return false }
        }
        return true
    }

    private static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let finished = DispatchGroup()
        let failure = AdaptiveMutex<(any Error)?>(nil)
        for number in 0..<count {
            finished.enter()
            Thread.detachNewThread {
                do {
                    try body(number)
                } catch {
                    failure.withLock { if $0 == nil { $0 = error } }
                }
                finished.leave()
            }
        }
        finished.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private final class WeakBlocks: Sendable {
        private struct Entry: @unchecked Sendable {
            // Unchecked: only reached under the lock.
            weak var block: Block?
        }

        private let entries = AdaptiveMutex<[Entry]>([])

        func add(_ block: Block) {
            let entry = Entry(block: block)
            entries.withLock { $0.append(entry) }
        }

        var living: Int { entries.withLock { $0.count { $0.block != nil } } }
        var count: Int { entries.withLock { $0.count } }
    }

    /// Some of the blocks fit, all of them, or one.
    @Test(arguments: [1, 20, 400]) func noBlockIsReadAfterItWasFreed(room: Int) throws {
        let all = WeakBlocks()
        let wrong = Atomic<Int>(0)
        let rounds = BuildMode.isDebug ? 2_000 : 20_000
        do {
            let cache = BlockCache(budgetBytes: try Self.block(0).estimatedByteCount * room)
            try Self.onThreads(8) { thread in
                var random = SeededGenerator(seed: UInt64(room * 100 + thread))
                var kept: [(block: Block, number: Int)] = []
                func check(_ block: Block, _ number: Int) throws {
                    if try !Self.isWhole(block, number) { wrong.wrappingAdd(1, ordering: .relaxed) }
                }
                let places = UnsafeMutablePointer<LocatedRow>.allocate(capacity: 8)
                defer { places.deallocate() }
                for round in 0..<rounds {
                    let number = random.below(300)
                    switch random.below(20) {
                    case 0: cache.prefetch(Self.place(number))
                    case 1: if let block = cache.peek(Self.place(number)) { try check(block, number) }
                    case 2:
                        let numbers = (0..<8).map { _ in random.below(300) }
                        for index in 0..<8 {
                            (places + index).initialize(to: LocatedRow())
                            places[index].location = Self.place(numbers[index])
                        }
                        cache.find(places, 8)
                        for index in 0..<8 {
                            guard let block = places[index].block?.takeRetainedValue() else { continue }
                            try check(block, numbers[index])
                        }
                    default:
                        if let block = cache.get(Self.place(number)) {
                            try check(block, number)
                            if round % 50 == 0 { kept.append((block, number)) }
                        } else {
                            let block = try Self.block(number)
                            all.add(block)
                            try check(cache.insert(block), number)
                        }
                    }
                    if kept.count > 10 {
                        let old = kept.removeFirst()
                        try check(old.block, old.number)
                    }
                    if round % 700 == 699 { cache.removeAll(segment: UInt32(random.below(3) + 1)) }
                    if round % 1_900 == 1_899 { cache.removeAll() }
                }
            }
            #expect(cache.statistics.byteCount <= cache.budgetBytes)
            cache.removeAll()
            #expect(cache.statistics.blockCount == 0)
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
        #expect(all.count > 300)
        #expect(all.living == 0, "blocks that nobody has are never freed")
    }

    /// A thread that has lost the processor in the middle of a look-up holds nobody up; only what was driven out
    /// meanwhile stays in memory until it goes on.
    @Test func aReaderDelaysOnlyWhatIsFreed() throws {
        let cache = BlockCache(budgetBytes: try Self.block(0).estimatedByteCount * 10)
        let blocks = WeakBlocks()
        let fill = { @Sendable (numbers: Range<Int>) throws in
            for number in numbers {
                let block = try Self.block(number)
                blocks.add(block)
                cache.insert(block)
                // The other thread may have driven it out by now.
                if let found = cache.get(Self.place(number)), try !Self.isWhole(found, number) {
                    throw StoreError(.corruption, "a block that came in has become another one")
                }
            }
        }
        let reader = ReadGuard.begin()
        // On other threads: this one must not begin again.
        let outcome = Result { try Self.onThreads(2) { try fill($0 * 20..<$0 * 20 + 20) } }
        let living = blocks.living
        reader.end()
        try outcome.get()
        #expect(living == 40, "a block was freed that a reader may have seen")
        #expect(cache.statistics.blockCount <= 10)
        cache.removeAll()
        #expect(blocks.living == 0)
    }

    /// Whatever came and went before, and however often the table was made anew.
    @Test func whatIsKeptIsFound() throws {
        let cache = BlockCache(budgetBytes: 8 << 20)
        var model: Set<Int> = []
        var random = SeededGenerator(seed: 3)
        for round in 0..<60 {
            for _ in 0..<100 {
                let number = random.below(2_000)
                if model.insert(number).inserted { cache.insert(try Self.block(number)) }
            }
            if round % 3 == 2 {
                let segment = random.below(20) + 1
                cache.removeAll(segment: UInt32(segment))
                model = model.filter { $0 / 100 + 1 != segment }
            }
            if round == 40 {
                cache.removeAll()
                model = []
            }
            for number in 0..<2_000 {
                let found = cache.peek(Self.place(number))
                #expect((found != nil) == model.contains(number), "block \(number) in round \(round)")
            }
        }
        #expect(cache.statistics.blockCount == model.count)
    }

    /// What a thread is known by as a reader goes to another one when it ends.
    @Test func threadsThatEndLeaveTheirPlaceToOthers() throws {
        let numbers = AdaptiveMutex<Set<Int>>([])
        for _ in 0..<200 {
            try Self.onThreads(1) { _ in
                let reader = ReadGuard.begin()
                reader.end()
                numbers.withLock { _ = $0.insert(reader.number) }
            }
        }
        // Other tests have threads, too.
        #expect(numbers.withLock { $0.count } < 150)
    }
}

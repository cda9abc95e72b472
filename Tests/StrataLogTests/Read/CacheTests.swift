import Dispatch
import StrataTestKit
import Synchronization
import Testing

@testable import StrataLog

@Suite struct CacheTests {
    private let layout = makeLayout([.int64])

    /// A block at that number's place, all of the same weight.
    private func block(_ number: Int, rows: Int = 1) throws -> Block {
        let buffer = RowBuffer(layout: layout, schemaVersion: 5)
        for row in 0..<rows {
            buffer.beginRow(key: UInt64(row + 1))
            buffer.set(0, Int64(number))
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

    private func place(_ number: Int) -> Location {
        Location(segment: UInt32(number / 1_000 + 1), byteOffset: number % 1_000 * 64, row: 0)
    }

    private func number(_ block: Block) throws -> Int { Int(try block.column(0).int64(0)) }

    @Test func blocksAreFoundByTheLocationOfAnyRow() throws {
        let cache = BlockCache(budgetBytes: 1 << 20)
        let block = try block(5)
        #expect(cache.get(place(5)) == nil)
        #expect(cache.insert(block) === block)
        let row = Location(segment: place(5).segment, byteOffset: place(5).byteOffset, row: 9)
        #expect(cache.get(row) === block)
        let second = try self.block(5)
        #expect(cache.insert(second) === block)
        let statistics = cache.statistics
        #expect(statistics.hits == 1 && statistics.misses == 1 && statistics.blockCount == 1)
        #expect(statistics.byteCount == block.estimatedByteCount)
    }

    @Test(arguments: [1, 7, 100, 1_000])
    func theBudgetHolds(blocks: Int) throws {
        let budget = try block(0, rows: 3).estimatedByteCount * blocks
        let cache = BlockCache(budgetBytes: budget)
        var random = SeededGenerator(seed: 9)
        var requests: UInt64 = 0
        for _ in 0..<5_000 {
            let wanted = random.below(blocks * 3)
            requests += 1
            if let found = cache.get(place(wanted)) {
                #expect(try number(found) == wanted)
            } else {
                cache.insert(try block(wanted, rows: 1 + wanted % 3))
            }
            #expect(cache.statistics.byteCount <= budget)
        }
        let statistics = cache.statistics
        #expect(statistics.hits + statistics.misses == requests)
        #expect(statistics.evictions > 0)
    }

    @Test func aBlockOverTheBudgetIsNotKept() throws {
        let cache = BlockCache(budgetBytes: 100)
        cache.insert(try block(1))
        #expect(cache.statistics.blockCount == 0)
        let none = BlockCache(budgetBytes: 0)
        none.insert(try block(1))
        #expect(none.get(place(1)) == nil)
    }

    @Test func aSegmentIsForgottenWhole() throws {
        let cache = BlockCache(budgetBytes: 1 << 20)
        let numbers = [3, 500, 1_003, 1_500, 2_100]
        for number in numbers { cache.insert(try block(number)) }
        cache.removeAll(segment: 2)
        for number in numbers { #expect((cache.get(place(number)) != nil) == (number / 1_000 != 1)) }
        cache.removeAll()
        #expect(cache.statistics.byteCount == 0 && cache.statistics.blockCount == 0)
        for number in numbers { #expect(cache.get(place(number)) == nil) }
        cache.insert(try block(3))
        #expect(cache.get(place(3)) != nil)
    }

    // MARK: Giving back

    /// A cache kept what it had until something else needed the room.
    @Test(arguments: [10, 3_000]) func whatIsNotUsedForARoundGoes(_ count: Int) throws {
        let cache = BlockCache(budgetBytes: try block(0).estimatedByteCount * count * 2)
        for number in 0..<count { cache.insert(try block(number)) }
        // What came in since counts as used.
        cache.removeUnused()
        #expect(cache.statistics.blockCount == count)
        for number in stride(from: 0, to: count, by: 2) { #expect(cache.get(place(number)) != nil) }
        cache.removeUnused()
        #expect(cache.statistics.blockCount == count / 2)
        for number in 0..<count { #expect((cache.get(place(number)) != nil) == (number % 2 == 0)) }
        cache.removeUnused()
        #expect(cache.statistics.blockCount == count / 2)
        cache.removeUnused()
        #expect(cache.statistics.blockCount == 0 && cache.statistics.byteCount == 0)
        // The tables have become smaller, and work as before.
        for number in 0..<count {
            cache.insert(try block(number))
            #expect(try cache.get(place(number)).map(self.number) == number)
        }
        #expect(cache.statistics.blockCount == count)
    }

    @Test func aCacheThatSharesABudgetGivesWay() throws {
        let one = try block(0).estimatedByteCount
        let budget = MemoryBudget(limitBytes: one * 10, intervalMilliseconds: 60_000)
        let cache = BlockCache(budgetBytes: one * 100, sharing: budget)
        for number in 0..<8 { cache.insert(try block(number)) }
        #expect(budget.heldBytes == one * 8)
        // Somebody else takes the rest: what comes in now takes the place of what is there.
        budget.record(one * 2)
        for number in 100..<150 { cache.insert(try block(number)) }
        #expect(cache.heldBytes <= one * 10 && budget.heldBytes <= one * 12)
        cache.shrink(to: one * 3)
        #expect(cache.statistics.blockCount == 3 && budget.heldBytes == one * 5)
        cache.removeAll()
        #expect(budget.heldBytes == one * 2)
    }

    /// Others look for blocks while the cache gives them back and makes its tables smaller.
    @Test func givingBackDisturbsNoReader() throws {
        let cache = BlockCache(budgetBytes: 64 << 20)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SeededGenerator(seed: UInt64(thread))
            for round in 0..<4_000 {
                if thread == 0, round % 200 == 0 { cache.removeUnused() }
                let wanted = random.below(2_500)
                if let found = cache.get(place(wanted)) {
                    #expect((try? number(found)) == wanted)
                } else if let made = try? block(wanted) {
                    cache.insert(made)
                }
            }
        }
        cache.removeUnused()
        cache.removeUnused()
        #expect(cache.statistics.blockCount == 0)
    }

    /// Requests with a Zipf distribution (exponent 0.99) over `count` blocks.
    private func zipf(_ count: Int, requests: Int, seed: UInt64) -> [Int] {
        var cumulative: [Double] = []
        var sum = 0.0
        var power = 1.0
        for rank in 1...count {
            // rank^-0.99 without Foundation: n^-1 * n^0.01, and n^0.01 grows by (1 + 1/n)^0.01 = 1 + 0.01/n to first
            // order.
            if rank > 1 { power *= 1 + 0.01 / Double(rank - 1) }
            sum += power / Double(rank)
            cumulative.append(sum)
        }
        var random = SeededGenerator(seed: seed)
        return (0..<requests).map { _ in
            let target = Double(random.next() >> 11) / 9_007_199_254_740_992 * sum
            var low = 0
            var high = count - 1
            while low < high {
                let middle = (low + high) / 2
                if cumulative[middle] < target { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    /// Hits of a cache that drops the least recently used.
    private func leastRecentlyUsedHits(_ requests: [Int], capacity: Int) -> Int {
        var lastUse: [Int: Int] = [:]
        var byUse: [(number: Int, time: Int)] = []
        var oldest = 0
        var hits = 0
        for (time, number) in requests.enumerated() {
            if lastUse[number] != nil {
                hits += 1
            } else if lastUse.count == capacity {
                while lastUse[byUse[oldest].number] != byUse[oldest].time { oldest += 1 }
                lastUse[byUse[oldest].number] = nil
            }
            lastUse[number] = time
            byUse.append((number, time))
        }
        return hits
    }

    private func hits(_ requests: [Int], _ cache: BlockCache) throws -> Int {
        var hits = 0
        for wanted in requests {
            if cache.get(place(wanted)) != nil { hits += 1 } else { cache.insert(try block(wanted)) }
        }
        return hits
    }

    @Test func popularBlocksStayLongerThanWithLeastRecentlyUsed() throws {
        let one = try block(0).estimatedByteCount
        for capacity in [50, 200] {
            let requests = zipf(3_000, requests: 40_000, seed: 17)
            let found = try hits(requests, BlockCache(budgetBytes: one * capacity))
            let recent = leastRecentlyUsedHits(requests, capacity: capacity)
            #expect(found > recent, "capacity \(capacity): \(found) against \(recent)")
        }
    }

    @Test func aScanDrivesNothingPopularOut() throws {
        let one = try block(0).estimatedByteCount
        let cache = BlockCache(budgetBytes: one * 100)
        let popular = Array(0..<60)
        for _ in 0..<4 { _ = try hits(popular, cache) }
        // Something else must come in between for uses to count.
        for number in 0..<60 {
            _ = try hits([number, 5_000 + number], cache)
        }
        for scanned in 10_000..<11_000 {
            // Row by row: many look-ups of one block in a row are one use.
            for _ in 0..<20 where cache.get(place(scanned)) == nil { cache.insert(try block(scanned)) }
        }
        let left = popular.count { cache.get(place($0)) != nil }
        #expect(left >= 54, "\(left) of 60 left after the scan")
    }

    @Test func theTableFindsWhatItHolds() {
        let table = CacheTable(room: 300)
        defer { table.deallocate() }
        var model: [UInt64: UInt32] = [:]
        var random = SeededGenerator(seed: 23)
        var round: UInt32 = 0
        while table.hasRoom(model.count) {
            round += 1
            let key = UInt64(random.below(2_000) + 1) << 16
            if model[key] == nil {
                let place = table.insert(key, hash: CacheTable.hash(key), node: round)
                #expect(table.entries[place].key.load(ordering: .relaxed) == key)
                model[key] = round
            }
            let probe = UInt64(random.below(2_000) + 1) << 16
            #expect(table.find(probe, hash: CacheTable.hash(probe))?.pointee.node == model[probe])
        }
        #expect(model.count >= 600)
        for (key, node) in model { #expect(table.find(key, hash: CacheTable.hash(key))?.pointee.node == node) }
    }

    @Test func manyThreadsShareACache() async throws {
        let one = try block(0).estimatedByteCount
        let cache = BlockCache(budgetBytes: one * 64)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(task))
                    for round in 0..<3_000 {
                        let wanted = random.below(200)
                        if let found = cache.get(place(wanted)) {
                            #expect(try number(found) == wanted)
                        } else {
                            cache.insert(try block(wanted))
                        }
                        if round % 500 == 0 { cache.removeAll(segment: 1) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(cache.statistics.byteCount <= one * 64)
    }
}

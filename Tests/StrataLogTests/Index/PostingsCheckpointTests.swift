import CStrataSupport
import StrataTestKit
import Synchronization
import Testing

@testable import StrataLog

@Suite struct PostingsCheckpointTests {
    private func write(_ postings: Postings, padding: Int = 0) throws -> (IndexTestSource, CheckpointSection) {
        let sink = IndexTestSink(padding: padding)
        let section = try postings.encode(into: sink)
        sink.bytes += [1, 2, 3]
        return (IndexTestSource(sink.bytes), section)
    }

    @Test func emptyPostingsGoThroughAFile() throws {
        let (source, section) = try write(Postings())
        let postings = try Postings.load(section, from: source)
        #expect(postings.isEmpty)
        #expect(try postings.count(of: ObjectRef(rawValue: 5)) == 0)
        #expect(try postings.referrers(of: ObjectRef(rawValue: 5)).isEmpty)
    }

    @Test(arguments: [1...20, 1...3000], [20, 2000])
    func versionsGoOnFromAFileAsFromMemory(referrers: ClosedRange<UInt64>, batch: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let targets = PostingsTests.targets
        var model = PostingsModel()
        var postings = Postings()
        for round in 0..<40 {
            let comment: Comment = "seed \(seed), round \(round)"
            // Changes in few places leave most blocks as they are.
            let some = round % 4 == 3 ? Array(targets.shuffled(using: &random).prefix(2)) : targets
            for _ in 0..<3 {
                postings = postings.adding(
                    model.changes(
                        Int.random(in: 1...batch, using: &random), targets: some, referrers: referrers,
                        wide: round % 7 == 6, &random))
            }
            postings = postings.sealed()
            let sealed = postings
            let (source, section) = try write(sealed, padding: Int.random(in: 0...100, using: &random))
            let reopened = try Postings.load(section, from: source)
            try model.expect(reopened, targets: targets, comment)
            if round % 3 != 0 {
                // The version goes on while its past is written, then moves to the new file. A checkpoint that is
                // not finished leaves it where it was.
                for _ in 0..<3 {
                    postings = postings.adding(
                        model.changes(
                            Int.random(in: 1...batch, using: &random), targets: targets, referrers: referrers, &random))
                }
                if round % 3 == 1 { postings = postings.rebased(onto: reopened, from: sealed) }
            }
            try model.expect(postings, targets: targets, comment)
        }
    }

    @Test func untouchedBlocksAreCopiedAndManyReferrersAreNotReadToBeCounted() throws {
        let big = ObjectRef(entity: 1, key: 5)
        let postings = Postings().adding(
            (1...100_000).map { PostingChange(target: big, referrer: ObjectRef(entity: 2, key: UInt64($0))) })
        let (source, section) = try write(postings)
        #expect(Int(section.offset) < 100_000 * 2)
        let reopened = try Postings.load(section, from: source)
        #expect(reopened.memoryByteCount < 100_000 / 5)
        let before = source.readCount.load(ordering: .relaxed)
        #expect(try reopened.count(of: big) == 100_000)
        #expect(try reopened.count(of: ObjectRef(entity: 1, key: 4)) == 0)
        #expect(try reopened.count(of: ObjectRef(entity: 1, key: 6)) == 0)
        #expect(source.readCount.load(ordering: .relaxed) <= before + 2)

        let middle = PostingChange(target: big, referrer: ObjectRef(entity: 2, key: 50_000), isRemoval: true)
        let (again, newSection) = try write(reopened.adding([middle]))
        let last = try Postings.load(newSection, from: again)
        #expect(try last.count(of: big) == 99_999)
        #expect(try last.referrers(of: big).map(\.key) == (1...100_000).filter { $0 != 50_000 })
    }

    private func small() throws -> (Postings, [UInt64]) {
        var random = SeededGenerator(seed: 5)
        var model = PostingsModel()
        let targets: [UInt64] = [1, 2, 3, 900]
        let changes = model.changes(1500, targets: targets, referrers: 1...2000, &random)
        return (Postings().adding(changes), targets)
    }

    private func lists(_ postings: Postings, _ targets: [UInt64]) throws -> [[ObjectRef]] {
        try targets.map { try postings.referrers(of: ObjectRef(rawValue: $0)) }
    }

    @Test func damageAtAnyByteIsNoticed() throws {
        let (postings, targets) = try small()
        let (source, section) = try write(postings)
        for position in 0..<(source.bytes.count - 3) {
            var bytes = source.bytes
            bytes[position] ^= UInt8(1 << (position % 8))
            #expect(throws: StoreError.self, "byte \(position)") {
                _ = try lists(try Postings.load(section, from: IndexTestSource(bytes)), targets)
            }
            #expect(throws: StoreError.self, "byte \(position)") {
                _ = try Postings.load(section, from: IndexTestSource(bytes)).encode(into: IndexTestSink())
            }
        }
        for length in stride(from: 0, to: Int(section.offset) + section.byteCount, by: 11) {
            let cut = IndexTestSource(Array(source.bytes[..<length]))
            #expect(throws: StoreError.self) { try lists(try Postings.load(section, from: cut), targets) }
        }
    }

    @Test func aReadThatFailsCanBeTriedAgain() throws {
        let (postings, targets) = try small()
        let (source, section) = try write(postings)
        let reopened = try Postings.load(section, from: source)
        source.fails.store(true, ordering: .relaxed)
        #expect(throws: StoreError.self) { try lists(reopened, targets) }
        #expect(throws: StoreError.self) { try reopened.count(of: ObjectRef(rawValue: 2)) }
        source.fails.store(false, ordering: .relaxed)
        #expect(try lists(reopened, targets) == lists(postings, targets))
    }

    /// With the directory's checksum made right again.
    @Test func directoriesThatContradictThemselvesAreRefused() throws {
        let (postings, _) = try small()
        let (source, section) = try write(postings)
        let start = Int(section.offset)
        func isRead<Value: FixedWidthInteger>(_ value: Value, at offset: Int) -> Bool {
            isDirectoryRead(with: value, at: offset, source, section) { _ = try Postings.load(section, from: $0) }
        }
        func stored<Value: FixedWidthInteger>(_ offset: Int, _ type: Value.Type) -> Value {
            source.bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + offset, as: type) }
        }
        let (version, pairs, blocks) = (stored(4, UInt16.self), stored(8, UInt64.self), stored(16, UInt32.self))
        try #require(blocks >= 2)
        #expect(isRead(version, at: 4) && isRead(pairs, at: 8) && isRead(blocks, at: 16))
        #expect(!isRead(0 as UInt32, at: 0))
        #expect(!isRead(version + 1, at: 4))
        #expect(!isRead(pairs + 1, at: 8))
        #expect(!isRead(blocks + 1, at: 16))
        #expect(!isRead(blocks - 1, at: 16))
        #expect(!isRead(-1 as Int64, at: 24))
        #expect(!isRead(section.offset, at: 24))
        #expect(!isRead(section.offset + 1, at: 24))
        // The first block's entry: its first pair, its length, and how many pairs it has.
        #expect(!isRead(UInt64.max, at: 32))
        #expect(!isRead(UInt16(PostingsBlock.headerByteCount - 1), at: 48))
        #expect(!isRead(UInt16.max, at: 48))
        #expect(!isRead(0 as UInt16, at: 50))
        #expect(!isRead(UInt16.max, at: 50))
    }

    /// As above, with a sum that is right, or bytes of blocks that would be there.
    @Test func blocksThatCannotBeAreRefused() throws {
        let (postings, _) = try small()
        let (source, section) = try write(postings, padding: 20_000)
        let start = Int(section.offset)
        func stored<Value: FixedWidthInteger>(_ offset: Int, _ type: Value.Type) -> Value {
            source.bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + offset, as: type) }
        }
        func isRead(_ change: (inout [UInt8]) -> Void) -> Bool {
            var bytes = source.bytes
            change(&bytes)
            resealDirectory(&bytes, section)
            return (try? Postings.load(section, from: IndexTestSource(bytes))) != nil
        }
        let others = stored(8, UInt64.self) - UInt64(stored(50, UInt16.self))
        for (count, expected) in [(1, true), (512, true), (0, false), (513, false)] as [(UInt16, Bool)] {
            let isRead = isRead {
                put(others + UInt64(count), into: &$0, at: start + 8)
                put(count, into: &$0, at: start + 50)
            }
            #expect(isRead == expected, "\(count) pairs")
        }
        let longest = UInt16(PostingsBlock.maximumByteCount)
        for (byteCount, expected) in [(longest, true), (longest + 1, false)] {
            let isRead = isRead {
                put(0 as Int64, into: &$0, at: start + 24)
                put(byteCount, into: &$0, at: start + 48)
            }
            #expect(isRead == expected, "\(byteCount) bytes")
        }
    }

    /// Whoever looks for a pair would not find it in the block behind.
    @Test func aBlockThatReachesIntoTheNextOneIsDamage() throws {
        let (postings, targets) = try small()
        let (source, section) = try write(postings)
        let start = Int(section.offset)
        var bytes = source.bytes
        // The first pair of the second block becomes the one behind the first block's.
        let (target, referrer) = bytes.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: start + 32, as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: start + 40, as: UInt64.self)
            )
        }
        try #require(target == targets[0])
        put(target, into: &bytes, at: start + 56)
        put(referrer + 1, into: &bytes, at: start + 64)
        resealDirectory(&bytes, section)
        for (contents, isSound) in [(source.bytes, true), (bytes, false)] {
            let reopened = try Postings.load(section, from: IndexTestSource(contents))
            let result: Void? = try? reopened.forEachReferrer(of: ObjectRef(rawValue: target)) { _ in false }
            #expect((result != nil) == isSound)
        }
    }

    /// The pairs of a block with this number of them, all of one target, whose referrers take 16 bits each.
    private func isValid(_ referrers: [UInt16], count: Int? = nil) -> Bool {
        var bytes = [UInt8](repeating: 0, count: PostingsBlock.headerByteCount)
        put(UInt16(count ?? referrers.count), into: &bytes, at: 0)
        bytes[3] = 16
        for referrer in referrers { bytes += [UInt8(referrer & 0xFF), UInt8(referrer >> 8)] }
        let byteCount = bytes.count
        bytes += [UInt8](repeating: 0, count: PostingsBlock.slackByteCount)
        return bytes.withUnsafeBytes { PostingsBlock.isValid(UnsafeRawBufferPointer(rebasing: $0[..<byteCount])) }
    }

    @Test func blocksAreOfAscendingPairs() {
        #expect(isValid([5]) && isValid([5, 6]) && isValid(Array(1...512)))
        #expect(!isValid([]))
        #expect(!isValid(Array(1...513)))
        #expect(!isValid([6, 5]))
        #expect(!isValid([5, 5]))
        #expect(!isValid([5, 6], count: 1))
    }

    /// One load reads a value of 56 bits, whatever bit it begins at, or one of 64, which begins at a byte.
    @Test(arguments: [(56, true), (57, false), (63, false), (64, true), (65, false)] as [(UInt8, Bool)])
    func blocksOfWidthsThatNoLoadReadsAreRefused(bits: UInt8, expected: Bool) {
        for isTarget in [true, false] {
            let byteCount = PostingsBlock.headerByteCount + (Int(bits) + 7) / 8
            var bytes = [UInt8](repeating: 0, count: byteCount + PostingsBlock.slackByteCount)
            bytes[0] = 1
            bytes[isTarget ? 2 : 3] = bits
            let isValid = bytes.withUnsafeBytes {
                PostingsBlock.isValid(UnsafeRawBufferPointer(rebasing: $0[..<byteCount]))
            }
            #expect(isValid == expected, "of targets: \(isTarget)")
        }
    }

    @Test func bytesThatMeanHarmGiveErrorsOrSomePostings() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let (postings, targets) = try small()
        let (source, section) = try write(postings)
        let start = Int(section.offset)
        let firstBlock = start + 32
        let length = Int(source.bytes[firstBlock + 16]) + Int(source.bytes[firstBlock + 17]) << 8
        var (read, refused) = (0, 0)
        for round in 0..<4000 {
            var bytes = source.bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let position =
                    round % 2 == 0
                    ? Int.random(in: start..<(start + section.byteCount - 4), using: &random)
                    : Int.random(in: 0..<(round % 4 == 1 ? 24 : length), using: &random)
                bytes[position] = .random(in: 0...255, using: &random)
            }
            if round % 2 == 1 {
                let crc = bytes.withUnsafeBytes { raw in
                    PageChecksum.of(
                        UnsafeRawBufferPointer(rebasing: raw[..<length]),
                        key: raw.loadUnaligned(fromByteOffset: firstBlock, as: UInt64.self),
                        raw.loadUnaligned(fromByteOffset: firstBlock + 8, as: UInt64.self))
                }
                withUnsafeBytes(of: crc) { bytes.replaceSubrange(firstBlock + 20..<firstBlock + 24, with: $0) }
            }
            resealDirectory(&bytes, section)
            guard let hostile = try? Postings.load(section, from: IndexTestSource(bytes)) else {
                refused += 1
                continue
            }
            for target in targets {
                if (try? hostile.referrers(of: ObjectRef(rawValue: target))) == nil { refused += 1 } else { read += 1 }
                _ = try? hostile.count(of: ObjectRef(rawValue: target))
            }
            _ = try? hostile.encode(into: IndexTestSink())
        }
        // A test that meets only one of both proves little.
        #expect(read > 100 && refused > 100, "\(read) read, \(refused) refused")
    }
}

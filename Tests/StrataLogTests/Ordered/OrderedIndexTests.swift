import StrataTestKit
import Synchronization
import Testing

@testable import StrataLog

/// A sorted array that does what an ordered index does.
struct OrderedModel {
    struct Entry: Hashable, Comparable {
        var value: [UInt8]
        var key: UInt64

        static func < (left: Entry, right: Entry) -> Bool {
            left.value == right.value ? left.key < right.key : left.value.lexicographicallyPrecedes(right.value)
        }
    }

    var entries: Set<Entry> = []

    /// Random additions and removals, as the entries of a batch.
    mutating func change(_ count: Int, values: Int, keys: UInt64, _ random: inout SeededGenerator) -> OrderedBatch {
        let batch = OrderedBatch()
        for _ in 0..<count {
            let entry: Entry
            if Int.random(in: 0..<3, using: &random) == 0, let present = entries.randomElement(using: &random) {
                entry = present
            } else {
                let number = Int.random(in: 0..<values, using: &random)
                let text = number % 7 == 0 ? "" : String(repeating: "v", count: number % 5) + "\(number)"
                let value = text.utf8.withContiguousStorageIfAvailable {
                    OrderedKey.component(UnsafeRawBufferPointer($0), .string)
                }
                entry = Entry(value: value ?? [0], key: UInt64.random(in: 1...keys, using: &random))
            }
            let isRemoval = entries.contains(entry)
            if isRemoval { entries.remove(entry) } else { entries.insert(entry) }
            batch.reserve(entry.value.count)
            entry.value.withUnsafeBytes { batch.put(copying: $0) }
            batch.end(ObjectRef(entity: 3, key: entry.key), isRemoval: isRemoval)
        }
        return batch
    }

    /// Compares ranges that begin and end at entries, between them, and at both ends.
    func expect(_ index: OrderedIndex, _ random: inout SeededGenerator, _ comment: Comment) throws {
        let sorted = entries.sorted()
        #expect(index.count == sorted.count, comment)
        var bounds: [[UInt8]] = [[], [1], [2]]
        for _ in 0..<5 {
            guard let entry = sorted.randomElement(using: &random) else { break }
            bounds.append(entry.value)
            bounds.append(entry.value + [0, 0])
            bounds.append(Array(entry.value.dropLast()))
        }
        for _ in 0..<8 {
            let lower = bounds.randomElement(using: &random) ?? []
            let upper = bounds.randomElement(using: &random)
            let range = OrderedRange(lower: lower, upper: upper.flatMap { $0.isEmpty ? nil : $0 })
            func bytes(_ entry: Entry) -> [UInt8] {
                entry.value + (0..<8).map { UInt8(truncatingIfNeeded: (entry.key << 16 | 3) >> UInt64(56 - $0 * 8)) }
            }
            let inside = sorted.filter { entry in
                let bytes = bytes(entry)
                return !bytes.lexicographicallyPrecedes(range.lower)
                    && range.upper.map { bytes.lexicographicallyPrecedes($0) } ?? true
            }
            try #expect(index.count(in: range) == inside.count, comment)
            let limit = Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 1...20, using: &random) : Int.max
            for descending in [false, true] {
                var found: [UInt64] = []
                _ = try index.forEach(in: range, descending: descending) { ref in
                    found.append(ref.key)
                    return found.count < limit
                }
                let expected = inside.sorted { left, right in
                    left.value == right.value
                        ? left.key < right.key : left.value.lexicographicallyPrecedes(right.value) != descending
                }
                #expect(found == expected.prefix(limit).map(\.key), comment)
                let skipped = Int.random(in: 0...inside.count + 1, using: &random)
                found.removeAll()
                // In two parts, between whatever values.
                let border = sorted.randomElement(using: &random)?.value ?? [1]
                let (low, high) = (OrderedRange(lower: [], upper: border), OrderedRange(lower: border, upper: nil))
                let ranges = [range.clamped(to: low), range.clamped(to: high)]
                try index.forEach(in: ranges, descending: descending, skipping: skipped) { ref in
                    found.append(ref.key)
                    return found.count < limit
                }
                #expect(found == expected.dropFirst(skipped).prefix(limit).map(\.key), comment)
            }
        }
    }
}

@Suite struct OrderedIndexTests {
    static let definition = OrderedIndexDefinition(
        root: 3, entities: [3], elements: [.init(slot: 0, kind: .string)])

    private func write(_ index: OrderedIndex, padding: Int = 0) throws -> (IndexTestSource, CheckpointSection) {
        let sink = IndexTestSink(padding: padding)
        let section = try index.encode(into: sink)
        sink.bytes += [1, 2, 3]
        return (IndexTestSource(sink.bytes), section)
    }

    /// Few and many different values; few objects share each, or thousands do. A million objects in release.
    @Test(
        arguments: [(3, 400), (200, 5_000), BuildMode.isDebug ? (1_000, 5_000) : (100_000, 1_000_000)],
        [3, 60, 1_500])
    func anIndexIsASortedArray(size: (values: Int, keys: Int), batch: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var model = OrderedModel()
        var index = OrderedIndex(Self.definition, lineage: .init(), base: .empty)
        for round in 0..<(BuildMode.isDebug ? 8 : 25) {
            let comment: Comment = "seed \(seed), round \(round)"
            for _ in 0..<3 {
                let count = Int.random(in: 1...batch, using: &random)
                index = try index.adding(
                    model.change(count, values: size.values, keys: UInt64(size.keys), &random).sorted())
            }
            try model.expect(index, &random, comment)
            guard round % 3 != 0 else { continue }
            // A checkpoint is written while the index goes on, and then it moves there, or stays where it was.
            index = try index.sealed()
            let sealed = index
            let (source, section) = try write(sealed, padding: Int.random(in: 0...99, using: &random))
            let reopened = try OrderedIndex.load(section, from: source)
            #expect(reopened.definition == Self.definition)
            try model.expect(reopened, &random, comment)
            index = try index.adding(
                model.change(batch, values: size.values, keys: UInt64(size.keys), &random).sorted())
            if round % 3 == 1 { index = index.rebased(onto: reopened, from: sealed) }
            try model.expect(index, &random, comment)
        }
    }

    @Test func countingReadsTwoBlocksAndUntouchedBlocksAreCopied() throws {
        let batch = OrderedBatch()
        for key in 1...UInt64(50_000) {
            batch.reserve(10)
            batch.put(1)
            batch.put(bigEndian: key / 2 ^ 1 << 63)
            batch.end(ObjectRef(entity: 3, key: key), isRemoval: false)
        }
        let index = OrderedIndex(Self.definition, lineage: .init(), base: batch.sorted())
        let (source, section) = try write(index)
        let reopened = try OrderedIndex.load(section, from: source)
        #expect(Int(section.offset) < 50_000 * 9)
        let before = source.readCount.load(ordering: .relaxed)
        let range = OrderedRange(lower: [1, 0x80, 0, 0, 0, 0, 0, 0x10], upper: [1, 0x80, 0, 0, 0, 0, 0, 0x50])
        #expect(try reopened.count(in: range) == 0x4000 * 2)
        #expect(source.readCount.load(ordering: .relaxed) <= before + 2)

        let change = OrderedBatch()
        change.reserve(10)
        change.put(1)
        change.put(bigEndian: UInt64(20_000) ^ 1 << 63)
        change.end(ObjectRef(entity: 3, key: 40_000), isRemoval: true)
        let (again, newSection) = try write(try reopened.adding(change.sorted()))
        let last = try OrderedIndex.load(newSection, from: again)
        #expect(last.count == 49_999)
        let shared = zip(source.bytes, again.bytes).count { $0 == $1 }
        #expect(shared > Int(section.offset) / 3)
    }

    /// What is skipped is counted: of thousands of blocks only those are read that the way leads through.
    @Test(arguments: [1, 300, 60_000]) func skippingReadsFewBlocks(valuesAlike: Int) throws {
        let batch = OrderedBatch()
        for key in 1...UInt64(50_000) {
            batch.reserve(10)
            batch.put(1)
            batch.put(bigEndian: key / UInt64(valuesAlike) ^ 1 << 63)
            batch.end(ObjectRef(entity: 3, key: key), isRemoval: false)
        }
        let (source, section) = try write(OrderedIndex(Self.definition, lineage: .init(), base: batch.sorted()))
        for descending in [false, true] {
            let index = try OrderedIndex.load(section, from: source)
            let before = source.readCount.load(ordering: .relaxed)
            var found: [UInt64] = []
            try index.forEach(in: [.all], descending: descending, skipping: 30_000) { ref in
                found.append(ref.key)
                return found.count < 3
            }
            let order = (1...UInt64(50_000)).sorted { left, right in
                let (a, b) = (left / UInt64(valuesAlike), right / UInt64(valuesAlike))
                return a == b ? left < right : (a < b) != descending
            }
            #expect(found == Array(order[30_000..<30_003]))
            #expect(source.readCount.load(ordering: .relaxed) <= before + 30)
        }
    }

    @Test func damagedBlocksAreNotRead() throws {
        var random = SeededGenerator(seed: 5)
        var model = OrderedModel()
        let batch = model.change(3_000, values: 1_000, keys: 9_000, &random)
        let index = OrderedIndex(Self.definition, lineage: .init(), base: batch.sorted())
        let (source, section) = try write(index)
        for _ in 0..<(BuildMode.isDebug ? 60 : 400) {
            var bytes = source.bytes
            bytes[Int.random(in: 0..<bytes.count - 3, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            #expect(throws: StoreError.self) {
                let damaged = try OrderedIndex.load(section, from: IndexTestSource(bytes))
                _ = try damaged.forEach(in: .all) { _ in true }
            }
        }
    }

    /// Found by fuzzing checkpoints: a filter over a slot that no entity can have.
    @Test func aFilterOverAnImpossibleSlotIsRefused() throws {
        func bytes(slot: Int) -> [UInt8] {
            OrderedIndexDefinition(
                root: 3, entities: [3], elements: [.init(slot: 0, kind: .string)],
                filter: .within(slot: slot, kind: .bool, ranges: [])
            ).encoded()
        }
        func slots(_ bytes: [UInt8]) throws(MalformedBytes) -> SlotSet {
            try bytes.withBytes { bytes throws(MalformedBytes) in
                var reader = ByteReader(bytes)
                return try OrderedIndexDefinition(from: &reader).slots
            }
        }
        #expect(try slots(bytes(slot: Schema.maximumSlots - 1)).contains(Schema.maximumSlots - 1))
        #expect(throws: MalformedBytes.self) { try slots(bytes(slot: Schema.maximumSlots)) }
    }

    /// Bytes whose checksums are right but whose contents are not: nothing traps, nothing is read elsewhere.
    @Test func hostileDirectoriesAndBlocksAreRefusedOrHarmless() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var model = OrderedModel()
        let batch = model.change(600, values: 300, keys: 9_000, &random)
        let (source, section) = try write(OrderedIndex(Self.definition, lineage: .init(), base: batch.sorted()))
        var (read, refused) = (0, 0)
        // About one in 150 can still be read.
        for _ in 0..<12_000 {
            var bytes = source.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int(section.offset) + Int.random(in: 0..<section.byteCount - 4, using: &random)] =
                    UInt8.random(in: 0...255, using: &random)
            }
            resealDirectory(&bytes, section)
            do {
                _ = try OrderedIndex.load(section, from: IndexTestSource(bytes)).forEach(in: .all) { _ in true }
                read += 1
            } catch {
                refused += 1
            }
        }
        // A test that meets only one of both proves little. Each block has a checksum.
        #expect(read > 10 && refused > 100, "\(read) read, \(refused) refused")
        var encoder = OrderedBlockEncoder()
        for number in 1000..<1100 { Array("entry \(number)".utf8).withUnsafeBytes { encoder.append($0) } }
        encoder.finish()
        let block = encoder.bytes
        for _ in 0..<(BuildMode.isDebug ? 1_000 : 20_000) {
            var bytes = block
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let kept = Int.random(in: 0...bytes.count, using: &random)
            _ = bytes.withUnsafeBytes { OrderedBlockCoding.decode($0) }
            _ = bytes.prefix(kept).withUnsafeBytes { OrderedBlockCoding.decode($0) }
        }
    }

    @Test func definitionsGoThroughBytes() throws {
        let ranges = [OrderedRange(lower: [1, 2], upper: nil), OrderedRange(lower: [], upper: [3])]
        let filter = OrderedFilter.any([
            .not(.within(slot: 4, kind: .int16, ranges: ranges)), .all([]), .within(slot: 5, kind: .bool, ranges: []),
        ])
        let definition = OrderedIndexDefinition(
            root: 2, entities: [7, 2],
            elements: [.init(slot: 1, kind: .date, isDescending: true), .init(slot: 9, kind: .string)], filter: filter)
        let bytes = definition.encoded()
        let read = try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try OrderedIndexDefinition(from: &reader)
        }
        #expect(read == definition)
        #expect(read.digest == definition.digest)
        var other = definition
        other.elements[0].isDescending = false
        #expect(other.digest != definition.digest)
        // A filter in a filter in a filter: refused before the stack ends.
        let deep = Array(definition.encoded().prefix(18)) + [1] + Array(repeating: 3, count: 100_000)
        #expect(throws: MalformedBytes.self) {
            try deep.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                _ = try OrderedIndexDefinition(from: &reader)
            }
        }
    }
}

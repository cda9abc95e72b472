import CStrataSupport
import StrataTestKit
import Synchronization
import Testing

@testable import StrataLog

@Suite struct IndexCheckpointTests {
    typealias Model = IndexEditTests.Model

    private func write(_ index: ObjectIndex, padding: Int = 0) throws -> (IndexTestSource, CheckpointSection) {
        let sink = IndexTestSink(padding: padding)
        let section = try index.encode(into: sink)
        sink.bytes += [1, 2, 3]
        return (IndexTestSource(sink.bytes), section)
    }

    @Test func anEmptyIndexGoesThroughAFile() throws {
        let (source, section) = try write(ObjectIndex())
        let index = try ObjectIndex.load(section, from: source)
        #expect(try index.contents().isEmpty)
        #expect(try index.location(of: 1).isAbsent)
    }

    @Test(arguments: [1...3_000, 1...200_000, 2_090_000...2_110_000, (1 << 48) - 3000...(1 << 48) - 1])
    func versionsGoOnFromAFileAsFromMemory(keys: ClosedRange<UInt64>) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var model: Model = [:]
        var index = ObjectIndex()
        var older: [(ObjectIndex, Model)] = []
        for round in 0..<24 {
            let comment: Comment = "seed \(seed), round \(round)"
            let edit = IndexEdit(base: index)
            IndexEditTests.change(edit, &model, keys: keys, &random)
            index = try edit.finish()
            let (source, section) = try write(index, padding: Int.random(in: 0...100, using: &random))
            let reopened = try ObjectIndex.load(section, from: source)
            #expect(reopened.residentPageCount == 0 && reopened.pageCount == index.pageCount, comment)
            #expect(reopened.maximumKey == index.maximumKey, comment)
            older.append((index, model))
            switch round % 3 {
            case 0:
                index = reopened
            case 1:
                // The version goes on while its past is written, then moves to the new file.
                let meanwhile = IndexEdit(base: index)
                IndexEditTests.change(meanwhile, &model, keys: keys, &random)
                index = try meanwhile.finish().rebased(onto: reopened)
            default:
                try IndexEditTests.expect(reopened, matches: model, keys: keys, &random, comment)
                #expect(reopened.residentPageCount == reopened.pageCount, comment)
            }
            if older.count > 4 { older.remove(at: Int.random(in: 0..<older.count, using: &random)) }
            let some = older.randomElement(using: &random)!
            try IndexEditTests.expect(some.0, matches: some.1, keys: keys, &random, comment)
        }
        try IndexEditTests.expect(index, matches: model, keys: keys, &random, "seed \(seed)")
        older = []
        #expect(index.liveNodeCount == index.reachableNodeCount, "seed \(seed)")
    }

    @Test func pagesComeWithTheirFirstTouchOnly() throws {
        let edit = IndexEdit(base: ObjectIndex())
        for key in stride(from: UInt64(1), to: 100_000, by: 3) {
            edit.set(key, Location(segment: 1, byteOffset: Int(key) * 64, row: 1))
        }
        let (source, section) = try write(try edit.finish())
        let index = try ObjectIndex.load(section, from: source)
        #expect(index.memoryByteCount < index.pageCount * 20 + 1024)
        let before = source.readCount.load(ordering: .relaxed)
        #expect(try index.location(of: 4).byteOffset == 4 * 64)
        #expect(try index.location(of: 7).byteOffset == 7 * 64)
        #expect(try index.location(of: 99_997).byteOffset == 99_997 * 64)
        #expect(index.residentPageCount == 2)
        try index.forEachRun(from: 1, to: 500) { _ in true }
        #expect(source.readCount.load(ordering: .relaxed) == before + 2)

        // A page that is replaced as a whole is not read.
        let replacing = IndexEdit(base: index)
        replacing.setRun(firstKey: 1024, count: 512, location: Location(segment: 3, byteOffset: 0, row: 0))
        _ = try replacing.finish()
        #expect(source.readCount.load(ordering: .relaxed) == before + 2)
    }

    @Test func aFailedReadFailsTheEditAndNothingElse() throws {
        let edit = IndexEdit(base: ObjectIndex())
        edit.setRun(firstKey: 1, count: 2000, location: Location(segment: 1, byteOffset: 0, row: 0))
        let (source, section) = try write(try edit.finish())
        let index = try ObjectIndex.load(section, from: source)
        let lineage = index.pages.lineage
        let nodes = lineage.liveNodes.load(ordering: .relaxed)
        source.fails.store(true, ordering: .relaxed)
        do {
            let failing = IndexEdit(base: index)
            failing.set(5, Location(segment: 2, byteOffset: 0, row: 0))
            failing.set(5000, Location(segment: 2, byteOffset: 0, row: 0))
            #expect(throws: StoreError.self) { try failing.location(of: 5) }
            #expect(throws: StoreError.self) { try failing.finish() }
        }
        #expect(throws: StoreError.self) { try index.location(of: 5) }
        #expect(throws: StoreError.self) { try index.forEachRun { _ in true } }
        #expect(throws: StoreError.self) { try index.encode(into: IndexTestSink()) }
        #expect(lineage.liveNodes.load(ordering: .relaxed) == nodes)
        source.fails.store(false, ordering: .relaxed)
        #expect(try index.location(of: 5).row == 4)
    }

    /// Of 20,000 objects 19 of 20 were deleted: in memory and in the file the index takes what the rest needs, not what
    /// there was, whether their rows stayed where they were or have been moved together. It took 8 bytes for each
    /// object that ever was, in each of two checkpoints and in memory.
    @Test(arguments: [true, false]) func whatWasDeletedTakesNoRoom(rowsStay: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var model: Model = [:]
        var index = try lessIndex(rowsStay: rowsStay, &model, &random)
        let (source, section) = try write(index)
        // 97 bytes a page and 8 a key; a full page takes 4,112.
        #expect(index.memoryByteCount < index.pageCount * (97 + 16) + model.count * 8 + 2_048)
        #expect(source.bytes.count < index.pageCount * (65 + 7) + model.count * 8 + 1_024)
        let reopened = try ObjectIndex.load(section, from: source)
        #expect(try reopened.contents() == model, "seed \(seed)")
        let comment: Comment = "seed \(seed)"
        for key in UInt64(1)...2_000 { #expect(try reopened.location(of: key) == model[key] ?? .absent, comment) }
        // Filled again, pages become full ones, and runs.
        let again = IndexEdit(base: reopened)
        for key in UInt64(1)...1_024 {
            model[key] = Location(segment: 3, byteOffset: Int.random(in: 1...99, using: &random) * 64, row: 9)
            again.set(key, model[key]!)
        }
        again.setRun(firstKey: 1_025, count: 1_000, location: Location(segment: 4, byteOffset: 64, row: 0))
        for offset in 0..<1_000 { model[1_025 + UInt64(offset)] = Location(segment: 4, byteOffset: 64, row: offset) }
        index = try again.finish()
        try IndexEditTests.expect(index, matches: model, keys: 1...20_000, &random, comment)
        #expect(index.liveNodeCount == index.reachableNodeCount + reopened.reachableNodeCount - shared(index, reopened))
    }

    private func lessIndex(
        rowsStay: Bool, _ model: inout Model, _ random: inout SeededGenerator
    ) throws -> ObjectIndex {
        let filling = IndexEdit(base: ObjectIndex())
        for first in stride(from: UInt64(1), to: 20_000, by: 200) {
            filling.setRun(
                firstKey: first, count: 200, location: Location(segment: 1, byteOffset: Int(first) * 64, row: 0))
        }
        let index = try filling.finish()
        let deleting = IndexEdit(base: index)
        for key in UInt64(1)...20_000 {
            if Int.random(in: 0..<20, using: &random) > 0 {
                deleting.set(key, .absent)
            } else {
                let row = model.count
                let moved = Location(segment: 2, byteOffset: row / 200 * 6400, row: row % 200)
                let place = try rowsStay ? index.location(of: key) : moved
                model[key] = place
                deleting.set(key, place)
            }
        }
        return try deleting.finish()
    }

    /// Nodes that both versions need.
    private func shared(_ a: ObjectIndex, _ b: ObjectIndex) -> Int {
        a.reachableNodes.intersection(b.reachableNodes).count
    }

    /// Full pages, sparse ones, pages of runs and gaps, in a file of a few kilobytes.
    private func smallIndex() throws -> ObjectIndex {
        let edit = IndexEdit(base: ObjectIndex())
        edit.setRun(firstKey: 1, count: 300, location: Location(segment: 1, byteOffset: 0, row: 0))
        edit.setRun(firstKey: 700, count: 900, location: Location(segment: 1, byteOffset: 640, row: 3))
        for key in stride(from: UInt64(2048), to: 2560, by: 2) {
            edit.set(key, Location(segment: 2, byteOffset: Int(key) * 64, row: 7))
        }
        for key in UInt64(3072)..<3584 { edit.set(key, Location(segment: 2, byteOffset: Int(key) * 128, row: 7)) }
        edit.set(40_000, Location(segment: 2, byteOffset: 64, row: 1))
        return try edit.finish()
    }

    @Test func damageAtAnyByteIsNoticedOrHarmless() throws {
        let index = try smallIndex()
        let right = try index.contents()
        let (source, section) = try write(index)
        var noticed = 0
        for position in 0..<(source.bytes.count - 3) {
            var bytes = source.bytes
            bytes[position] ^= UInt8(1 << (position % 8))
            do {
                let damaged = try ObjectIndex.load(section, from: IndexTestSource(bytes))
                #expect(try damaged.contents() == right, "byte \(position)")
            } catch let error as StoreError {
                #expect(error.code == .corruption && error.message.contains("checkpoint is damaged"))
                noticed += 1
            }
            // A copy of a damaged checkpoint must not look sound.
            if let damaged = try? ObjectIndex.load(section, from: IndexTestSource(bytes)) {
                #expect(throws: StoreError.self, "byte \(position)") { try damaged.encode(into: IndexTestSink()) }
            }
        }
        #expect(noticed == source.bytes.count - 3)
    }

    @Test func aShortenedFileIsNoticed() throws {
        let (source, section) = try write(try smallIndex())
        for length in stride(from: 0, to: Int(section.offset) + section.byteCount, by: 7) {
            let cut = IndexTestSource(Array(source.bytes[..<length]))
            #expect(throws: StoreError.self) { try ObjectIndex.load(section, from: cut).forEachRun { _ in true } }
        }
        for bad in [
            CheckpointSection(offset: -1, byteCount: 100), CheckpointSection(offset: .max, byteCount: .max),
            CheckpointSection(offset: 0, byteCount: .max), CheckpointSection(offset: 0, byteCount: -5),
            CheckpointSection(offset: 0, byteCount: 4), CheckpointSection(offset: section.offset + 1, byteCount: 60),
        ] {
            #expect(throws: StoreError.self) { try ObjectIndex.load(bad, from: source) }
        }
    }

    /// With the directory's checksum made right again.
    @Test func directoriesThatContradictThemselvesAreRefused() throws {
        let (source, section) = try write(try smallIndex())
        let start = Int(section.offset)
        func isRead<Value: FixedWidthInteger>(_ value: Value, at offset: Int) -> Bool {
            isDirectoryRead(with: value, at: offset, source, section) { _ = try ObjectIndex.load(section, from: $0) }
        }
        let groupCount = source.bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + 16, as: UInt32.self) }
        let version = source.bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + 4, as: UInt16.self) }
        #expect(isRead(version, at: 4) && isRead(groupCount, at: 16))
        #expect(!isRead(0 as UInt32, at: 0))
        #expect(!isRead(version + 1, at: 4))
        #expect(!isRead(ObjectRef.maximumKey + 1, at: 8))
        #expect(!isRead(groupCount + 1, at: 16))
        #expect(!isRead(groupCount - 1, at: 16))
        // The first group: its number, which pages it has, where they lie, and the length of the first.
        #expect(!isRead(1 << 40 as UInt64, at: 24))
        #expect(!isRead(UInt64.max, at: 32))
        #expect(!isRead(0 as UInt64, at: 32))
        #expect(!isRead(-1 as Int64, at: 40))
        #expect(!isRead(section.offset, at: 40))
        #expect(!isRead(1 as UInt16, at: 48))
    }

    /// What follows it in memory does not belong to it.
    @Test func groupsThatAreNotThereOrOutOfOrderAreRefused() throws {
        let (source, section) = try write(try smallIndex())
        let start = Int(section.offset)
        func stored<Value: FixedWidthInteger>(_ offset: Int, _ type: Value.Type) -> Value {
            source.bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + offset, as: type) }
        }
        func message<Value: FixedWidthInteger>(with value: Value, at offset: Int) -> String? {
            var message: String?
            _ = isDirectoryRead(with: value, at: offset, source, section) { source in
                do throws(StoreError) {
                    _ = try ObjectIndex.load(section, from: source)
                } catch {
                    message = error.message
                }
            }
            return message
        }
        let groupCount = stored(16, UInt32.self)
        try #require(groupCount == 2)
        // Of more groups, and of more pages in the last one.
        let last = 24 + 24 + stored(32, UInt64.self).nonzeroBitCount * 6
        for found in [message(with: groupCount + 1, at: 16), message(with: UInt64.max, at: last + 8)] {
            #expect(found?.hasSuffix("it ends too early") == true, "\(found ?? "")")
        }
        #expect(message(with: groupCount, at: 16) == nil)
        // The last group in place of the first one, or behind the largest key; and one of no pages.
        for number in [0, 2, 1 << 40] as [UInt64] {
            #expect(message(with: number, at: last)?.hasSuffix("page groups out of order") == true, "group \(number)")
        }
        var bytes = Array(source.bytes[..<(start + section.byteCount)])
        bytes.removeSubrange(start + last + 24..<start + last + 30)
        put(0 as UInt64, into: &bytes, at: start + last + 8)
        let shorter = CheckpointSection(offset: section.offset, byteCount: section.byteCount - 6)
        resealDirectory(&bytes, shorter)
        #expect(throws: StoreError.self) { try ObjectIndex.load(shorter, from: IndexTestSource(bytes)) }
    }

    /// With the checksums made right again: a key without a location, or a location without a key.
    @Test func sparsePagesThatContradictThemselvesAreRefused() throws {
        let edit = IndexEdit(base: ObjectIndex())
        for key in stride(from: UInt64(1), to: 512, by: 4) {
            edit.set(key, Location(segment: 2, byteOffset: Int(key) * 64, row: 7))
        }
        let (source, section) = try write(try edit.finish())
        let entry = Int(section.offset) + 48
        let length = Int(source.bytes[entry]) + Int(source.bytes[entry + 1]) << 8
        try #require(IndexSparse.count(fileByteCount: length) == 128)
        func isRead(_ change: (inout [UInt8]) -> Void) throws -> Bool {
            var bytes = source.bytes
            change(&bytes)
            let crc = bytes.withUnsafeBytes {
                PageChecksum.of(UnsafeRawBufferPointer(rebasing: $0[..<length]), key: 0)
            }
            put(crc, into: &bytes, at: entry + 2)
            resealDirectory(&bytes, section)
            let index = try ObjectIndex.load(section, from: IndexTestSource(bytes))
            return (try? index.location(of: 1)) != nil
        }
        #expect(try isRead { _ in })
        #expect(try !isRead { $0[0] ^= 1 })
        #expect(try !isRead { $0[1] ^= 1 })
        #expect(try !isRead { $0[1] ^= 2 })
        #expect(try !isRead { put(0 as UInt64, into: &$0, at: IndexSparse.fileHeaderByteCount + 80) })
    }

    /// As above: runs that do not begin with the page, or not one behind the other.
    @Test func pagesOfRunsThatContradictThemselvesAreRefused() throws {
        let (source, section) = try write(try smallIndex())
        let entry = Int(section.offset) + 48
        let length = Int(source.bytes[entry]) + Int(source.bytes[entry + 1]) << 8
        try #require(length == 3 * PageLoader.runByteCount)
        func isRead(_ starts: [UInt16]) throws -> Bool {
            var bytes = source.bytes
            for (run, start) in starts.enumerated() { put(start, into: &bytes, at: run * 2) }
            let crc = bytes.withUnsafeBytes {
                PageChecksum.of(UnsafeRawBufferPointer(rebasing: $0[..<length]), key: 0)
            }
            put(crc, into: &bytes, at: entry + 2)
            resealDirectory(&bytes, section)
            let index = try ObjectIndex.load(section, from: IndexTestSource(bytes))
            return (try? index.location(of: 1)) != nil
        }
        #expect(try isRead([0, 1, 301]))
        #expect(try isRead([0, 1, UInt16(IndexNode.keysPerPage - 1)]))
        #expect(try !isRead([0, 1, UInt16(IndexNode.keysPerPage)]))
        #expect(try !isRead([1, 2, 301]))
        #expect(try !isRead([0, 301, 1]))
        #expect(try !isRead([0, 1, 1]))
    }

    /// A directory's own checksum is not one of its fields.
    @Test func directoriesAreReadWithinTheirBounds() throws {
        func reader(_ section: CheckpointSection) throws(StoreError) -> SectionReader {
            var bytes: [UInt8] = [1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
            if section.offset == 0, section.byteCount >= 4 { resealDirectory(&bytes, section) }
            return try SectionReader(section, from: IndexTestSource(bytes), of: "a test")
        }
        var numbers = try reader(CheckpointSection(offset: 0, byteCount: 10))
        #expect(try numbers.next(UInt32.self) == 1)
        let atEnd = numbers
        #expect(try numbers.next(UInt16.self) == 2 && numbers.remainingByteCount == 0)
        for field in [2, 4, 8] {
            var reader = field == 2 ? numbers : atEnd
            let error = #expect(throws: StoreError.self) {
                switch field {
                case 2: _ = try reader.next(UInt16.self)
                case 4: _ = try reader.next(UInt32.self)
                default: _ = try reader.bytes(3)
                }
            }
            #expect(error?.message.hasSuffix("it ends too early") == true)
        }
        for (offset, byteCount) in [(-1, 10), (0, 3), (0, -1)] as [(Int64, Int)] {
            let error = #expect(throws: StoreError.self) {
                try reader(CheckpointSection(offset: offset, byteCount: byteCount))
            }
            #expect(error?.message.contains("impossible bounds") == true, "\(offset), \(byteCount)")
        }
    }

    @Test func bytesThatMeanHarmGiveErrorsOrSomeIndex() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let (source, section) = try write(try smallIndex())
        let directory = Int(section.offset)..<(Int(section.offset) + section.byteCount - 4)
        var (read, refused) = (0, 0)
        for _ in 0..<3000 {
            var bytes = source.bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: directory, using: &random)] = .random(in: 0...255, using: &random)
            }
            resealDirectory(&bytes, section)
            guard let index = try? ObjectIndex.load(section, from: IndexTestSource(bytes)) else {
                refused += 1
                continue
            }
            if (try? index.contents()) != nil { read += 1 }
            _ = try? index.location(of: 5)
            _ = try? index.encode(into: IndexTestSink())
        }
        // The first page: its checksum is at byte 24 + 24 + 2 of the directory, its length is 10 bytes a run.
        let first = Int(section.offset) + 48
        let length = Int(source.bytes[first]) + Int(source.bytes[first + 1]) << 8
        for _ in 0..<3000 {
            var bytes = source.bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 0..<length, using: &random)] = .random(in: 0...255, using: &random)
            }
            let crc = bytes.withUnsafeBytes {
                PageChecksum.of(UnsafeRawBufferPointer(rebasing: $0[..<length]), key: 0)
            }
            withUnsafeBytes(of: crc.littleEndian) { bytes.replaceSubrange(first + 2..<first + 6, with: $0) }
            resealDirectory(&bytes, section)
            let index = try ObjectIndex.load(section, from: IndexTestSource(bytes))
            if (try? index.contents()) == nil { refused += 1 } else { read += 1 }
            for key in stride(from: UInt64(1), to: 512, by: 50) { _ = try? index.location(of: key) }
        }
        // A test that meets only one of both proves little.
        #expect(read > 100 && refused > 100, "\(read) read, \(refused) refused")
    }
}

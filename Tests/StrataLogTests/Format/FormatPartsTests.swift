import StrataTestKit
import Testing

@testable import StrataLog

@Suite struct FormatPartsTests {
    @Test func packedIntegersUnpack() {
        var random = SeededGenerator(seed: 1)
        for bits in 0...BitPacking.bitsMaximum {
            for count in [0, 1, 7, 8, 9, 63, 64, 65, 200] {
                let values = (0..<count).map { _ in bits == 0 ? 0 : random.next() >> UInt64(64 - bits) }
                let capacity = BitPacking.byteCount(count, bits: bits) + BitPacking.slackBytes
                withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 8) { buffer in
                    let written = BitPacking.pack(count: count, bits: bits, into: buffer.baseAddress!) { values[$0] }
                    #expect(written == BitPacking.byteCount(count, bits: bits))
                    var found: [UInt64] = []
                    BitPacking.forEach(buffer.baseAddress!, count: count, bits: bits) { _, value in found.append(value)
                    }
                    #expect(found == values)
                }
            }
        }
    }

    @Test func lz4RefusesWhatIsNotLZ4() {
        var random = SeededGenerator(seed: 2)
        var refused = 0
        for _ in 0..<5_000 {
            let source = (0..<random.below(60)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let targetCount = random.below(400)
            withUnsafeTemporaryAllocation(byteCount: 416, alignment: 8) { target in
                target.initializeMemory(as: UInt8.self, repeating: 0xA5)
                let isWhole = source.withUnsafeBytes {
                    LZ4.decompress(
                        $0.baseAddress ?? UnsafeRawPointer(target.baseAddress!), count: $0.count,
                        into: target.baseAddress!, targetCount: targetCount)
                }
                if !isWhole { refused += 1 }
                #expect(target[targetCount...].allSatisfy { $0 == 0xA5 })
            }
        }
        #expect(refused > 4_500)
    }

    /// LZ4 counts with 32 bits: the number of bytes would have trapped.
    @Test func lz4IsNotAskedForWhatItCannotCount() {
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { bytes in
            let start = bytes.baseAddress!
            #expect(LZ4.compress(start, count: Int(Int32.max), into: start, capacity: 16) == nil)
            #expect(LZ4.compress(start, count: Int(Int32.max) + 1, into: start, capacity: 16) == nil)
            #expect(!LZ4.decompress(start, count: Int(Int32.max) + 1, into: start + 8, targetCount: 8))
            #expect(!LZ4.decompress(start, count: 8, into: start + 8, targetCount: Int(Int32.max) + 1))
        }
    }

    @Test func checksumsAreCRC32C() {
        let digits = Array("123456789".utf8)
        let crc = digits.withUnsafeBytes { checksum($0.baseAddress!, count: $0.count) }
        #expect(crc == 0xE306_9283)
    }

    /// No value has more bits than 64; with more, the first step behind them would have trapped.
    @Test func integerColumnsWiderThanTheirValuesAreRefused() throws {
        for (width, isRead) in [(64, true), (65, false), (200, false)] as [(UInt8, Bool)] {
            let bytes = [width] + [UInt8](repeating: 0, count: 200)
            for skips in [false, true] {
                let result: Void? = try? bytes.withBytes { bytes throws(MalformedBytes) in
                    var reader = ByteReader(bytes)
                    if skips { return try IntegerColumn.skip(count: 4, in: &reader) }
                    _ = try IntegerColumn.read(count: 4, from: &reader)
                }
                #expect((result != nil) == isRead, "width \(width), skips \(skips)")
            }
        }
    }

    /// The number of their bits is no number any more, or a small one.
    @Test(arguments: [(1 << 58) + 1, 1 << 62, .max]) func integerColumnsOfImpossibleCountsAreRefused(count: Int) {
        let bytes = [64] + [UInt8](repeating: 0, count: 200)
        for skips in [false, true] {
            let result: Void? = try? bytes.withBytes { bytes throws(MalformedBytes) in
                var reader = ByteReader(bytes)
                if skips { return try IntegerColumn.skip(count: count, in: &reader) }
                _ = try IntegerColumn.read(count: count, from: &reader)
            }
            #expect(result == nil, "skips \(skips)")
        }
    }

    /// Lengths that no value and no block has are refused by the header, before anybody makes a number of them.
    @Test(arguments: [.max, 1 << 63, 1 << 32] as [UInt64]) func impossibleLengthsAreRefused(_ length: UInt64) throws {
        let address = LogAddress(storeUUID: StoreUUID(high: 1, low: 2), segment: 3, offset: 4096, sequence: 5)
        for offset in [8, 16] {
            var bytes = [UInt8](repeating: 7, count: 100_000).withUnsafeBytes { LargeValue.encode($0) }
            bytes.withUnsafeMutableBytes {
                $0.storeBytes(of: length.littleEndian, toByteOffset: offset, as: UInt64.self)
            }
            _ = LargeValue.stamp(&bytes, at: address)
            #expect(bytes.withUnsafeBytes { LargeValue.verify($0, at: address) } == nil, "offset \(offset)")
        }
        var block = stamped(encode([], makeLayout([.int32]))).bytes
        let longest = BlockHeader.byteCountMaximum / Location.alignmentBytes * Location.alignmentBytes
        for (byteCount, isRead) in [
            (longest, true), (longest + Location.alignmentBytes, false), (BlockHeader.minimumBytes, true), (0, false),
            (BlockHeader.minimumBytes + 1, false),
        ] {
            block.withUnsafeMutableBytes {
                $0.storeBytes(
                    of: UInt32(byteCount).littleEndian, toByteOffset: BlockFormat.Header.totalLength, as: UInt32.self)
            }
            #expect((block.withUnsafeBytes { BlockHeader.unverifiedByteCount($0) } != nil) == isRead)
        }
    }

    /// Every byte that a slot of the manifest has, reserved ones too.
    @Test func aManifestIsReadAsItWasWritten() {
        let manifest = Manifest(
            number: 7, storeUUID: StoreUUID(high: 1, low: 2), segment: 3, checkpoint: 4,
            durable: LogPosition(segment: 3, offset: 4096))
        let bytes = manifest.encoded()
        #expect(bytes.withUnsafeBytes { Manifest($0) } == manifest)
        for offset in 0..<60 {
            var damaged = bytes
            damaged[offset] ^= 1
            #expect(damaged.withUnsafeBytes { Manifest($0) } == nil, "byte \(offset)")
        }
    }

    @Test func aSegmentsHeaderIsReadAsItWasWritten() throws {
        let header = SegmentHeader(
            storeUUID: StoreUUID(high: 1, low: 2), segment: 3, previousSegment: 2, previousValidByteCount: 4096,
            previousSequence: 9, previousChecksum: 5)
        let bytes = header.encoded()
        #expect(try bytes.withBytes { bytes throws(StoreError) in try SegmentHeader(bytes, segment: 3) }.segment == 3)
        for offset in 0..<SegmentHeader.byteCount {
            var damaged = bytes
            damaged[offset] ^= 1
            let error = #expect(throws: StoreError.self, "byte \(offset)") {
                try damaged.withBytes { bytes throws(StoreError) in try SegmentHeader(bytes, segment: 3) }
            }
            #expect(error?.code == .corruption, "byte \(offset)")
        }
    }

    /// At its place and nowhere else, and with the header that it was written with.
    @Test func aLargeValueIsReadAsItWasWritten() {
        var bytes = [UInt8](repeating: 7, count: 100_000).withUnsafeBytes { LargeValue.encode($0) }
        let place = LogAddress(storeUUID: StoreUUID(high: 1, low: 2), segment: 3, offset: 4096, sequence: 5)
        let crc = LargeValue.stamp(&bytes, at: place)
        #expect(bytes.withUnsafeBytes { LargeValue.verify($0, at: place) } == crc)
        var others = [place, place, place, place]
        others[0].storeUUID = StoreUUID(high: 1, low: 3)
        others[1].segment = 4
        others[2].offset = 8192
        others[3].sequence = 6
        for other in others { #expect(bytes.withUnsafeBytes { LargeValue.verify($0, at: other) } == nil) }
        for offset in Array(0..<36) + [LargeValue.headerByteCount, LargeValue.headerByteCount + 100] {
            var damaged = bytes
            damaged[offset] ^= 1
            #expect(damaged.withUnsafeBytes { LargeValue.verify($0, at: place) } == nil, "byte \(offset)")
        }
    }

    /// What follows in memory does not belong to it.
    @Test func aLargeValueThatIsCutOffIsRefused() {
        let place = LogAddress(storeUUID: StoreUUID(high: 1, low: 2), segment: 3, offset: 4096, sequence: 5)
        var random = SeededGenerator(seed: 4)
        let value = (0..<1_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        var bytes = value.withUnsafeBytes { LargeValue.encode($0) }
        _ = LargeValue.stamp(&bytes, at: place)
        bytes.withUnsafeBytes { whole in
            #expect(LargeValue.verify(whole, at: place) != nil && LargeValue.decode(whole) == value)
            for count in [0, LargeValue.headerByteCount - 1, LargeValue.headerByteCount, 1_063] {
                let part = UnsafeRawBufferPointer(rebasing: whole[..<count])
                #expect((LargeValue.Header(part) != nil) == (count >= LargeValue.headerByteCount))
                #expect(LargeValue.verify(part, at: place) == nil && LargeValue.decode(part) == nil, "\(count) bytes")
            }
        }
    }

    /// What is missing would be zeros.
    @Test(arguments: [(99_999, false), (100_000, true), (100_001, false), (300_000, false)])
    func aLargeValueOfAnotherLengthIsRefused(byteCount: Int, isRead: Bool) {
        var bytes = [UInt8](repeating: 7, count: 100_000).withUnsafeBytes { LargeValue.encode($0) }
        #expect(bytes.count < 2_000)
        put(UInt64(byteCount), into: &bytes, at: 8)
        #expect((bytes.withUnsafeBytes { LargeValue.decode($0) } != nil) == isRead)
    }

    @Test(arguments: [(0, true), (1, true), (2, false), (.max, false)] as [(codec: UInt32, isRead: Bool)])
    func aLargeValueOfAnUnknownCodecIsRefused(codec: UInt32, isRead: Bool) {
        let place = LogAddress(storeUUID: StoreUUID(high: 1, low: 2), segment: 3, offset: 4096, sequence: 5)
        var bytes = [UInt8](repeating: 7, count: 1_000).withUnsafeBytes { LargeValue.encode($0) }
        put(codec, into: &bytes, at: 4)
        _ = LargeValue.stamp(&bytes, at: place)
        #expect((bytes.withUnsafeBytes { LargeValue.verify($0, at: place) } != nil) == isRead)
    }

    /// They would make a block longer than any reader takes.
    @Test(arguments: [(BlockFormat.inlineMaximumBytes, true), (BlockFormat.inlineMaximumBytes + 1, false)])
    func longTextIsNotStoredInItsRow(byteCount: Int, isStored: Bool) {
        let buffer = RowBuffer(layout: makeLayout([.string]), schemaVersion: 5)
        var text = String(repeating: "x", count: byteCount)
        buffer.beginRow(key: 1)
        #expect(withUnsafeMutablePointer(to: &text) { buffer.row.set(0, stringAt: $0) } == isStored)
        buffer.endRow()
        #expect((buffer.rawByteCount >= byteCount) == isStored)
    }

    @Test func slotSetsBehaveLikeSets() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            var model: Set<Int> = []
            var other: Set<Int> = []
            for _ in 0..<random.below(20) { model.insert(random.below(random.chance(percent: 50) ? 64 : 300)) }
            for _ in 0..<random.below(20) { other.insert(random.below(random.chance(percent: 50) ? 64 : 300)) }
            let set = SlotSet(model)
            #expect(set.slots == model.sorted())
            #expect(set.count == model.count && set.isEmpty == model.isEmpty)
            #expect((0..<310).allSatisfy { set.contains($0) == model.contains($0) })
            #expect(!set.contains(-1))
            #expect(set.union(SlotSet(other)) == SlotSet(model.union(other)))
            #expect(SlotSet(words: set.words + [0, 0]) == set)
            #expect(SlotSet(words: set.words).hashValue == set.hashValue)
        }
    }

    @Test func headersAreReadWithoutTheRows() throws {
        let layout = makeLayout([.string, .int16])
        let rows = (0..<30).map {
            FormatRow(key: UInt64(1_000 + $0), sequence: nil, values: [.bytes([1, 2]), .int16(Int16($0))])
        }
        let bytes = stamped(encode(rows, layout)).bytes
        try bytes.withUnsafeBytes { buffer in
            #expect(BlockHeader.unverifiedByteCount(UnsafeRawBufferPointer(rebasing: buffer[..<64])) == bytes.count)
            let header = try BlockHeader(
                parsing: buffer, location: FormatPosition.location, storeUUID: FormatPosition.storeUUID)
            #expect(header.entity == 3 && header.schemaVersion == 5 && header.rowCount == 30 && header.slotCount == 2)
            #expect(header.firstKey == 1_000 && !header.hasStoredKeys && !header.hasStoredSequences)
            #expect(header.sequence == FormatPosition.sequence && header.byteCount == bytes.count)
        }
        for count in 0..<BlockHeader.minimumBytes {
            #expect(bytes[..<count].withUnsafeBytes { BlockHeader.unverifiedByteCount($0) } == nil, "\(count) bytes")
        }
    }

    @Test func slotsThatDoNotShrinkAreLeftAloneForAWhile() {
        let advice = CompressionAdvice(slotCount: 2)
        advice.didNotShrink(0)
        var tries = 0
        for _ in 0..<32 where advice.shouldTry(0) {
            tries += 1
            advice.didNotShrink(0)
        }
        #expect(tries == 2)
        #expect(advice.shouldTry(1))
    }

    @Test func columnsCanBeDecodedByManyThreadsAtOnce() async throws {
        var generator = FormatGenerator(seed: 40)
        for _ in 0..<40 {
            let layout = makeLayout([.string, .int64, .double, .bool, .data, .uuid, .int16])
            let rows = generator.rows(layout, count: 60)
            let block = try load(stamped(encode(rows, layout)).bytes, layout)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for task in 0..<6 {
                    group.addTask {
                        if task == 3 { try block.verify() }
                        return try StrataLogTests.rows(of: block) == rows
                    }
                }
                for try await isEqual in group { #expect(isEqual) }
            }
        }
    }

    @Test func encodingCanHappenOnAnotherThread() async throws {
        var generator = FormatGenerator(seed: 41)
        let layout = makeLayout([.string, .int64, .data])
        let buffer = RowBuffer(layout: layout, schemaVersion: 5)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<30 {
                let rows = generator.rows(layout, count: 100)
                append(rows, to: buffer)
                let pending = buffer.take()
                group.addTask {
                    try StrataLogTests.rows(of: load(stamped(pending.encode()).bytes, layout)) == rows
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }
}

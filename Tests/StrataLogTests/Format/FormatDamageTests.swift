import StrataTestKit
import Testing

@testable import StrataLog

@Suite struct FormatDamageTests {
    /// Small blocks of every layout and encoding.
    private func samples(_ count: Int, seed: UInt64) -> [(layout: EntityLayout, rows: [FormatRow], bytes: [UInt8])] {
        var generator = FormatGenerator(seed: seed)
        return (0..<count).map { index in
            let layout = generator.layout(slotsMaximum: 6)
            let rows = generator.rows(layout, count: [0, 1, 3, 16, 20, 40][index % 6])
            return (layout, rows, stamped(encode(rows, layout)).bytes)
        }
    }

    /// Reads everything that can be read; nil when the block is refused.
    private func readAll(_ bytes: [UInt8], _ layout: EntityLayout) -> [FormatRow]? {
        do {
            return try rows(of: load(bytes, layout))
        } catch {
            #expect(error.code == .corruption || error.code == .unsupportedFormat)
            if error.code == .corruption {
                #expect(error.segment == FormatPosition.location.segment)
                #expect(error.offset == FormatPosition.location.byteOffset)
            }
            return nil
        }
    }

    @Test func everyFlippedByteGivesTheRowsOrAnError() {
        var refused = 0
        for sample in samples(24, seed: 3) where sample.bytes.count < 2_048 {
            for index in sample.bytes.indices {
                var bytes = sample.bytes
                bytes[index] ^= UInt8(1 << (index % 8))
                if let found = readAll(bytes, sample.layout) {
                    #expect(found == sample.rows, "byte \(index)")
                } else {
                    refused += 1
                }
            }
        }
        #expect(refused > 1_000)
    }

    @Test func verifyFindsWhatReadingFinds() throws {
        for sample in samples(24, seed: 4) where sample.bytes.count < 1_024 {
            for index in sample.bytes.indices {
                var bytes = sample.bytes
                bytes[index] ^= 0x40
                let reads = readAll(bytes, sample.layout) != nil
                let verifies: Bool
                do {
                    try load(bytes, sample.layout).verify()
                    verifies = true
                } catch {
                    verifies = false
                }
                #expect(reads == verifies, "byte \(index)")
            }
        }
    }

    @Test func everyTruncationIsRefused() {
        for sample in samples(12, seed: 5) {
            for count in stride(from: 0, to: sample.bytes.count, by: sample.bytes.count > 2_000 ? 37 : 1) {
                #expect(readAll(Array(sample.bytes[..<count]), sample.layout) == nil)
            }
        }
    }

    @Test func bytesAfterTheBlockDoNotMatter() throws {
        for sample in samples(12, seed: 6) {
            #expect(readAll(sample.bytes + [1, 2, 3], sample.layout) == sample.rows)
        }
    }

    @Test func aBlockAtAnotherPlaceIsRefused() throws {
        let layout = makeLayout([.int32])
        let rows = [FormatRow(key: 1, sequence: nil, values: [.int32(5)])]
        let bytes = stamped(encode(rows, layout)).bytes
        _ = try load(bytes, layout)
        #expect(throws: StoreError.self) {
            try load(bytes, layout, at: Location(segment: 8, byteOffset: 4_096, row: 0))
        }
        #expect(throws: StoreError.self) {
            try load(bytes, layout, at: Location(segment: 7, byteOffset: 4_160, row: 0))
        }
        #expect(throws: StoreError.self) { try load(bytes, layout, storeUUID: StoreUUID(high: 1, low: 2)) }
        var stale = bytes
        stale[BlockFormat.Header.sequence] &+= 1
        #expect(throws: StoreError.self) { try load(stale, layout) }
        #expect(throws: StoreError.self) { try load(encode(rows, layout).bytes, layout) }
    }

    @Test func aBlockOfAnUnknownSchemaIsRefused() {
        let layout = makeLayout([.int32, .string])
        let bytes = stamped(encode([], layout)).bytes
        #expect(throws: StoreError.self) { try load(bytes, makeLayout([.int32])) }
        var other = layout
        other.id = 4
        #expect(throws: StoreError.self) { try load(bytes, other) }
    }

    @Test func laterFeaturesAreNamedAsSuch() throws {
        let layout = makeLayout([.int32])
        typealias Field = BlockFormat.Header
        for (offset, byte) in [
            (Field.flags + 1, 0x80 as UInt8), (Field.cipherNonce, 1), (Field.reserved16, 1), (Field.reserved32, 1),
        ] {
            var bytes = stamped(encode([FormatRow(key: 1, sequence: nil, values: [.null])], layout)).bytes
            bytes[offset] = byte
            restamp(&bytes)
            let error = #expect(throws: StoreError.self) { try load(bytes, layout) }
            #expect(error?.code == .unsupportedFormat)
        }
    }

    /// Memory is taken for as many columns and bytes as a header names.
    @Test func headersOfMoreThanABlockHoldsAreRefused() throws {
        let rows = [FormatRow(key: 1, sequence: nil, values: [.int32(5)])]
        let sound = stamped(encode(rows, makeLayout([.int32]))).bytes
        func isRead(_ change: (UnsafeMutableRawBufferPointer) -> Void) throws -> Bool {
            var bytes = sound
            bytes.withUnsafeMutableBytes(change)
            restamp(&bytes)
            do {
                _ = try bytes.withBytes { bytes throws(StoreError) in
                    try BlockHeader(
                        parsing: bytes, location: FormatPosition.location, storeUUID: FormatPosition.storeUUID)
                }
                return true
            } catch {
                #expect(error.code == .corruption)
                return false
            }
        }
        for (count, expected) in [(Schema.maximumSlots, true), (Schema.maximumSlots + 1, false)] {
            #expect(
                try isRead {
                    $0.storeBytes(of: UInt16(count), toByteOffset: BlockFormat.Header.slotCount, as: UInt16.self)
                } == expected)
        }
        let most = BlockFormat.decodedMaximumBytes
        for (count, expected) in [(most, true), (most + 1, false)] {
            #expect(
                try isRead {
                    $0.storeBytes(of: UInt32(count), toByteOffset: BlockFormat.Header.decodedLength, as: UInt32.self)
                } == expected)
        }
    }

    @Test func aDescriptorWithReservedBitsIsRefused() throws {
        let layout = makeLayout([.int32])
        let rows = (0..<2_000).map { FormatRow(key: UInt64($0 + 1), sequence: nil, values: [.int32(Int32($0 * $0))]) }
        let sound = stamped(encode(rows, layout)).bytes
        try #require(sound[BlockFormat.Header.flags] & 1 == 0, "the block has descriptors")
        for (field, bit) in [(BlockFormat.Descriptor.reserved, 1 as UInt8), (BlockFormat.Descriptor.flags, 0x80)] {
            var bytes = sound
            bytes[BlockFormat.headerBytes + field] |= bit
            restamp(&bytes)
            #expect(throws: StoreError.self, "byte \(field)") { try load(bytes, layout).verify() }
        }
    }

    /// Mutated blocks with their checksums made right again, as a forger would.
    @Test func forgedBlocksNeverTrap() {
        let seed: UInt64 = 77
        var random = SeededGenerator(seed: seed)
        let samples = samples(48, seed: 8).filter { $0.bytes.count < 4_096 }
        var refused = 0
        let count = BuildMode.isDebug ? 10_000 : 100_000
        for _ in 0..<count {
            let sample = samples[random.below(samples.count)]
            var bytes = sample.bytes
            let headerEnd = min(
                bytes.count, random.chance(percent: 70) ? 64 + 40 * (sample.layout.slots.count + 2) : bytes.count)
            for _ in 0..<(1 + random.below(3)) {
                let index = random.below(headerEnd)
                bytes[index] =
                    random.chance(percent: 50)
                    ? UInt8(truncatingIfNeeded: random.next()) : [0, 1, 0xFF, 0x7F][random.below(4)]
            }
            restampChunks(&bytes)
            restamp(&bytes)
            if touch(bytes, sample.layout, verifyFirst: random.chance(percent: 50)) == nil { refused += 1 }
        }
        // Enough get past the header that the decoders are reached.
        #expect(refused > count / 10 && refused < count / 10 * 9, "seed \(seed): \(refused) of \(count) refused")
    }

    /// Such a column read as nulls without a word, and went on doing so.
    @Test func aForgedColumnIsDamageOnceItHasBeenRead() throws {
        let layout = makeLayout([.int64, .string])
        let buffer = RowBuffer(layout: layout, schemaVersion: 5)
        for row in 0..<400 {
            buffer.beginRow(key: UInt64(row + 1))
            buffer.set(0, Int64(row))
            buffer.set(1, "the same text again and again, \(row % 5)")
            buffer.endRow()
        }
        let sound = stamped(buffer.take().encode()).bytes
        let slot = 1
        var found = 0
        // Wherever the column's bytes end, what decodes them finds out at the end.
        for start in stride(from: 64 + 40 * 2, to: sound.count - 64, by: 16) {
            var bytes = sound
            for index in start..<start + 64 { bytes[index] = 0xFF }
            restampChunks(&bytes)
            restamp(&bytes)
            guard let block = try? load(bytes, layout), (try? block.verify()) != nil,
                (try? load(bytes, layout).column(slot)) == nil
            else { continue }
            found += 1
            let damage = DamagedLocations()
            block.tell(damage)
            for _ in 0..<3 { #expect(block.verifiedColumn(slot).isNull(3)) }
            #expect(damage.count == 1 && damage.entries.first?.spot.offset == FormatPosition.location.byteOffset)
            #expect(throws: StoreError.self) { try block.column(slot) }
            #expect(throws: StoreError.self) { try block.verify() }
            // Others of the block are read as before.
            #expect(block.verifiedColumn(0).int64(7) == 7)
        }
        #expect(found > 0)
    }

    /// Whoever listens takes note; what nobody takes is noted all the same.
    @Test func damageIsToldToWhoListens() {
        let error = StoreError(.corruption, "a test", segment: 1, offset: 64)
        let (kept, passed) = (DamagedLocations(), DamagedLocations())
        kept.listen { _ in true }
        passed.listen { _ in false }
        for places in [kept, passed] { places.meet(error) }
        #expect(kept.isEmpty && passed.count == 1)
    }

    /// Reads every value and zone; nil when refused.
    private func touch(_ bytes: [UInt8], _ layout: EntityLayout, verifyFirst: Bool) -> Int? {
        guard let block = try? load(bytes, layout) else { return nil }
        var sum = block.estimatedByteCount
        do {
            if verifyFirst { try block.verify() }
            for slot in 0..<block.slotCount {
                let view = verifyFirst ? block.verifiedColumn(slot) : try block.column(slot)
                if block.zone(slot) != nil { sum += 1 }
                for row in 0..<block.rowCount {
                    sum += view.isNull(row) ? 1 : 0
                    if view.isExternal(row) { sum &+= Int(view.external(row).flags) }
                    if view.width == 0 { sum += view.bytes(row).reduce(0) { $0 + Int($1) } }
                    sum &+= value(view, row) == .null ? 1 : 0
                }
            }
            for row in 0..<block.rowCount { sum &+= block.ref(row).hashValue }
        } catch {
            return nil
        }
        return sum
    }

    private func restamp(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { buffer in
            let start = buffer.baseAddress!
            let flags = BlockFormat.BlockFlags(
                rawValue: start.load(fromByteOffset: BlockFormat.Header.flags, as: UInt16.self))
            let slots = Int(start.load(fromByteOffset: BlockFormat.Header.slotCount, as: UInt16.self))
            let columns =
                flags.contains(.plain)
                ? 0 : slots + (flags.contains(.keys) ? 1 : 0) + (flags.contains(.sequences) ? 1 : 0)
            let length = min(buffer.count, 64 + columns * BlockFormat.descriptorBytes)
            let crc = BlockHeader.checksum(
                start, headerByteCount: length,
                address: LogAddress(
                    storeUUID: FormatPosition.storeUUID, segment: FormatPosition.location.segment,
                    offset: FormatPosition.location.byteOffset,
                    sequence: start.load(fromByteOffset: BlockFormat.Header.sequence, as: UInt64.self)))
            start.storeBytes(of: crc, toByteOffset: BlockFormat.Header.checksum, as: UInt32.self)
        }
    }

    private func restampChunks(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { buffer in
            let start = buffer.baseAddress!
            func word(_ offset: Int) -> Int { Int(start.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
            let payload = word(BlockFormat.Header.payloadLength)
            if payload <= buffer.count - 64 {
                start.storeBytes(
                    of: checksum(start + 64, count: payload),
                    toByteOffset: BlockFormat.Header.payloadChecksum, as: UInt32.self)
            }
            guard start[BlockFormat.Header.flags] & 1 == 0 else { return }
            var position = 64
            while position + 40 <= buffer.count {
                let offset = word(position + BlockFormat.Descriptor.offset)
                let length = word(position + BlockFormat.Descriptor.storedLength)
                if offset <= buffer.count, length <= buffer.count - offset, offset >= position {
                    start.storeBytes(
                        of: checksum(start + offset, count: length),
                        toByteOffset: position + BlockFormat.Descriptor.checksum, as: UInt32.self)
                } else {
                    break
                }
                position += 40
            }
        }
    }
}

extension UnsafeMutableRawPointer {
    fileprivate subscript(offset: Int) -> UInt8 { load(fromByteOffset: offset, as: UInt8.self) }
}

import StrataTestKit
import Testing

@testable import StrataLog

@Suite struct FormatRoundTripTests {
    private func check(_ rows: [FormatRow], _ layout: EntityLayout, _ comment: Comment? = nil) throws {
        let block = try load(stamped(encode(rows, layout)).bytes, layout)
        #expect(block.rowCount == rows.count, comment)
        try block.verify()
        #expect(try StrataLogTests.rows(of: block) == rows, comment)
        for slot in 0..<block.slotCount {
            let view = block.verifiedColumn(slot)
            for row in 0..<block.rowCount where view.isNull(row) {
                #expect(nullReadsAsNothing(view, row), comment)
            }
        }
    }

    @Test(arguments: ValueKind.allCases, [0, 1, 2, 15, 16, 17, 64, 215, 4_096])
    func everyKindRoundTrips(kind: ValueKind, count: Int) throws {
        var generator = FormatGenerator(seed: UInt64(kind.rawValue) << 32 | UInt64(count))
        for _ in 0..<(count > 1_000 ? 2 : 8) {
            let layout = makeLayout([kind, .int32, kind])
            try check(generator.rows(layout, count: count), layout, "\(kind) x \(count)")
        }
    }

    @Test func randomSchemasAndRowsRoundTrip() throws {
        let seed: UInt64 = 20_240_601
        var generator = FormatGenerator(seed: seed)
        for round in 0..<2_500 {
            let layout = generator.layout()
            let count = [0, 1, 3, 15, 16, 40, 100][generator.random.below(7)]
            try check(generator.rows(layout, count: count), layout, "seed \(seed), round \(round)")
        }
    }

    @Test func specialRealsKeepTheirBits() throws {
        let patterns: [UInt64] = [
            0, 1 << 63, 0x7FF0_0000_0000_0000, 0xFFF0_0000_0000_0000, 0x7FF8_0000_0000_1234, 0x7FF0_0000_0000_0001,
            0xFFFF_FFFF_FFFF_FFFF, Double(9_007_199_254_740_992).bitPattern, Double(9_007_199_254_740_991).bitPattern,
            1,
        ]
        let layout = makeLayout([.double, .float, .date])
        for pattern in patterns {
            for count in [1, 20, 100] {
                for neighbour in [pattern, Double(3).bitPattern] {
                    let rows = (0..<count).map { row in
                        let bits = row % 2 == 0 ? pattern : neighbour
                        return FormatRow(
                            key: UInt64(row + 1), sequence: nil,
                            values: [.double(bits), .float(UInt32(bits >> 32)), .double(bits)])
                    }
                    try check(rows, layout)
                }
            }
        }
    }

    @Test func integerRangesOfEveryWidthRoundTrip() throws {
        let layout = makeLayout([.int64, .reference])
        for bits in 0...64 {
            for base in [Int64.min, -1, 0, 12_345] {
                let range = bits == 0 ? 0 : UInt64.max >> UInt64(64 - bits)
                let greatest = base &+ Int64(bitPattern: range)
                let rows = (0..<33).map { row in
                    let value = [base, greatest, base &+ Int64(bitPattern: range / 2)][row % 3]
                    return FormatRow(
                        key: UInt64(row + 1), sequence: nil,
                        values: [.int64(value), .reference(UInt64(bitPattern: value))])
                }
                try check(rows, layout, "\(bits) bits from \(base)")
            }
        }
    }

    /// Packing them would gain nothing, and keep them from being compressed.
    @Test func integersThatNeedAllTheirBitsAreCompressed() throws {
        let layout = makeLayout([.int32])
        let rows = (0..<1_000).map {
            FormatRow(key: UInt64($0 + 1), sequence: nil, values: [.int32($0 % 2 == 0 ? .min : .max)])
        }
        try check(rows, layout)
        #expect(stamped(encode(rows, layout)).bytes.count < 1_000)
    }

    @Test func theLastValueSetCounts() throws {
        let layout = makeLayout([.string, .int32, .bool, .string])
        let buffer = RowBuffer(layout: layout, schemaVersion: 5)
        for row in 0..<40 {
            buffer.beginRow(key: UInt64(row) + 1)
            buffer.set(3, "first")
            buffer.set(0, external: .pending(number: 1, byteCount: 1))
            buffer.set(1, 4 as Int32)
            buffer.set(0, "first \(row)")
            buffer.set(0, "second")
            buffer.set(1, Int32(row))
            buffer.setNull(3)
            if row % 2 == 0 { buffer.set(3, "third") }
            buffer.endRow()
        }
        #expect(buffer.rawByteCount == 40 * (1 + 4 + 1 + 1) + 40 * 6 + 20 * 5)
        let block = try load(stamped(buffer.take().encode()).bytes, layout)
        for (row, values) in try rows(of: block).map(\.values).enumerated() {
            #expect(
                values == [
                    .bytes(Array("second".utf8)), .int32(Int32(row)), .null,
                    row % 2 == 0 ? .bytes(Array("third".utf8)) : .null,
                ])
        }
        #expect(buffer.rowCount == 0 && buffer.rawByteCount == 0)
    }

    @Test func aBufferCanBeUsedAgainAfterTake() throws {
        var generator = FormatGenerator(seed: 5)
        let layout = makeLayout([.int64, .string, .double, .data])
        let buffer = RowBuffer(layout: layout, schemaVersion: 5)
        for count in [3, 500, 0, 30, 1] {
            let rows = generator.rows(layout, count: count)
            append(rows, to: buffer)
            let pending = buffer.take()
            #expect(pending.rowCount == count)
            for (index, row) in rows.enumerated() { #expect(pending.key(index) == row.key) }
            #expect(try StrataLogTests.rows(of: load(stamped(pending.encode()).bytes, layout)) == rows)
        }
    }

    @Test func buffersAskToBeCut() {
        let buffer = RowBuffer(layout: makeLayout([.bool, .string]), schemaVersion: 1)
        let text = String(repeating: "x", count: 1_000)
        for row in 0..<33 {
            #expect(buffer.shouldCut == (buffer.rawByteCount >= 32 << 10))
            buffer.beginRow(key: UInt64(row + 1))
            buffer.set(1, text)
            buffer.endRow()
        }
        #expect(buffer.shouldCut)
        _ = buffer.take()
        for row in 0..<4_096 {
            #expect(!buffer.shouldCut)
            buffer.beginRow(key: UInt64(row + 1))
            buffer.endRow()
        }
        #expect(buffer.shouldCut)
        #expect(buffer.fitsInline(64 << 10) && !buffer.fitsInline((64 << 10) + 1))
    }

    @Test func rowsWithoutSlotsKeepTheirKeys() throws {
        let layout = makeLayout([])
        for count in [1, 40] {
            let rows = (0..<count).map { FormatRow(key: UInt64($0 * $0 + 1), sequence: nil, values: []) }
            try check(rows, layout)
        }
    }

    @Test func wideEntitiesRoundTrip() throws {
        var generator = FormatGenerator(seed: 11)
        for count in [1, 9, 40] {
            let layout = makeLayout((0..<4_000).map { ValueKind.allCases[$0 % ValueKind.allCases.count] })
            try check(generator.rows(layout, count: count), layout)
        }
    }

    @Test func largeValuesAndLongRowsRoundTrip() throws {
        let layout = makeLayout([.data, .string, .data])
        var random = SeededGenerator(seed: 12)
        let noise = (0..<65_536).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let text = Array(String(repeating: "lorem ipsum ", count: 5_461).utf8)
        for count in [1, 3, 30] {
            let rows = (0..<count).map {
                FormatRow(key: UInt64($0 + 1), sequence: nil, values: [.bytes(noise), .bytes(text), .bytes([])])
            }
            try check(rows, layout)
        }
    }

    @Test func copiedRowsAreEqual() throws {
        var generator = FormatGenerator(seed: 31)
        for _ in 0..<200 {
            let layout = generator.layout()
            let rows = generator.rows(layout, count: generator.random.below(60))
            let source = try load(stamped(encode(rows, layout)).bytes, layout)
            let buffer = RowBuffer(layout: layout, schemaVersion: 5)
            for index in 0..<source.rowCount { try buffer.append(row: Row(block: source, index: index)) }
            var copy = buffer.take().encode()
            copy.stamp(at: LogAddress(storeUUID: FormatPosition.storeUUID, segment: 7, offset: 4_096, sequence: 500))
            let block = try load(copy.bytes, layout)
            for index in 0..<rows.count {
                #expect(block.sequence(index) == rows[index].sequence ?? FormatPosition.sequence)
                #expect(block.key(index) == rows[index].key)
            }
            #expect(try StrataLogTests.rows(of: block).map(\.values) == rows.map(\.values))
        }
    }

    @Test func externalValuesGetTheirPlacesBeforeTheStamp() throws {
        let layout = makeLayout([.data, .int16, .string])
        for count in [2, 50] {
            let buffer = RowBuffer(layout: layout, schemaVersion: 5)
            for row in 0..<count {
                buffer.beginRow(key: UInt64(row) + 1)
                if row % 3 == 1 {
                    buffer.set(0, external: .pending(number: UInt32(row), byteCount: 70_000))
                } else {
                    [UInt8](repeating: 7, count: 30).withUnsafeBytes { buffer.set(0, bytes: $0) }
                }
                buffer.set(2, "text")
                buffer.endRow()
            }
            var encoded = buffer.take().encode()
            #expect(encoded.hasPendingExternals)
            for segment in [9 as UInt32, 10] {
                encoded.patchExternals { number in
                    ExternalValue(
                        segment: segment, byteOffset: number * 64, byteCount: 70_000, storedByteCount: 60_000,
                        checksum: 5)
                }
                let block = try load(stamped(encoded).bytes, layout)
                try block.verify()
                let view = block.verifiedColumn(0)
                for row in 0..<count {
                    #expect(view.isExternal(row) == (row % 3 == 1))
                    if row % 3 == 1 {
                        #expect(view.external(row).segment == segment)
                        #expect(view.external(row).byteOffset == UInt32(row) * 64)
                    }
                }
            }
        }
    }

    @Test func zonesCoverTheValues() throws {
        let layout = makeLayout([.int16, .double, .date, .string, .reference, .float, .bool, .double, .int64])
        var rows: [FormatRow] = []
        for row in 0..<50 {
            let whole = Double(row)
            let values: [FormatValue] = [
                row == 3 ? .null : .int16(Int16(row) - 10),
                .double(whole.bitPattern),
                .double((whole / 4).bitPattern),
                .bytes([1]),
                .reference(UInt64(row) + 5),
                .float(Float(0.5).bitPattern),
                .bool(true),
                .double(row == 9 ? Double.nan.bitPattern : whole.bitPattern),
                .null,
            ]
            rows.append(FormatRow(key: UInt64(row + 1), sequence: nil, values: values))
        }
        let block = try load(stamped(encode(rows, layout)).bytes, layout)
        #expect(block.zone(0) == .integers(min: -10, max: 39))
        #expect(block.nullCount(0) == 1)
        #expect(block.zone(1) == .reals(min: 0, max: 49))
        #expect(block.zone(2) == .reals(min: 0, max: 12.25))
        #expect(block.zone(3) == nil)
        #expect(block.zone(4) == .integers(min: 5, max: 54))
        #expect(block.zone(5) == .reals(min: 0.5, max: 0.5))
        #expect(block.zone(6) == .integers(min: 1, max: 1))
        #expect(block.zone(7) == nil)
        #expect(block.zone(8) == nil)
        #expect(block.nullCount(8) == 50)
    }

    @Test func aRowOfFewBytesCostsLittleMoreThanItsHeader() {
        let layout = makeLayout([.int16, .bool, .reference, .double, .double, .string, .string, .string])
        let values: [FormatValue] = [
            .int16(40), .bool(true), .reference(2 << 48 | 5), .double(1), .double(2),
            .bytes([UInt8](repeating: 65, count: 16)), .bytes([UInt8](repeating: 66, count: 28)),
            .bytes([UInt8](repeating: 67, count: 80)),
        ]
        #expect(encode([FormatRow(key: 5, sequence: nil, values: values)], layout).byteCount == 256)
    }
}

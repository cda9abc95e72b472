@testable import StrataLog

/// SplitMix64: the same numbers for the same seed everywhere.
struct FormatRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}

/// What a slot holds, compared bit for bit.
enum FormatValue: Equatable {
    case null
    case bool(Bool)
    case int16(Int16)
    case int32(Int32)
    case int64(Int64)
    case float(UInt32)
    case double(UInt64)
    case reference(UInt64)
    case uuid(UInt64, UInt64)
    case bytes([UInt8])
    case external(ExternalValue)
}

struct FormatRow: Equatable {
    var key: UInt64
    /// Nil: the block's.
    var sequence: UInt64?
    var values: [FormatValue]
}

enum FormatPosition {
    static let storeUUID = StoreUUID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
    static let location = Location(segment: 7, byteOffset: 4_096, row: 0)
    static let sequence: UInt64 = 99
}

func makeLayout(_ kinds: [ValueKind]) -> EntityLayout {
    EntityLayout(id: 3, rootID: 3, name: "Thing", slots: kinds.map { SlotLayout($0) })
}

func set(_ value: FormatValue, _ slot: Int, in buffer: RowBuffer) {
    switch value {
    case .null: buffer.setNull(slot)
    case .bool(let value): buffer.set(slot, value)
    case .int16(let value): buffer.set(slot, value)
    case .int32(let value): buffer.set(slot, value)
    case .int64(let value): buffer.set(slot, value)
    case .float(let bits): buffer.set(slot, Float(bitPattern: bits))
    case .double(let bits): buffer.set(slot, Double(bitPattern: bits))
    case .reference(let raw): buffer.set(slot, ObjectRef(rawValue: raw))
    case .uuid(let first, let second): buffer.set(slot, uuid: (first, second))
    case .bytes(let bytes):
        if bytes.count % 2 == 0 {
            bytes.withUnsafeBytes { buffer.set(slot, bytes: $0) }
        } else if let text = String(validating: bytes, as: UTF8.self) {
            buffer.set(slot, text)
        } else {
            bytes.withUnsafeBytes { buffer.set(slot, bytes: $0) }
        }
    case .external(let value): buffer.set(slot, external: value)
    }
}

func append(_ rows: [FormatRow], to buffer: RowBuffer) {
    for row in rows {
        if let sequence = row.sequence {
            buffer.beginRow(key: row.key, sequence: sequence)
        } else {
            buffer.beginRow(key: row.key)
        }
        for (slot, value) in row.values.enumerated() where value != .null { set(value, slot, in: buffer) }
        buffer.endRow()
    }
}

func encode(_ rows: [FormatRow], _ layout: EntityLayout) -> EncodedBlock {
    let buffer = RowBuffer(layout: layout, schemaVersion: 5)
    append(rows, to: buffer)
    return buffer.take().encode()
}

func stamped(_ block: EncodedBlock) -> EncodedBlock {
    var block = block
    block.stamp(
        at: LogAddress(
            storeUUID: FormatPosition.storeUUID, segment: FormatPosition.location.segment,
            offset: FormatPosition.location.byteOffset, sequence: FormatPosition.sequence))
    return block
}

func load(
    _ bytes: [UInt8], _ layout: EntityLayout, at location: Location = FormatPosition.location,
    storeUUID: StoreUUID = FormatPosition.storeUUID
) throws(StoreError) -> Block {
    let schema = Schema(entities: [layout])
    let result = bytes.withUnsafeBytes { bytes in
        Result { () throws(StoreError) in
            try Block.load(bytes, location: location, storeUUID: storeUUID) { $0 == 5 ? schema : nil }
        }
    }
    return try result.get()
}

func value(_ view: ColumnView, _ row: Int) -> FormatValue {
    if view.isNull(row) { return .null }
    switch view.kind {
    case .bool: return .bool(view.bool(row))
    case .int16: return .int16(view.int16(row))
    case .int32: return .int32(view.int32(row))
    case .int64: return .int64(view.int64(row))
    case .float: return .float(view.float(row).bitPattern)
    case .double, .date: return .double(view.double(row).bitPattern)
    case .reference: return .reference(view.reference(row).rawValue)
    case .uuid:
        let words = view.uuid(row)
        return .uuid(words.0, words.1)
    case .decimal, .string, .data, .uri, .transformable:
        return view.isExternal(row) ? .external(view.external(row)) : .bytes(Array(view.bytes(row)))
    }
}

/// Null rows read as zero or as no bytes.
func nullReadsAsNothing(_ view: ColumnView, _ row: Int) -> Bool {
    if view.width == 0 { return view.bytes(row).isEmpty && !view.isExternal(row) }
    let width = Int(view.width)
    return UnsafeRawBufferPointer(start: view.values + row * width, count: width).allSatisfy { $0 == 0 }
}

func rows(of block: Block) throws(StoreError) -> [FormatRow] {
    var result: [FormatRow] = []
    for row in 0..<block.rowCount {
        var values: [FormatValue] = []
        for slot in 0..<block.slotCount { values.append(value(try block.column(slot), row)) }
        let sequence = block.sequence(row)
        result.append(
            FormatRow(key: block.key(row), sequence: sequence == block.blockSequence ? nil : sequence, values: values))
    }
    return result
}

/// Random layouts, rows and values that reach every encoding.
struct FormatGenerator {
    var random: FormatRandom

    init(seed: UInt64) { random = FormatRandom(seed: seed) }

    mutating func layout(slotsMaximum: Int = 9) -> EntityLayout {
        makeLayout((0..<random.below(slotsMaximum + 1)).map { _ in ValueKind.allCases.randomElement(using: &random)! })
    }

    mutating func rows(_ layout: EntityLayout, count: Int) -> [FormatRow] {
        let styles = layout.slots.map { _ in random.below(6) }
        let nullPercents = layout.slots.map { _ in [0, 0, 10, 90, 100][random.below(5)] }
        let firstKey = random.next() % (ObjectRef.maximumKey - 1_000_000)
        let keyStep = random.chance(70) ? 1 : random.below(50) + 2
        let ownSequences = random.chance(20)
        return (0..<count).map { row in
            FormatRow(
                key: firstKey + UInt64(row * keyStep),
                sequence: ownSequences && random.chance(50) ? random.next() % 90 + 1 : nil,
                values: layout.slots.indices.map { slot in
                    random.chance(nullPercents[slot])
                        ? .null : value(layout.slots[slot].kind, style: styles[slot], row: row)
                })
        }
    }

    private mutating func integer(_ style: Int, _ row: Int) -> Int64 {
        switch style {
        case 0: 77
        case 1: Int64(row) - 5
        case 2: Int64(random.below(100)) - 50
        case 3: Int64(bitPattern: random.next())
        case 4: [Int64.min, .max, 0, -1][random.below(4)]
        default: Int64(bitPattern: random.next()) >> Int64(random.below(64))
        }
    }

    private mutating func real(_ style: Int, _ row: Int) -> Double {
        switch style {
        case 0: 0.1
        case 1: Double(row)
        case 2: Double(random.below(1_000_000)) + 1.6e9
        case 3: Double(bitPattern: random.next())
        case 4:
            [0.0, -0.0, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude][random.below(7)]
        default: Double(random.below(1_000)) / 10
        }
    }

    private mutating func value(_ kind: ValueKind, style: Int, row: Int) -> FormatValue {
        switch kind {
        case .bool: .bool(style == 0 || random.chance(50))
        case .int16: .int16(Int16(truncatingIfNeeded: integer(style, row)))
        case .int32: .int32(Int32(truncatingIfNeeded: integer(style, row)))
        case .int64: .int64(integer(style, row))
        case .float: .float(style == 3 ? UInt32(truncatingIfNeeded: random.next()) : Float(real(style, row)).bitPattern)
        case .double, .date: .double(real(style, row).bitPattern)
        case .reference: .reference(style < 3 ? 4 << 48 | UInt64(bitPattern: integer(2, row) + 60) : random.next())
        case .uuid: .uuid(style == 0 ? 5 : random.next(), style < 3 ? 6 : random.next())
        case .decimal, .string, .data, .uri, .transformable: bytes(style, row)
        }
    }

    private mutating func bytes(_ style: Int, _ row: Int) -> FormatValue {
        switch style {
        case 0: return .bytes([])
        case 1: return .bytes(Array("value number \(row % 7), repeated, repeated".utf8))
        case 2: return .bytes((0..<random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        case 3 where random.chance(20):
            return .external(
                ExternalValue(
                    segment: UInt32(random.below(1_000)) + 1, byteOffset: UInt32(random.below(1 << 30)),
                    byteCount: random.next(), storedByteCount: random.next(), checksum: 3, flags: 4))
        case 4: return .bytes(Array("0123456789abcdef".utf8))
        default: return .bytes(Array("añ≠🙂 \(random.below(1_000))".utf8))
        }
    }
}

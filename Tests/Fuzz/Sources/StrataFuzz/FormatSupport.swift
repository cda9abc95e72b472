@testable import StrataLog

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

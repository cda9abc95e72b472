extension Block {
    /// Checks a plain payload and makes all views, which point into it.
    func preparePlain() throws(StoreError) {
        let payload = bytes + BlockFormat.headerBytes
        let crc = checksum(payload, count: header.payloadLength)
        guard crc == header.payloadChecksum else {
            throw damaged("block checksum is \(crc), expected \(header.payloadChecksum)")
        }
        let map = PlainMap(header: header, layout: storedLayout)
        guard map.heap <= header.payloadLength, header.decodedByteCount == header.payloadLength else {
            throw damaged("block shorter than its rows")
        }
        if let keys {
            keys.update(from: payload.assumingMemoryBound(to: UInt64.self), count: rowCount)
            try checkKeys()
        }
        if let sequences {
            let start = payload + (header.hasStoredKeys ? rowCount * 8 : 0)
            sequences.update(from: start.assumingMemoryBound(to: UInt64.self), count: rowCount)
        }
        let offsets = (payload + map.offsets).assumingMemoryBound(to: UInt32.self)
        if map.variableCount > 0 {
            try checkOffsets(
                offsets, count: map.variableCount * rowCount, heapBytes: header.payloadLength - map.heap)
        }
        var cursor = map
        var stored: [ColumnView] = []
        for slot in 0..<header.slotCount {
            let view = plainView(slot, payload: payload, map: map, cursor: &cursor)
            if map.externals != nil { try checkExternals(view) }
            if plan == nil { publishStored(slot, view) } else { stored.append(view) }
        }
        if let plan { publishLifted(stored, plan) }
    }

    private func plainView(
        _ slot: Int, payload: UnsafeRawPointer, map: PlainMap, cursor: inout PlainMap
    ) -> ColumnView {
        let kind = storedLayout.slots[slot].kind
        let bitmap = slot * BlockFormat.plainBitmapBytes(rowCount)
        func bits(_ start: Int?) -> UnsafePointer<UInt8>? {
            start.map { (payload + $0 + bitmap).assumingMemoryBound(to: UInt8.self) }
        }
        let position = cursor.advance(kind.fixedWidth, rows: rowCount)
        return ColumnView(
            kind: kind, rows: rowCount, values: payload + position, heap: payload + map.heap,
            nulls: bits(map.nulls), externals: kind.fixedWidth == 0 ? bits(map.externals) : nil)
    }

    private func checkOffsets(_ offsets: UnsafePointer<UInt32>, count: Int, heapBytes: Int) throws(StoreError) {
        guard offsets[0] == 0, Int(offsets[count]) == heapBytes else {
            throw damaged("offsets that do not cover the values")
        }
        for index in 0..<count where offsets[index] > offsets[index + 1] {
            throw damaged("offsets that do not ascend")
        }
    }

    /// Every external value has its 32 bytes.
    func checkExternals(_ view: ColumnView) throws(StoreError) {
        guard view.externals != nil else { return }
        for row in 0..<rowCount where view.isExternal(row) {
            guard !view.isNull(row), view.bytes(row).count == ExternalValue.encodedBytes else {
                throw damaged("external value of the wrong length")
            }
        }
    }

    func checkKeys() throws(StoreError) {
        guard let keys else { return }
        for row in 0..<rowCount where keys[row] == 0 || keys[row] > ObjectRef.maximumKey {
            throw damaged("primary key out of range")
        }
    }
}

/// Where the parts of a plain payload begin, counted from the payload's start.
struct PlainMap {
    /// The next column of each width.
    private var wide: Int
    private var four: Int
    private(set) var offsets: Int
    private var two: Int
    private var one: Int
    let nulls: Int?
    let externals: Int?
    let heap: Int
    let variableCount: Int

    init(header: BlockHeader, layout: EntityLayout) {
        let rows = header.rowCount
        var wideBytes = 0
        var fours = 0
        var twos = 0
        var ones = 0
        var variables = 0
        for slot in layout.slots {
            switch slot.kind.fixedWidth {
            case 0: variables += 1
            case 1: ones += 1
            case 2: twos += 1
            case 4: fours += 1
            case let width: wideBytes += width
            }
        }
        variableCount = variables
        wide = header.internalColumnCount * 8 * rows
        four = wide + wideBytes * rows
        offsets = four + fours * 4 * rows
        two = offsets + (variables > 0 ? (variables * rows + 1) * 4 : 0)
        one = two + twos * 2 * rows
        var end = one + ones * rows
        let bitmaps = layout.slots.count * BlockFormat.plainBitmapBytes(rows)
        nulls = header.flags.contains(.nulls) ? end : nil
        if nulls != nil { end += bitmaps }
        externals = header.flags.contains(.externals) ? end : nil
        if externals != nil { end += bitmaps }
        heap = end
    }

    /// The position of the next column of that width (0: its offsets).
    mutating func advance(_ width: Int, rows: Int) -> Int {
        func take(_ position: inout Int, _ count: Int) -> Int {
            defer { position += count }
            return position
        }
        return switch width {
        case 0: take(&offsets, rows * 4)
        case 1: take(&one, rows)
        case 2: take(&two, rows * 2)
        case 4: take(&four, rows * 4)
        default: take(&wide, rows * width)
        }
    }
}

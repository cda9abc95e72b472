/// How schemas are written: into the preamble of each segment and into checkpoints.
extension Schema {
    /// Set in the count of entities of a migration: each slot then has its lift behind it.
    private static let migrationBit: UInt32 = 1 << 31
    private static let noSource = UInt16.max

    func append(to writer: inout ByteWriter) {
        writer.append(UInt32(entities.count) | (isMigration ? Self.migrationBit : 0))
        for entity in entities {
            writer.append(entity.id)
            writer.append(entity.rootID)
            writer.append(string: entity.name)
            writer.append(UInt32(entity.slots.count))
            for slot in entity.slots {
                writer.append(slot.kind.rawValue)
                writer.append(UInt8(slot.preservedInHistory ? 1 : 0))
                writer.append(slot.postingsID)
                guard isMigration else { continue }
                writer.append(slot.lift.source.map { UInt16($0) } ?? Self.noSource)
                writer.append(UInt8(slot.lift.fill == nil ? 0 : 1))
                if let fill = slot.lift.fill { writer.append(counted: fill) }
            }
        }
        writer.append(counted: model)
    }

    private static func lift(_ reader: inout ByteReader, _ kind: ValueKind) throws(MalformedBytes) -> SlotLift {
        let source = try reader.read(UInt16.self)
        guard source == noSource || source < Schema.maximumSlots else { throw reader.malformed("lift of \(source)") }
        let fill = try reader.read(UInt8.self) == 0 ? nil : try reader.readCounted()
        guard let fill else { return SlotLift(source: source == noSource ? nil : Int(source)) }
        guard fill.count <= SlotLift.fillMaximumByteCount, kind.fixedWidth == 0 || fill.count == kind.fixedWidth,
            kind != .reference
        else { throw reader.malformed("\(fill.count) bytes that fill a \(kind)") }
        return SlotLift(source: source == noSource ? nil : Int(source), fill: fill)
    }

    init(from reader: inout ByteReader) throws(MalformedBytes) {
        var entities: [EntityLayout] = []
        let count = try reader.read(UInt32.self)
        let isMigration = count & Self.migrationBit != 0
        for _ in 0..<(try reader.checkedCount(count & ~Self.migrationBit, minimumByteCount: 12)) {
            let id = try reader.read(UInt16.self)
            let rootID = try reader.read(UInt16.self)
            let name = try reader.readString() ?? ""
            let slotCount = try reader.readCount(minimumByteCount: 4)
            guard id > 0, rootID > 0, slotCount <= Schema.maximumSlots else { throw reader.malformed("entity \(id)") }
            var slots: [SlotLayout] = []
            for _ in 0..<slotCount {
                guard let kind = ValueKind(rawValue: try reader.read()) else { throw reader.malformed("value kind") }
                let preserved = try reader.read(UInt8.self) != 0
                let postingsID = try reader.read(UInt16.self)
                guard postingsID == 0 || kind == .reference else { throw reader.malformed("postings of a \(kind)") }
                let lift = isMigration ? try Self.lift(&reader, kind) : SlotLift()
                slots.append(
                    SlotLayout(kind, postingsID: postingsID, preservedInHistory: preserved, lift: lift))
            }
            entities.append(EntityLayout(id: id, rootID: rootID, name: name, slots: slots))
        }
        for (first, second) in zip(entities, entities.dropFirst()) where first.id >= second.id {
            throw reader.malformed("entities out of order")
        }
        let model = try reader.readCounted()
        self.init(entities: entities, model: model, isMigration: isMigration)
    }
}

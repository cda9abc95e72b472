/// How schemas, and the other small facts that a segment's preamble repeats, are written.
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

/// A schema with the number that blocks name it by.
struct NumberedSchema: Hashable, Sendable {
    var version: UInt16
    var schema: Schema

    func append(to writer: inout ByteWriter) {
        writer.append(version)
        schema.append(to: &writer)
    }

    init(version: UInt16, schema: Schema) {
        self.version = version
        self.schema = schema
    }

    init(from reader: inout ByteReader) throws(MalformedBytes) {
        version = try reader.read()
        schema = try Schema(from: &reader)
    }
}

/// What has to be known beside the rows: written at the head of each segment and into each checkpoint.
struct StoreState: Hashable, Sendable {
    /// Every schema some block may name, ascending by version.
    var schemas: [NumberedSchema] = []
    /// The object graph's own data about the store.
    var metadata: [UInt8] = []
    /// For each root entity the next primary key never used, ascending by entity.
    var nextKeys: [KeyRange] = []
    /// Written apart from the others, and only once there is something to say.
    var compaction = CompactionState()

    struct KeyRange: Hashable, Sendable {
        var root: UInt16
        var next: UInt64
    }

    func append(to writer: inout ByteWriter) {
        writer.append(UInt32(schemas.count))
        for schema in schemas { schema.append(to: &writer) }
        writer.append(counted: metadata)
        writer.append(UInt32(nextKeys.count))
        for range in nextKeys {
            writer.append(range.root)
            writer.append(range.next)
        }
    }

    init() {}

    init(from reader: inout ByteReader) throws(MalformedBytes) {
        for _ in 0..<(try reader.readCount(minimumByteCount: 10)) {
            schemas.append(try NumberedSchema(from: &reader))
        }
        metadata = try reader.readCounted()
        for _ in 0..<(try reader.readCount(minimumByteCount: 10)) {
            let root = try reader.read(UInt16.self)
            let next = try reader.read(UInt64.self)
            guard next > 0, next <= ObjectRef.maximumKey else { throw reader.malformed("next key \(next)") }
            nextKeys.append(KeyRange(root: root, next: next))
        }
    }

    func schema(version: UInt16) -> Schema? {
        schemas.first { $0.version == version }?.schema
    }

    /// Raises the next key of a root entity to at least `key`.
    mutating func raiseNextKey(root: UInt16, to key: UInt64) {
        if let index = nextKeys.firstIndex(where: { $0.root >= root }) {
            if nextKeys[index].root == root {
                nextKeys[index].next = max(nextKeys[index].next, key)
            } else {
                nextKeys.insert(KeyRange(root: root, next: key), at: index)
            }
        } else {
            nextKeys.append(KeyRange(root: root, next: key))
        }
    }
}

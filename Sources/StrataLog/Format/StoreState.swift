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

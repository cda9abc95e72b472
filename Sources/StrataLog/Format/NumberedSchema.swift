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

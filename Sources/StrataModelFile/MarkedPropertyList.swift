import Foundation

/// What Strata compiles into a file of its own.
protocol CompiledValue: Codable {
    /// The key of the format's number, which tells such a file from all others.
    static var formatKey: String { get }
    /// The key of the value.
    static var valueKey: String { get }
    /// What errors call it.
    static var noun: String { get }
}

/// The form of Strata's compiled files: a binary property list of two entries, a value and the number of its format.
enum MarkedPropertyList<Value: CompiledValue> {
    private static var version: Int { 1 }
    /// Larger files are refused.
    private static var maximumByteCount: Int { 64 << 20 }

    private struct Header: Decodable {
        let version: Int

        init(from decoder: any Decoder) throws {
            version = try decoder.container(keyedBy: NamedKey.self).decode(Int.self, forKey: NamedKey(Value.formatKey))
        }
    }

    private struct Contents: Codable {
        let value: Value

        init(value: Value) { self.value = value }

        init(from decoder: any Decoder) throws {
            value = try decoder.container(keyedBy: NamedKey.self).decode(Value.self, forKey: NamedKey(Value.valueKey))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: NamedKey.self)
            try container.encode(version, forKey: NamedKey(Value.formatKey))
            try container.encode(value, forKey: NamedKey(Value.valueKey))
        }
    }

    /// Whether bytes look like such a file; they may still be damaged.
    static func isOne(_ data: Data) -> Bool {
        data.starts(with: Data("bplist".utf8)) && data.range(of: Data(Value.formatKey.utf8)) != nil
    }

    /// - Throws: ``ModelFileError`` with `unwritable`.
    static func data(of value: Value) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let data: Data
        do {
            data = try encoder.encode(Contents(value: value))
        } catch {
            throw ModelFileError(.unwritable, "the \(Value.noun) cannot be compiled: \(error)")
        }
        guard data.count <= maximumByteCount else {
            throw ModelFileError(
                .unwritable, "the \(Value.noun) takes \(data.count) bytes; \(maximumByteCount) are possible")
        }
        return data
    }

    /// - Throws: ``ModelFileError`` with `damaged` or `unsupportedVersion`.
    static func value(from data: Data) throws -> Value {
        guard data.count <= maximumByteCount, isOne(data) else {
            throw ModelFileError(.damaged, "these bytes are no compiled \(Value.noun) of Strata's")
        }
        let decoder = PropertyListDecoder()
        do {
            // Expressions in a model nest deeper than what people write by hand.
            try PropertyListFile.check(data, PropertyListLimits(byteCount: maximumByteCount, depth: 256))
            let found = try decoder.decode(Header.self, from: data).version
            guard found <= version else {
                throw ModelFileError(
                    .unsupportedVersion, "format \(found) of the \(Value.noun) is newer than this library")
            }
            return try decoder.decode(Contents.self, from: data).value
        } catch let error as ModelFileError {
            throw error
        } catch {
            throw ModelFileError(.damaged, "the compiled \(Value.noun) is damaged: \(error)")
        }
    }
}

/// A key that is known at run time only.
private struct NamedKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

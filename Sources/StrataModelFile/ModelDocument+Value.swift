import Foundation

extension ModelDocument {
    /// A default value, a limit, or a value of user info.
    public enum Value: Equatable, Sendable {
        /// Text; also what stands for UUIDs and URIs.
        case string(String)
        /// An integer.
        case integer(Int64)
        /// A floating point number.
        case real(Double)
        /// A decimal number, as text, so that no digit is lost.
        case decimal(String)
        /// A truth value.
        case boolean(Bool)
        /// A point in time, in seconds since 2001-01-01 00:00:00 UTC.
        case date(Double)
        /// Bytes.
        case data(Data)
        /// Values in an order.
        case array([Value])
        /// Values by name.
        case dictionary([String: Value])
    }
}

extension ModelDocument.Value: Codable {
    private enum Kind: String, CodingKey {
        case string, integer, real, decimal, boolean, date, data, array, dictionary
    }

    /// How long coding paths may be: values in values 32 deep, which take two steps each, within a document. What is
    /// nested deeper, as a hostile file may be, would use up the stack.
    private static let maximumPathLength = 80

    /// Reads a value.
    ///
    /// - Throws: `DecodingError` for anything else, and for values nested over 32 deep.
    public init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maximumPathLength else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "values are nested too deep"))
        }
        let container = try decoder.container(keyedBy: Kind.self)
        guard let kind = container.allKeys.first, container.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "a value has one kind"))
        }
        switch kind {
        case .string: self = .string(try container.decode(String.self, forKey: kind))
        case .integer: self = .integer(try container.decode(Int64.self, forKey: kind))
        case .real: self = .real(try container.decode(Double.self, forKey: kind))
        case .decimal: self = .decimal(try container.decode(String.self, forKey: kind))
        case .boolean: self = .boolean(try container.decode(Bool.self, forKey: kind))
        case .date: self = .date(try container.decode(Double.self, forKey: kind))
        case .data: self = .data(try container.decode(Data.self, forKey: kind))
        case .array: self = .array(try container.decode([Self].self, forKey: kind))
        case .dictionary: self = .dictionary(try container.decode([String: Self].self, forKey: kind))
        }
    }

    /// Writes the value under the name of its kind.
    ///
    /// - Throws: `EncodingError` for values nested over 32 deep.
    public func encode(to encoder: any Encoder) throws {
        guard encoder.codingPath.count <= Self.maximumPathLength else {
            throw EncodingError.invalidValue(
                self, EncodingError.Context(codingPath: [], debugDescription: "values are nested too deep"))
        }
        var container = encoder.container(keyedBy: Kind.self)
        switch self {
        case .string(let text): try container.encode(text, forKey: .string)
        case .integer(let number): try container.encode(number, forKey: .integer)
        case .real(let number): try container.encode(number, forKey: .real)
        case .decimal(let text): try container.encode(text, forKey: .decimal)
        case .boolean(let flag): try container.encode(flag, forKey: .boolean)
        case .date(let seconds): try container.encode(seconds, forKey: .date)
        case .data(let data): try container.encode(data, forKey: .data)
        case .array(let values): try container.encode(values, forKey: .array)
        case .dictionary(let values): try container.encode(values, forKey: .dictionary)
        }
    }
}

import Foundation
import StrataModelFile

/// What reader and writer of encoded models share.
///
///     8 bytes   "STRATAMM"
///     2         format version, little endian
///     8         the first bytes of the SHA-256 of everything that follows
///     strings   count, then for each its length and UTF-8
///     model     see ModelWriter; strings by their number
///
/// Integers are LEB128, signed ones zigzag. Entities, properties, keys and identifiers are sorted, so that equal
/// models have equal bytes.
enum ModelEncoding {
    static let magic: [UInt8] = Array("STRATAMM".utf8)
    static let version: UInt16 = 1
    static let checksumByteCount = 8
    static let headerByteCount = 18
    static let maximumByteCount = 64 << 20
    /// Values in values, such as arrays in the user info.
    static let maximumValueDepth = 32
    /// Entities, properties, values and other parts together, which bounds what hostile bytes make the reader allocate.
    static let maximumPartCount = 1_000_000

    static func checksum(of payload: [UInt8]) -> ArraySlice<UInt8> {
        SHA256Digest.hash(payload).prefix(checksumByteCount)
    }

    enum PropertyKind: UInt8 {
        case attribute = 1
        case derivedAttribute = 2
        case compositeAttribute = 3
        case relationship = 4
        case fetchedProperty = 5
        case expression = 6
    }

    enum ValueTag: UInt8 {
        case null = 0
        case no = 1
        case yes = 2
        case integer = 3
        case unsigned = 4
        case float = 5
        case double = 6
        case decimal = 7
        case string = 8
        case data = 9
        case date = 10
        case uuid = 11
        case url = 12
        case array = 13
        case dictionary = 14
        case set = 15
        /// Only in comparisons: the identity of something that has no encoding.
        case identity = 255

        /// Whether it may be a key of a dictionary or an element of a set.
        var canBeKey: Bool {
            switch self {
            case .no, .yes, .integer, .unsigned, .float, .double, .string, .data, .date, .uuid, .url: true
            case .null, .decimal, .array, .dictionary, .set, .identity: false
            }
        }
    }

    struct PropertyFlags: OptionSet {
        let rawValue: UInt8
        static let optional = PropertyFlags(rawValue: 1)
        static let transient = PropertyFlags(rawValue: 2)
        static let indexedBySpotlight = PropertyFlags(rawValue: 4)
        static let storedInExternalRecord = PropertyFlags(rawValue: 8)
        static let ownIndex = PropertyFlags(rawValue: 16)
    }

    struct AttributeFlags: OptionSet {
        let rawValue: UInt8
        static let externalBinaryData = AttributeFlags(rawValue: 1)
        static let preservedInHistory = AttributeFlags(rawValue: 2)
        static let cloudEncryption = AttributeFlags(rawValue: 4)
    }

    struct TemplateFlags: OptionSet {
        let rawValue: UInt8
        static let subentities = TemplateFlags(rawValue: 1)
        static let propertyValues = TemplateFlags(rawValue: 2)
        static let pendingChanges = TemplateFlags(rawValue: 4)
        static let faults = TemplateFlags(rawValue: 8)
        static let distinct = TemplateFlags(rawValue: 16)
        static let refresh = TemplateFlags(rawValue: 32)
        /// The limit follows at the end.
        static let timeLimit = TemplateFlags(rawValue: 64)
    }
}

extension NSManagedObjectModel {
    /// The model as bytes, which ``init(encoded:)`` reads again. Equal models have equal bytes.
    ///
    /// - Throws: ``ModelError`` with `notEncodable` for predicates made of blocks, for user info that is no property
    ///   list and for default values that no transformer takes.
    /// - Complexity: O(n log n) in the size of the model.
    package func encoded() throws -> [UInt8] {
        var writer = ModelWriter(mode: .storing)
        try writer.write(model: self)
        let payload = writer.payload
        let version = ModelEncoding.version
        let bytes =
            ModelEncoding.magic + [UInt8(version & 0xff), UInt8(version >> 8)]
            + ModelEncoding.checksum(of: payload) + payload
        guard bytes.count <= ModelEncoding.maximumByteCount else {
            throw ModelError(
                .notEncodable, "the model takes \(bytes.count) bytes; \(ModelEncoding.maximumByteCount) are possible")
        }
        return bytes
    }

    /// Reads what ``encoded()`` wrote. The model can be changed. Bytes from anywhere are safe to try.
    ///
    /// - Throws: ``ModelError`` with `damaged`, `unsupportedVersion` or `invalidModel`.
    package convenience init(encoded bytes: [UInt8]) throws {
        guard bytes.count <= ModelEncoding.maximumByteCount else {
            throw ModelError(.damaged, "\(bytes.count) bytes are too many for a model")
        }
        guard bytes.count >= ModelEncoding.headerByteCount, bytes.starts(with: ModelEncoding.magic) else {
            throw ModelError(.damaged, "these bytes are no encoded model")
        }
        let version = UInt16(bytes[8]) | UInt16(bytes[9]) << 8
        guard version == ModelEncoding.version else {
            throw ModelError(.unsupportedVersion, "version \(version) of the encoding is newer than this library")
        }
        let payload = Array(bytes[ModelEncoding.headerByteCount...])
        guard bytes[10..<ModelEncoding.headerByteCount] == ModelEncoding.checksum(of: payload) else {
            throw ModelError(.damaged, "the checksum of the model is wrong")
        }
        try self.init(payload: payload)
    }

    /// - Parameter payload: what follows the header.
    convenience init(payload: [UInt8]) throws {
        var reader = ModelReader(payload)
        self.init()
        try reader.readModel(into: self)
        let problems = problems()
        guard problems.isEmpty else {
            throw ModelError(.invalidModel, problems.joined(separator: "; "))
        }
    }
}

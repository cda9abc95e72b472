import Strata

/// A permanent object ID for URLs, JSON and other places outside of the program.
///
/// ```swift
/// struct BookAnswer: Codable {
///     var id: StrataObjectReference
///     var title: String
/// }
/// ```
///
/// Its text has letters, digits, `-` and `_` only. It names the store by its UUID, so that one of another store is not
/// mistaken for an object of this one; who has it can read the entity's name and the object's number in it.
public struct StrataObjectReference: Sendable, Hashable, Codable, LosslessStringConvertible {
    /// The text.
    public let description: String

    /// So long may a text be: entities' names are shorter.
    private static let lengthMaximum = 1_024
    private static let scheme = "x-coredata://"
    private static let separator = UInt8(ascii: "/")

    /// The reference of an object.
    ///
    /// - Returns: nil for a temporary ID: another program could not find the object by it.
    public init?(_ id: NSManagedObjectID) {
        if id.isTemporaryID { return nil }
        var uri = id.uriText
        let text = uri.withUTF8 { bytes in
            let scheme = Self.scheme.utf8
            return bytes.starts(with: scheme) ? URLSafeText.encoded(bytes.dropFirst(scheme.count)) : nil
        }
        guard let text else { return nil }
        description = text
    }

    /// A text from outside; nil if it cannot be one of a reference. Whether there is such an object is not asked.
    public init?(_ description: String) {
        guard description.utf8.count <= Self.lengthMaximum, let uri = Self.uri(description),
            uri.utf8.split(separator: Self.separator).count == 3
        else { return nil }
        self.description = description
    }

    /// What a text says behind the scheme; nil if it is none of a reference.
    private static func uri(_ description: String) -> String? {
        URLSafeText.decoded(description).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let reference = StrataObjectReference(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "This is no reference of an object.")
        }
        self = reference
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// The ID that it stands for; nil if no store of the coordinator has such an entity, or it is of another store. The
    /// object need not exist: `existingObject(with:)` of a context says so.
    public func objectID(in coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectID? {
        guard let uri = Self.uri(description) else { return nil }
        // By bytes: to look for characters takes several times as long.
        let parts = uri.utf8.split(separator: Self.separator, omittingEmptySubsequences: false)
        return coordinator.managedObjectID(ofURIParts: parts.map { Substring($0) })
    }
}

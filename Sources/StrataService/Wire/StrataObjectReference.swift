import Foundation
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

    /// The reference of an object.
    ///
    /// - Returns: nil for a temporary ID: another program could not find the object by it.
    public init?(_ id: NSManagedObjectID) {
        if id.isTemporaryID { return nil }
        let uri = id.uriText
        guard uri.hasPrefix(Self.scheme) else { return nil }
        description = URLSafeText.encoded(Data(uri.dropFirst(Self.scheme.count).utf8))
    }

    /// A text from outside; nil if it cannot be one of a reference. Whether there is such an object is not asked.
    public init?(_ description: String) {
        guard description.utf8.count <= Self.lengthMaximum, let data = URLSafeText.decoded(description),
            let uri = String(data: data, encoding: .utf8), uri.split(separator: "/").count == 3
        else { return nil }
        self.description = description
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
        guard let data = URLSafeText.decoded(description), let text = String(data: data, encoding: .utf8) else {
            return nil
        }
        return coordinator.managedObjectID(
            ofURIParts: text.split(separator: "/", omittingEmptySubsequences: false))
    }
}

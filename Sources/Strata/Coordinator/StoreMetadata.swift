import Foundation
import StrataLog

/// A store's metadata dictionary: what identifies it, and the user's own entries, which the engine keeps.
enum StoreMetadata {
    static let systemKeys = [
        NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
    ]

    static func read(_ log: LogStore, type: String) -> [String: Any] {
        var metadata: [String: Any] = [:]
        if !log.metadata.isEmpty,
            let list = try? PropertyListSerialization.propertyList(from: Data(log.metadata), format: nil)
        {
            metadata = list as? [String: Any] ?? [:]
        }
        metadata[NSStoreTypeKey] = type
        metadata[NSStoreUUIDKey] = StoreHandle.uuid(log.storeUUID).uuidString
        if let model = try? StoredModel(bytes: log.schema.model) {
            metadata[NSStoreModelVersionHashesKey] = model.versionHashes
            metadata[NSStoreModelVersionIdentifiersKey] = model.versionIdentifiers
        }
        return metadata
    }

    /// The user's entries as bytes.
    ///
    /// - Throws: an error when a value is no property-list value.
    static func encode(_ metadata: [String: Any]) throws -> [UInt8] {
        let own = metadata.filter { !systemKeys.contains($0.key) }
        return Array(try PropertyListSerialization.data(fromPropertyList: own, format: .binary, options: 0))
    }
}

/// Reads store options, which may be numbers, truth values or strings.
enum StoreOptions {
    static func flag(_ options: [AnyHashable: Any]?, _ key: String) -> Bool {
        switch options?[key] {
        case let value as Bool: value
        case let value as NSNumber: value.boolValue
        case let value as String: ["YES", "TRUE", "1"].contains(value.uppercased())
        default: false
        }
    }

    /// How durable saves are: `StrataDurabilityOption` = "full" (default), "os", or a number of milliseconds.
    static func durability(_ options: [AnyHashable: Any]?) throws -> LogOptions.Durability {
        switch options?[StrataDurabilityOption] {
        case nil: return .full
        case let name as String where name == "full": return .full
        case let name as String where name == "os": return .os
        case let milliseconds as NSNumber where milliseconds.intValue > 0:
            return .interval(milliseconds: milliseconds.intValue)
        case let other?:
            throw CocoaError(
                .persistentStoreOpen,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "\(StrataDurabilityOption) is \"full\", \"os\" or a number of milliseconds, not \(other)."
                ])
        }
    }
}

/// A store option: when `save()` returns. "full" (the default): the changes have been flushed to the device. "os": they
/// are with the operating system; a power failure may take them. A number: flushed at most so many milliseconds later.
public let StrataDurabilityOption: String = "StrataDurabilityOption"

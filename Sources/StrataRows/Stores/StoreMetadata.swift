import Foundation
import StrataLog
import StrataModelFile
import StrataSupport
import Synchronization

/// A store's metadata dictionary: what identifies it, and the user's own entries, which the engine keeps.
package enum StoreMetadata {
    package static let systemKeys = [
        NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
        NSPersistentStoreModelVersionChecksumKey, hashesVersionKey, frameworkVersionKey,
    ]

    /// Which kind of hashes those of the model are. Core Data has no constant for it.
    private static let hashesVersionKey = "NSStoreModelVersionHashesVersion"
    private static let hashesVersion = 3
    package static let frameworkVersionKey = "NSPersistenceFrameworkVersion"
    /// The version of Core Data that this library stands for: newer than all that have names.
    package static let frameworkVersion = 1_000

    /// What the metadata of each kind of store tells of the model, and of who has opened it.
    package static func ofModel(hashes: [String: Data], identifiers: [String]) -> [String: Any] {
        [
            NSStoreModelVersionHashesKey: hashes,
            NSStoreModelVersionIdentifiersKey: identifiers,
            NSPersistentStoreModelVersionChecksumKey: ModelTables.checksum(of: hashes),
            hashesVersionKey: hashesVersion,
            frameworkVersionKey: frameworkVersion,
        ]
    }

    /// Entries whose keys begin so are Strata's own and not shown.
    package static let privatePrefix = "_Strata"

    /// Held while metadata is read, changed and written again.
    private static let updates = Mutex<Void>(())

    /// Everything that the engine keeps for the object graph.
    package static func entries(_ log: LogStore) -> [String: Any] { entries(log.metadata) }

    package static func entries(_ bytes: [UInt8]) -> [String: Any] {
        if bytes.isEmpty { return [:] }
        let known = last.withLock { last in last?.bytes == bytes ? last?.entries : nil }
        if let known { return known.value }
        let entries = (try? parsed(bytes)) ?? [:]
        if bytes.count <= keptMaximumByteCount, !entries.isEmpty {
            last.withLock { $0 = Parsed(bytes: bytes, entries: UncheckedBox(entries)) }
        }
        return entries
    }

    private static func parsed(_ bytes: [UInt8]) throws -> [String: Any] {
        try PropertyListFile.dictionary(bytes, PropertyListLimits(byteCount: .max))
    }

    /// Makes sure that what the engine keeps can be read: ``entries(_:)-([UInt8])`` says of anything else that there is
    /// nothing, and what is written then would take its place.
    ///
    /// - Throws: `StoreError` with `corruption`.
    package static func check(_ bytes: [UInt8]) throws(StoreError) {
        if bytes.isEmpty || last.withLock({ $0?.bytes == bytes }) { return }
        do {
            _ = try parsed(bytes)
        } catch {
            throw StoreError(.corruption, "the store's metadata cannot be read: \(error)")
        }
    }

    /// Opening a store asks for its metadata seven times, and reading a property list is a tenth of that each time.
    private struct Parsed {
        let bytes: [UInt8]
        /// Constant values: nothing that a property list is read into can be changed.
        let entries: UncheckedBox<[String: Any]>
    }

    private static let last = Mutex<Parsed?>(nil)
    private static let keptMaximumByteCount = 16 << 10

    package static func read(_ log: LogStore, type: String) -> [String: Any] {
        var metadata = entries(log).filter { !$0.key.hasPrefix(privatePrefix) }
        metadata[NSStoreTypeKey] = type
        metadata[NSStoreUUIDKey] = StoreLineage(log).uuid
        if let model = try? StoredModel(bytes: log.schema.model) {
            metadata.merge(ofModel(hashes: model.versionHashes, identifiers: model.versionIdentifiers)) { $1 }
        }
        return metadata
    }

    /// Replaces the user's entries. Durable when it returns.
    ///
    /// - Throws: an error when a value is no property-list value; `StoreError` when it cannot be written.
    package static func write(_ metadata: [String: Any], to log: LogStore) throws {
        try update(log) { entries in
            let own = metadata.filter { !systemKeys.contains($0.key) && !$0.key.hasPrefix(privatePrefix) }
            entries = entries.filter { $0.key.hasPrefix(privatePrefix) }.merging(own) { _, new in new }
            return true
        }
    }

    /// Changes what the engine keeps, unless `change` returns false. Durable when it returns.
    package static func update(_ log: LogStore, _ change: (inout [String: Any]) throws -> Bool) throws {
        try updates.locked {
            try check(log.metadata)
            var entries = entries(log)
            guard try change(&entries) else { return }
            let data = try PropertyListSerialization.data(fromPropertyList: entries, format: .binary, options: 0)
            try log.setMetadata(Array(data))
        }
    }
}

/// Reads store options, which may be numbers, truth values or strings.
package enum StoreOptions {
    package static func flag(_ options: [AnyHashable: Any]?, _ key: String) -> Bool { flag(options?[key]) }

    /// Numbers first: as what else an object can be, Swift's runtime has to look up.
    package static func flag(_ value: Any?) -> Bool {
        switch value {
        case let value as NSNumber: value.boolValue
        case let value as String: ["YES", "TRUE", "1"].contains(value.uppercased())
        default: false
        }
    }

    /// How durable saves are: `StrataDurabilityOption` = "full" (default), "os", or a number of milliseconds.
    package static func durability(_ options: [AnyHashable: Any]?) throws -> LogOptions.Durability {
        switch options?[StrataDurabilityOption] {
        case nil: return .full
        case let name as String where name == "full": return .full
        case let name as String where name == "os": return .os
        case let milliseconds as NSNumber where milliseconds.intValue > 0:
            return .interval(milliseconds: milliseconds.intValue)
        case let other?:
            throw DescribedError(
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

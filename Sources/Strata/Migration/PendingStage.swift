import Foundation
import StrataLog

/// A custom stage whose second handler is due once the store has the stage's next model. It is noted in the store
/// before the model changes, and forgotten when the handler has returned.
struct PendingStage {
    /// Checksums of the models that the stage leads from and to.
    var from: String
    var to: String

    private static let key = StoreMetadata.privatePrefix + "PendingStage"

    init(from: String, to: String) {
        self.from = from
        self.to = to
    }

    /// What a store has noted; nil for nothing.
    init?(_ log: LogStore) {
        guard let entry = StoreMetadata.entries(log)[Self.key] as? [String: String], let from = entry["from"],
            let to = entry["to"]
        else { return nil }
        self.init(from: from, to: to)
    }

    /// The metadata of a store that nobody need have opened, and what it has noted.
    static func read(
        at url: URL, type: String, options: [AnyHashable: Any]?
    ) throws -> (metadata: [String: Any], pending: PendingStage?) {
        try StoreOpening.withExisting(url, readOnly: true, options) { log in
            (StoreMetadata.read(log, type: type), PendingStage(log))
        }
    }

    /// Durable when it returns.
    func record(in store: NSPersistentStore) throws {
        if let log = store.handle?.log { try record(in: log) }
    }

    /// As ``record(in:)``, in a store that nobody has opened.
    func record(at url: URL, options: [AnyHashable: Any]?) throws {
        try StoreOpening.withExisting(url, readOnly: false, options) { try record(in: $0) }
    }

    private func record(in log: LogStore) throws {
        try StoreMetadata.update(log) { entries in
            entries[Self.key] = ["from": from, "to": to]
            return true
        }
    }

    /// Durable when it returns.
    static func forget(in store: NSPersistentStore) throws {
        guard let log = store.handle?.log else { return }
        try StoreMetadata.update(log) { $0.removeValue(forKey: key) != nil }
    }
}

import Foundation
import Synchronization

/// How named results were divided into sections, for the life of the process.
enum SectionCache {
    struct Entry: Sendable {
        /// Of the request and the section name key path.
        var signature: SectionSignature
        /// What the stores held.
        var token: NSPersistentHistoryToken
        var runs: [Run]
    }

    struct Run: Sendable {
        var name: String
        var count: Int
    }

    private static let entries = Mutex<[String: Entry]>([:])

    /// The division that was kept under this name, if it is of the same request and the same state of the stores.
    static func runs(_ name: String, _ signature: SectionSignature, _ token: NSPersistentHistoryToken) -> [Run]? {
        entries.withLock { entries in
            guard let entry = entries[name], entry.signature == signature, entry.token == token else { return nil }
            return entry.runs
        }
    }

    static func keep(_ name: String, _ entry: Entry) {
        entries.withLock { $0[name] = entry }
    }

    static func delete(_ name: String?) {
        entries.withLock { entries in
            if let name { entries[name] = nil } else { entries = [:] }
        }
    }
}

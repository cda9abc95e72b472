public import Foundation

/// A point in the persistent history: how far each store has come. Can be archived and used by another process.
public final class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, Codable, Sendable {
    /// Transaction numbers by store UUID.
    let sequences: [String: UInt64]

    /// True: nothing but numbers and strings is archived.
    public static var supportsSecureCoding: Bool { true }

    /// A token of no store: all of a store's history is after it.
    override public init() { sequences = [:] }

    init(_ sequences: [String: UInt64]) {
        self.sequences = sequences
    }

    /// Reads an archived token. Nil if the archive holds none.
    public init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: "sequences") as Data?,
            let sequences = try? JSONDecoder().decode([String: UInt64].self, from: data)
        else { return nil }
        self.sequences = sequences
    }

    /// Archives the token.
    public func encode(with coder: NSCoder) {
        // A dictionary of strings and numbers always has a JSON form.
        guard let data = try? JSONEncoder().encode(sequences) else { return }
        coder.encode(data as NSData, forKey: "sequences")
    }

    /// The same object, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both name the same state of the same stores.
    override public func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken)?.sequences == sequences
    }

    /// Agrees with equality.
    override public var hash: Int { sequences.hashValue }

    /// A text for logs and for debugging; not to be parsed.
    override public var description: String { "NSPersistentHistoryToken \(sequences)" }
}

extension NSPersistentHistoryToken: PredicateOrdered {
    /// By the transactions of the stores that both name: a token is less than another if no store has come further in
    /// it and one has come less far. Nil when they name no store in common, or each is ahead of the other in some
    /// store.
    package func order(relativeTo other: Any) -> Int? {
        guard let other = other as? NSPersistentHistoryToken else { return nil }
        var order: Int?
        for (store, sequence) in sequences {
            guard let others = other.sequences[store] else { continue }
            let step = sequence < others ? -1 : (sequence > others ? 1 : 0)
            if let known = order, known != 0, step != 0, known != step { return nil }
            order = order == nil || order == 0 ? step : order
        }
        return order
    }
}

extension NSPersistentHistoryToken {
    /// The token after a transaction of a store; nil if the store has no such transaction.
    package func at(transaction number: Int64, of store: NSPersistentStore) -> NSPersistentHistoryToken? {
        guard number >= 0, let uuid = store.identifier, let newest = sequences[uuid], UInt64(number) <= newest else {
            return nil
        }
        return NSPersistentHistoryToken([uuid: UInt64(number)])
    }

    /// The number of the last transaction of a store that the token covers; nil if it is not one of the store's.
    package func transactionNumber(of store: NSPersistentStore) -> Int64? {
        store.identifier.flatMap { sequences[$0] }.map { Int64($0) }
    }
}

public import Foundation
import StrataLog

/// Names a state of a coordinator's stores that a context can be pinned to.
///
/// A token that a context gave out keeps that state in memory as long as it lives. Archived and restored, or made for a
/// point of the past (see ``NSPersistentStoreCoordinator/queryGeneration(at:)-(Date)``), it names a state that is read
/// from the log when a context is pinned to it, as long as the stores retain their history from there on. Tokens are
/// equal when they name the same state. Immutable, and safe to use from any thread.
public final class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, Sendable {
    /// Transaction numbers by store UUID; nil for ``current``.
    let sequences: [String: UInt64]?
    /// The states themselves; of a restored token only what was found.
    let snapshots: [String: Snapshot]
    /// Whether contexts that are pinned to it stay there and cannot save.
    let isPast: Bool

    /// Stands for the state that is the newest when a context first reads after it was pinned to this.
    public class var current: NSQueryGenerationToken { currentToken }

    private static let currentToken = NSQueryGenerationToken()

    private override init() {
        sequences = nil
        snapshots = [:]
        isPast = false
    }

    init(_ snapshots: [String: Snapshot], isPast: Bool = false) {
        sequences = snapshots.mapValues(\.sequence)
        self.snapshots = snapshots
        self.isPast = isPast
    }

    /// Names a point of the past that nobody has looked at yet.
    init(past sequences: [String: UInt64]) {
        self.sequences = sequences
        snapshots = [:]
        isPast = true
    }

    /// True: nothing but numbers and strings is archived.
    public static var supportsSecureCoding: Bool { true }

    private static let codingKey = "sequences"
    private static let pastKey = "past"

    /// Reads an archived token. Nil if the archive holds none.
    public init?(coder: NSCoder) {
        snapshots = [:]
        isPast = coder.decodeBool(forKey: Self.pastKey)
        guard coder.containsValue(forKey: Self.codingKey) else {
            sequences = nil
            return
        }
        guard let data = coder.decodeObject(of: NSData.self, forKey: Self.codingKey) as Data?,
            let decoded = try? JSONDecoder().decode([String: UInt64].self, from: data)
        else { return nil }
        sequences = decoded
    }

    /// Archives the token. The generation itself is not archived: a token that was read back is good as long as
    /// something else holds its generation, or the store retains its history from there on.
    public func encode(with coder: NSCoder) {
        // A dictionary of strings and numbers always has a JSON form.
        guard let sequences, let data = try? JSONEncoder().encode(sequences) else { return }
        coder.encode(data as NSData, forKey: Self.codingKey)
        if isPast { coder.encode(true, forKey: Self.pastKey) }
    }

    /// The same object, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// The number of the last transaction of a store that it shows; nil for ``current``, and if it names no such store.
    package func transactionNumber(of store: NSPersistentStore) -> Int64? {
        store.identifier.flatMap { sequences?[$0] }.map { Int64($0) }
    }

    /// Whether both name the same state of the same stores.
    override public func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSQueryGenerationToken else { return false }
        return other.sequences == sequences && other.isPast == isPast
    }

    /// Agrees with equality.
    override public var hash: Int { sequences.hashValue }

    /// A text for logs and for debugging; not to be parsed.
    override public var description: String {
        guard let sequences else { return "NSQueryGenerationToken current" }
        return "NSQueryGenerationToken \(sequences.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })"
    }
}

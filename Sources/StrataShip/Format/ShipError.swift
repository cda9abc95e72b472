public import StrataLog
public import StrataObjectStore
internal import SystemPackage

/// Why a log could not be shipped or restored.
public struct ShipError: Error, Sendable {
    /// What kind of error it is.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String {
            case fenced, conflict, unsafeStore, damaged, missing, notRestorable, exists, invalid, unsupportedFormat
            case local, store, cancelled, key
        }

        private let name: Name

        private init(_ name: Name) {
            self.name = name
        }

        /// Another shipper has taken over: nothing more may be shipped from here.
        public static let fenced = Code(.fenced)
        /// The bucket has another log than the store: a fork's, another store's, or one that is further.
        public static let conflict = Code(.conflict)
        /// The bucket does not keep conditional writes.
        public static let unsafeStore = Code(.unsafeStore)
        /// An object is not what was written.
        public static let damaged = Code(.damaged)
        /// Something that was shipped is gone: the bucket was emptied, or a rule deletes from it.
        public static let missing = Code(.missing)
        /// There is no state to restore that fits.
        public static let notRestorable = Code(.notRestorable)
        /// There is something already where a store is to be restored.
        public static let exists = Code(.exists)
        /// An argument makes no sense.
        public static let invalid = Code(.invalid)
        /// A later version wrote it.
        public static let unsupportedFormat = Code(.unsupportedFormat)
        /// The store on this machine could not be read or written; ``ShipError/storeError`` says why.
        public static let local = Code(.local)
        /// The object store did not do it; ``ShipError/objectStoreError`` says why.
        public static let store = Code(.store)
        /// The bucket is encrypted and the key is missing or another one, or it is not and keys were given.
        public static let key = Code(.key)
        /// The task was cancelled.
        public static let cancelled = Code(.cancelled)

        public var description: String { name.rawValue }
    }

    /// What kind of error it is.
    public let code: Code
    /// What happened and what can be done about it.
    public let message: String
    /// The object concerned.
    public let key: String?
    /// The object store's error, if that is the cause.
    public let objectStoreError: ObjectStoreError?
    /// The engine's error, if that is the cause.
    public let storeError: StoreError?

    init(
        _ code: Code, _ message: String, key: String? = nil, objectStoreError: ObjectStoreError? = nil,
        storeError: StoreError? = nil
    ) {
        self.code = code
        self.message = message
        self.key = key
        self.objectStoreError = objectStoreError
        self.storeError = storeError
    }

    init(_ error: StoreError) {
        self.init(.local, error.description, storeError: error)
    }

    init(_ error: ObjectStoreError) {
        if case .cancelled = error {
            self.init(.cancelled, "the task was cancelled", objectStoreError: error)
        } else {
            self.init(.store, error.description, objectStoreError: error)
        }
    }

    /// The same with more to say.
    func adding(_ text: String) -> ShipError {
        ShipError(code, message + text, key: key, objectStoreError: objectStoreError, storeError: storeError)
    }

    /// Whether the same may succeed later, without anybody doing anything.
    public var mayPass: Bool {
        switch objectStoreError {
        case .unavailable, .unanswered, .credentials, .denied, .damaged: return true
        default: break
        }
        guard let storeError else { return false }
        switch storeError.code {
        // A store that is no longer at its path does not come back by itself.
        case .io: return storeError.errno != .staleNFSFileHandle
        case .corruption: return true
        // Compaction removed it after it was listed.
        case .notFound: return storeError.segment != nil
        default: return false
        }
    }
}

extension ShipError: CustomStringConvertible {
    public var description: String {
        guard let key else { return message }
        return "\(message) (object \(key))"
    }
}

/// Runs a request and makes a ``ShipError`` of what it throws.
func asking<Result>(
    _ body: () async throws(ObjectStoreError) -> Result
) async throws(ShipError) -> Result {
    do throws(ObjectStoreError) {
        return try await body()
    } catch {
        throw ShipError(error)
    }
}

/// Reads or writes the store and makes a ``ShipError`` of what that throws.
func locally<Result>(_ body: () throws(StoreError) -> Result) throws(ShipError) -> Result {
    do throws(StoreError) {
        return try body()
    } catch {
        throw ShipError(error)
    }
}

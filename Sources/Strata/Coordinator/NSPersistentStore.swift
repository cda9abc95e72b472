public import Foundation
import StrataLog
import Synchronization

/// A store that a coordinator has opened.
///
/// Safe to use from any thread.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    // Unchecked: what changes is in the mutex or weak.

    /// The kind of a store, in the new spelling.
    public struct StoreType: Hashable, RawRepresentable, Sendable {
        public typealias RawValue = String

        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The log store: what `NSSQLiteStoreType` names here.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// Not supported.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// A store in memory, with the same engine.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        /// Not supported.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
    }

    private struct State: @unchecked Sendable {
        // Unchecked: values of metadata and options are immutable property-list values.
        var url: URL?
        var metadata: [String: Any] = [:]
        var isMetadataChanged = false
        var handle: StoreHandle?
        weak var coordinator: NSPersistentStoreCoordinator?
    }

    private let state: Mutex<State>
    private let storedOptions: [AnyHashable: Any]?
    private let configuration: String?
    private let storeType: String
    /// Whether every save posts `NSPersistentStoreRemoteChange`.
    let postsRemoteChanges: Bool

    init(
        coordinator: NSPersistentStoreCoordinator, type: String, configuration: String?, url: URL?,
        options: [AnyHashable: Any]?, handle: StoreHandle, metadata: [String: Any]
    ) {
        storeType = type
        self.configuration = configuration
        storedOptions = options
        postsRemoteChanges =
            StoreOptions.flag(options, NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        state = Mutex(State(url: url, metadata: metadata, handle: handle, coordinator: coordinator))
        super.init()
        handle.identity.store = self
    }

    /// The coordinator that opened the store; nil once it has been removed.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? { state.withLock { $0.coordinator } }

    /// The configuration of the model that the store holds; "PF_DEFAULT_CONFIGURATION_NAME" for all entities.
    open var configurationName: String { configuration ?? "PF_DEFAULT_CONFIGURATION_NAME" }

    /// The options the store was opened with.
    open var options: [AnyHashable: Any]? { storedOptions }

    /// Where the store is: the directory of the log. Nil or /dev/null for a store in memory.
    open var url: URL? {
        get { state.withLock { $0.url } }
        set { state.withLock { [newValue] in $0.url = newValue } }
    }

    /// The store's UUID.
    open var identifier: String! { handleIdentity }

    /// The type of the store, such as ``NSSQLiteStoreType``.
    open var type: String { storeType }

    /// Whether saves are refused.
    open var isReadOnly: Bool { handle?.isReadOnly ?? true }

    /// The store's metadata. What is set is written with the next save.
    open var metadata: [String: Any]! {
        get {
            let box = state.withLock { UncheckedBox($0.metadata) }
            return box.value
        }
        set {
            let box = UncheckedBox(newValue ?? [:])
            state.withLock { state in
                var metadata = box.value
                // What identifies the store cannot be lost or changed.
                for key in StoreMetadata.systemKeys { metadata[key] = state.metadata[key] }
                state.metadata = metadata
                state.isMetadataChanged = true
            }
        }
    }

    /// Called when the store has been added to a coordinator.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called before the store is removed from its coordinator.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// Nil once the store has been removed.
    final var handle: StoreHandle? { state.withLock { $0.handle } }

    private var handleIdentity: String? { handle?.identity.uuidString ?? metadata[NSStoreUUIDKey] as? String }

    /// Writes metadata that was set. Durable when it returns.
    final func savePendingMetadata() throws {
        let box: UncheckedBox<[String: Any]>? = state.withLock { state in
            guard state.isMetadataChanged else { return nil }
            state.isMetadataChanged = false
            return UncheckedBox(state.metadata)
        }
        guard let box, let handle, !handle.isReadOnly else { return }
        do {
            try StoreMetadata.write(box.value, to: handle.log)
        } catch {
            state.withLock { $0.isMetadataChanged = true }
            throw (error as? StoreError).map { StoreFailure.cocoaError($0, saving: handle) } ?? error
        }
    }

    /// Takes the handle away; the caller closes its log.
    final func detach() -> StoreHandle? {
        let handle = state.withLock { state in
            let handle = state.handle
            state.handle = nil
            state.coordinator = nil
            return handle
        }
        handle?.markDetached()
        if let identity = handle?.identity, identity.store === self { identity.store = nil }
        return handle
    }

    override open var description: String {
        "<\(Swift.type(of: self)): \(identifier ?? "")> (URL: \(url?.absoluteString ?? "none"))"
    }
}

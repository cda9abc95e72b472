public import Foundation
import StrataLog
import StrataSupport
import Synchronization

/// A store that a coordinator has opened.
///
/// Log stores are instances of this class. Other stores are instances of subclasses of ``NSAtomicStore`` or
/// ``NSIncrementalStore`` that the program has registered with the coordinator's class.
///
/// Safe to use from any thread.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    // Unchecked, as an open class has to be: what changes is in the mutex. Options are immutable property-list values.

    /// The kind of a store, in the new spelling.
    public struct StoreType: Hashable, RawRepresentable, Sendable {
        /// A store type is its name.
        public typealias RawValue = String

        /// The name of the type, such as ``NSSQLiteStoreType``.
        public var rawValue: String

        /// The type of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The log store: what `NSSQLiteStoreType` names here.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// One file, read and written as a whole, in binary.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// A store in memory, with the same engine.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        /// One file, read and written as a whole, in XML.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
    }

    private struct State: @unchecked Sendable {
        // Unchecked: values of metadata and options are immutable property-list values.
        var url: URL?
        var type = ""
        var metadata: [String: Any] = [:]
        var isMetadataChanged = false
        var isReadOnly = false
        var handle: StoreHandle?
        weak var coordinator: NSPersistentStoreCoordinator?
    }

    private let state: AdaptiveMutex<State>
    private let storedOptions: [AnyHashable: Any]?
    private let configuration: String?
    /// Whether every save posts `NSPersistentStoreRemoteChange`.
    let postsRemoteChanges: Bool
    /// Whether the program asked for persistent history. The log has it in any case; notifications name its tokens only
    /// then.
    let tracksHistory: Bool

    /// Creates a store that a coordinator is about to add. Opens nothing yet.
    ///
    /// Called by the coordinator with the class that was registered for a type. A registered subclass that has a
    /// designated initialiser of its own overrides this one, too.
    public init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        configuration = name
        storedOptions = options
        postsRemoteChanges = StoreOptions.flag(options, NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        tracksHistory = StoreOptions.flag(options, NSPersistentHistoryTrackingKey)
        state = AdaptiveMutex(
            State(
                url: url, isReadOnly: StoreOptions.flag(options, NSReadOnlyPersistentStoreOption), coordinator: root))
        super.init()
    }

    // Not designated: classes outside of the module could not override it, and would inherit no initialiser.
    convenience init(
        coordinator: NSPersistentStoreCoordinator, type: String, configuration: String?, url: URL?,
        options: [AnyHashable: Any]?, handle: StoreHandle, metadata: [String: Any]
    ) {
        self.init(
            persistentStoreCoordinator: coordinator, configurationName: configuration,
            at: url ?? URL(fileURLWithPath: "/dev/null"), options: options)
        let settled = State(url: url, type: type, metadata: metadata, handle: handle, coordinator: coordinator)
        state.withLock { $0 = settled }
        handle.identity.add(self)
    }

    // MARK: What the store is

    /// The coordinator that opened the store; nil once it has been removed.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? { state.withLock { $0.coordinator } }

    /// The configuration of the model that the store holds; "PF_DEFAULT_CONFIGURATION_NAME" for all entities.
    open var configurationName: String { configuration ?? NSManagedObjectModel.defaultConfigurationName }

    /// The options the store was opened with.
    open var options: [AnyHashable: Any]? { storedOptions }

    /// Where the store is: the directory of the log. Nil, /dev/null or a path below it for a store in memory.
    ///
    /// Setting it moves nothing; see `NSPersistentStoreCoordinator.setURL(_:for:)`.
    open var url: URL? {
        get { state.withLock { $0.url } }
        set { state.withLock { [newValue] in $0.url = newValue } }
    }

    /// The store's UUID.
    ///
    /// - Precondition: only that of a store that is not a log can be set, and only before it has been added.
    open var identifier: String! {
        get { handle?.identity.uuidString ?? metadata?[NSStoreUUIDKey] as? String }
        set {
            if let handle {
                guard handle.identity.uuidString == newValue else {
                    programmerError(
                        "NSPersistentStore.identifier",
                        "the UUID of an open store cannot be changed, it is part of every checksum", "Leave it as it is"
                    )
                }
                return
            }
            var changed: [String: Any] = metadata ?? [:]
            changed[NSStoreUUIDKey] = newValue
            metadata = changed
        }
    }

    /// The type of the store, such as ``NSSQLiteStoreType``.
    open var type: String {
        let type = state.withLock { $0.type }
        return type.isEmpty ? metadata?[NSStoreTypeKey] as? String ?? "" : type
    }

    /// Whether saves are refused. A store that was opened read-only stays so.
    open var isReadOnly: Bool {
        get { handle?.isReadOnly ?? state.withLock { $0.isReadOnly } }
        set {
            state.withLock { $0.isReadOnly = newValue }
            handle?.isReadOnly = newValue
        }
    }

    // MARK: Metadata

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
                if state.handle != nil {
                    // What identifies an open store cannot be lost or changed.
                    for key in StoreMetadata.systemKeys { metadata[key] = state.metadata[key] }
                }
                state.metadata = metadata
                state.isMetadataChanged = true
            }
        }
    }

    /// Reads the metadata, when the store is being added. A subclass overrides it and sets ``metadata`` with at least
    /// `NSStoreUUIDKey` and `NSStoreTypeKey`; this one gives a new store a UUID.
    ///
    /// - Throws: whatever keeps the store from being added.
    open func loadMetadata() throws {
        guard metadata.isEmpty else { return }
        metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: type]
    }

    /// The class that migrates stores of this class object by object: ``NSMigrationManager``, or what a subclass names.
    open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

    /// The metadata of a store of this class that no coordinator need have opened. A subclass overrides it; this one
    /// reads that of a log store.
    ///
    /// - Throws: `CocoaError` 260 when there is no store, 259 when what is there is none.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try StoreOpening.metadata(at: url, type: NSSQLiteStoreType)
    }

    /// Sets the metadata of a store of this class. A subclass overrides it; this one sets that of a log store. Durable
    /// when it returns.
    ///
    /// - Throws: `CocoaError` 260 when there is no store, 259 when what is there is none, 134080 when it is in use.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try StoreOpening.setMetadata(metadata, at: url)
    }

    // MARK: Life cycle

    /// Called when the store has been added to a coordinator.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called before the store is removed from its coordinator.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// Nil once the store has been removed.
    package final var handle: StoreHandle? { state.withLock { $0.handle } }

    /// Opens the store: from now on its rows are found through the handle.
    final func attach(_ handle: StoreHandle, type: String, to coordinator: NSPersistentStoreCoordinator) {
        state.withLock { state in
            state.handle = handle
            state.type = type
            state.coordinator = coordinator
        }
        handle.identity.add(self)
    }

    /// Puts entries into the metadata that the framework keeps, without making them a change.
    final func setSystemMetadata(_ entries: [String: Any]) {
        let box = UncheckedBox(entries)
        state.withLock { $0.metadata.merge(box.value) { _, new in new } }
    }

    /// Writes metadata that was set. Durable when it returns.
    final func savePendingMetadata() throws {
        let box: UncheckedBox<[String: Any]>? = state.withLock { state in
            guard state.isMetadataChanged else { return nil }
            state.isMetadataChanged = false
            return UncheckedBox(state.metadata)
        }
        guard let box, let handle, !handle.isReadOnly else { return }
        do {
            if let custom = handle.custom {
                try custom.saveMetadata()
            } else {
                try StoreMetadata.write(box.value, to: handle.log)
            }
        } catch {
            state.withLock { $0.isMetadataChanged = true }
            throw (error as? StoreError).map { StoreFailure.cocoaError($0, saving: handle) } ?? error
        }
    }

    /// Whether metadata waits for being written; asked by custom stores that write it with everything else.
    final func forgetMetadataChange() {
        state.withLock { $0.isMetadataChanged = false }
    }

    /// Takes the handle away; the caller closes it.
    ///
    /// - Parameter isMoving: whether another store takes over the objects, which can be read until then.
    final func detach(isMoving: Bool = false) -> StoreHandle? {
        let handle = state.withLock { state in
            let handle = state.handle
            state.isReadOnly = handle?.isReadOnly ?? state.isReadOnly
            state.handle = nil
            state.coordinator = nil
            return handle
        }
        if !isMoving { handle?.markDetached() }
        handle?.identity.remove(self)
        return handle
    }

    /// Exchanges the handle of a store that stays in its coordinator.
    final func exchange(_ new: StoreHandle, url: URL, metadata: [String: Any]) -> StoreHandle? {
        let box = UncheckedBox(metadata)
        let old = state.withLock { state in
            let old = state.handle
            state.handle = new
            state.url = url
            state.metadata = box.value
            state.isMetadataChanged = false
            return old
        }
        old?.markDetached()
        old?.identity.remove(self)
        new.identity.add(self)
        return old
    }

    /// A text for logs and for debugging; not to be parsed.
    override open var description: String {
        "<\(Swift.type(of: self)): \(addressDescription(self))> (URL: \(url?.absoluteString ?? "none"))"
    }
}

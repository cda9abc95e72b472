public import Foundation

/// What a container or coordinator needs to know to add a store.
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// The type of the store, such as ``NSSQLiteStoreType`` (the default).
    open var type = NSSQLiteStoreType
    /// The configuration of the model that the store holds; nil for all entities.
    open var configuration: String?
    /// Where the store is.
    open var url: URL?
    /// Whether the store is opened without the right to write.
    open var isReadOnly: Bool {
        get { StoreOptions.flag(options, NSReadOnlyPersistentStoreOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSReadOnlyPersistentStoreOption) }
    }
    /// How long to wait for the store, in seconds. Kept only.
    open var timeout: TimeInterval = 240
    /// Whether the store is added on a thread of its own. Default `false`.
    open var shouldAddStoreAsynchronously = false
    /// Whether a store of an older model is brought to the new one. Default `true`.
    open var shouldMigrateStoreAutomatically = true
    /// Whether the mapping between two models is inferred. Default `true`.
    open var shouldInferMappingModelAutomatically = true
    /// The options the store is opened with.
    open private(set) var options: [String: NSObject] = [:]
    /// SQLite's pragmas. Kept only.
    open private(set) var sqlitePragmas: [String: NSObject] = [:]

    /// Describes a store of the default type at a URL.
    public init(url: URL) {
        self.url = url
    }

    override public init() {}

    /// Sets an option of the store; nil removes it.
    open func setOption(_ option: NSObject?, forKey key: String) {
        options[key] = option
    }

    /// Keeps a pragma; there is nothing that it applies to.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        sqlitePragmas[name] = value
    }

    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.timeout = timeout
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        copy.shouldMigrateStoreAutomatically = shouldMigrateStoreAutomatically
        copy.shouldInferMappingModelAutomatically = shouldInferMappingModelAutomatically
        copy.options = options
        copy.sqlitePragmas = sqlitePragmas
        return copy
    }

    override open var description: String {
        "<NSPersistentStoreDescription> (type: \(type), url: \(url?.absoluteString ?? "none"))"
    }
}

public import Foundation

/// Describes a store for a container or coordinator to add: its URL, type, configuration and options.
///
/// Use an instance from one thread at a time.
///
/// ```swift
/// let description = NSPersistentStoreDescription(url: url)
/// description.setOption("full" as NSString, forKey: StrataDurabilityOption)
/// ```
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// The type of the store, such as ``NSSQLiteStoreType`` (the default).
    open var type = NSSQLiteStoreType
    /// The configuration of the model that the store holds; nil for all entities.
    open var configuration: String?
    /// Where the store is. /dev/null, and every path below it, makes a store in memory.
    open var url: URL?
    /// Whether the store is added on a thread of its own. Default `false`.
    open var shouldAddStoreAsynchronously = false
    /// The CloudKit container that the store is to be mirrored to; nil for a local store. Linux does not mirror it:
    /// ``NSPersistentCloudKitContainer`` reports this when it loads the store; other containers and coordinators ignore
    /// it, as on Apple's platforms. Default nil.
    open var cloudKitContainerOptions: NSPersistentCloudKitContainerOptions?
    /// The options the store is opened with; the properties below are among them.
    open private(set) var options: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
        NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]

    /// Describes a store of the default type at a URL.
    public init(url: URL) {
        self.url = url
    }

    /// Describes a store of the default type at /dev/null.
    override public init() {
        url = URL(fileURLWithPath: "/dev/null")
    }

    /// Whether the store is opened without the right to write. Default `false`.
    open var isReadOnly: Bool {
        get { StoreOptions.flag(options[NSReadOnlyPersistentStoreOption]) }
        set { setOption(NSNumber(value: newValue), forKey: NSReadOnlyPersistentStoreOption) }
    }

    /// How long to wait for a store that another process has, in seconds. Default 240, which is not among the options
    /// until it is set: without it a store that is in use is refused at once.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }

    /// Whether a store of an older model is brought to the new one. Default `true`.
    open var shouldMigrateStoreAutomatically: Bool {
        get { StoreOptions.flag(options[NSMigratePersistentStoresAutomaticallyOption]) }
        set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
    }

    /// Whether the mapping between two models is inferred. Default `true`.
    open var shouldInferMappingModelAutomatically: Bool {
        get { StoreOptions.flag(options[NSInferMappingModelAutomaticallyOption]) }
        set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
    }

    /// Sets an option of the store; nil removes it.
    open func setOption(_ option: NSObject?, forKey key: String) {
        options[key] = option
    }

    /// SQLite's pragmas, which are among the options. Nothing in Strata applies them.
    open var sqlitePragmas: [String: NSObject] {
        (options[NSSQLitePragmasOption] as? NSDictionary as? [String: NSObject]) ?? [:]
    }

    /// Keeps a pragma; nil removes it.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        setOption(pragmas.isEmpty ? nil : NSDictionary(dictionary: pragmas), forKey: NSSQLitePragmasOption)
    }

    /// A copy with the same settings.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        copy.options = options
        copy.cloudKitContainerOptions = cloudKitContainerOptions
        return copy
    }

    /// Whether both describe the same store with the same options.
    override open func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentStoreDescription else { return false }
        return other === self
            || (other.type == type && other.configuration == configuration && other.url == url
                && other.shouldAddStoreAsynchronously == shouldAddStoreAsynchronously && other.options == options)
    }

    /// Agrees with equality.
    override open var hash: Int { url.hashValue ^ type.hashValue }

    /// A text for logs and for debugging; not to be parsed.
    override open var description: String {
        "<\(Swift.type(of: self)): \(addressDescription(self))> (type: \(type), url: \(url?.absoluteString ?? "(null)"))"
    }
}

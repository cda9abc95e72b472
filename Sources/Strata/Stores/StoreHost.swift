import StrataIO
import StrataLog

/// What a log store stands on: the machine's file system and the engine's usual settings, unless the options of the
/// store name others. Tests do, with a file system that crashes and small segments.
struct StoreHost: Sendable {
    var fileSystem: any FileSystem = PosixFileSystem()
    /// Changes the settings that the store's other options have led to.
    var adjust: @Sendable (inout LogOptions) -> Void = { _ in }

    /// The option whose value is a host.
    static let option = "StrataStoreHost"

    static func of(_ options: [AnyHashable: Any]?) -> StoreHost { options?[option] as? StoreHost ?? StoreHost() }
}

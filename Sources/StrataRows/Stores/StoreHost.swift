import StrataIO
import StrataLog

/// What a log store stands on: the machine's file system and the engine's usual settings, unless the options of the
/// store name others. Tests do, with a file system that crashes and small segments.
package struct StoreHost: Sendable {
    package var fileSystem: any FileSystem = PosixFileSystem()
    /// Changes the settings that the store's other options have led to.
    package var adjust: @Sendable (inout LogOptions) -> Void = { _ in }

    /// The option whose value is a host.
    package static let option = "StrataStoreHost"

    package init(
        fileSystem: any FileSystem = PosixFileSystem(),
        adjust: @escaping @Sendable (inout LogOptions) -> Void = { _ in }
    ) {
        self.fileSystem = fileSystem
        self.adjust = adjust
    }

    package static func of(_ options: [AnyHashable: Any]?) -> StoreHost {
        options?[option] as? StoreHost ?? (options?[option] as? StoreHostOption)?.host ?? StoreHost()
    }
}

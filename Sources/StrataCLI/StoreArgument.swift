import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataIO
import StrataLog
import SystemPackage

/// The store that a command is about.
struct StoreArgument: ParsableArguments {
    @Argument(help: "The store's directory.", completion: .directory)
    var store: String

    var url: URL { URL(fileURLWithPath: store, isDirectory: true).resolvingSymlinksInPath() }

    /// The engine's view of the store.
    func openLog() throws -> LogStore {
        var options = LogOptions()
        options.access = .readOnly
        options.createsIfMissing = false
        return try LogStore.open(FilePath(url.path), in: PosixFileSystem(), options: options, schema: nil)
    }

    func session(at point: Point? = nil) throws -> Session { try Session(url, point) }
}

import StrataIO
import StrataLog
import SystemPackage

/// The identity by which object IDs and history tokens go.
package enum CopyIdentity {
    /// Lets a store that was copied go by the UUID of its source: it takes that one's place in every respect.
    ///
    /// Otherwise the next opening for writing gives the copy a UUID of its own. Durable when it returns.
    ///
    /// - Parameters:
    ///   - log: open for writing.
    ///   - path: where it is now; it may be renamed later.
    /// - Throws: what writing the metadata throws.
    package static func keep(_ log: LogStore, at path: FilePath, in fileSystem: any FileSystem) throws {
        try StoreLineage.ensureOwnIdentity(log, at: path, in: fileSystem, keepsUUID: true)
    }
}

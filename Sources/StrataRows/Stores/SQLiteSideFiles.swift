import StrataIO
import StrataLog
import SystemPackage

/// The empty files `NAME-wal` and `NAME-shm` beside a store.
///
/// SQLite keeps its write-ahead log in files of these names. Programs that were written for Core Data remove, copy and
/// move them along with the store, and often do not ask whether they are there: a missing one is an error to them.
/// Strata neither reads nor writes them, and a store is as good without them.
package enum SQLiteSideFiles {
    package static let suffixes = ["-wal", "-shm"]

    /// Makes those that are missing. What is there under their names stays as it is, and so does a directory that may
    /// not be written.
    ///
    /// - Parameter path: where a store is. One that is only being made, to take another's place, gets none.
    package static func make(beside path: FilePath, _ fileSystem: any FileSystem) {
        if StoreDirectory.isUnfinished(path) { return }
        for suffix in suffixes {
            // One that cannot be made is missed by nobody but programs of that kind.
            try? fileSystem.open(FilePath(path.string + suffix), .create).close()
        }
    }
}

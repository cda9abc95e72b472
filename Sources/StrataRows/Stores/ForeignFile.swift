import StrataIO
import StrataLog
import SystemPackage

/// What to say of a file that lies where a store, which is a directory, was looked for.
package enum ForeignFile {
    private static let sqliteMagic = Array("SQLite format 3\0".utf8)

    /// The error for it. A store of Apple's Core Data is told from other files, and the command that imports it.
    package static func error(_ path: String) -> StoreError {
        guard isSQLite(path) else {
            return StoreError(.corruption, "what is there is no store of Strata but a file", path: path)
        }
        return StoreError(
            .corruption,
            "what is there is a file of SQLite, as Apple's Core Data has its stores, and no store of Strata: make one of "
                + "it with 'strata import --core-data \(path) NEW-STORE' or CoreDataImporter", path: path)
    }

    private static func isSQLite(_ path: String) -> Bool {
        guard let file = try? PosixFileSystem().open(FilePath(path), .read) else { return false }
        return (try? UnfinishedFile.beginning(of: file)) == sqliteMagic
    }
}

import Foundation
import StrataLog

/// What to say of a file that lies where a store, which is a directory, was looked for.
enum ForeignFile {
    private static let sqliteMagic = Data("SQLite format 3\0".utf8)

    /// The error for it. A store of Apple's Core Data is told from other files, and the command that imports it.
    static func error(_ path: String) -> StoreError {
        guard isSQLite(path) else {
            return StoreError(.corruption, "what is there is no store of Strata but a file", path: path)
        }
        return StoreError(
            .corruption,
            "what is there is a file of SQLite, as Apple's Core Data has its stores, and no store of Strata: make one of "
                + "it with 'strata import --core-data \(path) NEW-STORE' or CoreDataImporter", path: path)
    }

    /// Only a regular file is opened: a pipe would wait for somebody to write, and a device is not ours to touch.
    private static func isSQLite(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard attributes?[.type] as? FileAttributeType == .typeRegular, let file = FileHandle(forReadingAtPath: path)
        else { return false }
        defer { try? file.close() }
        return (try? file.read(upToCount: sqliteMagic.count)) == sqliteMagic
    }
}

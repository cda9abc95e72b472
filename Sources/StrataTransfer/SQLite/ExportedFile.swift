import Foundation
import StrataIO
import SystemPackage

/// A file that SQLite writes and that gets its name when it is complete. Mode 0600. Used by one thread.
///
/// SQLite opens files by their names only. So the file has one in its folder until SQLite has it open, and none from
/// then on; what it has become is copied into one that can be given a name. Where there are no such files, it keeps its
/// first name until it is renamed.
final class ExportedFile {
    /// Where SQLite is to open it.
    let origin: URL
    private let target: FilePath
    private let folder: any Directory
    private let file: any File
    private let nameless: NamelessFile?
    private var hasName = true

    /// - Throws: ``TransferError`` when something has the name, or the file cannot be made.
    init(_ url: URL) throws {
        target = FilePath(url.path)
        let fileSystem = PosixFileSystem()
        do throws(Errno) {
            let directory = try fileSystem.resolve(FilePath(url.deletingLastPathComponent().path))
            folder = try fileSystem.openDirectory(directory)
            guard try folder.attributes(of: url.lastPathComponent) == nil else { throw .fileExists }
            let name = ".\(url.lastPathComponent).\(UUID().uuidString)"
            origin = URL(fileURLWithPath: directory.appending(name).string)
            file = try fileSystem.open(directory.appending(name), .create)
            nameless = NamelessFile(in: directory)
        } catch {
            throw Self.problem(url.path, error)
        }
    }

    deinit { discard() }

    private static func problem(_ path: String, _ error: Errno) -> TransferError {
        error == .fileExists
            ? TransferError("\(path) is there already: an export takes the place of nothing")
            : TransferError("\(path): \(error)")
    }

    /// Removes the name, now that SQLite has the file open.
    func takeName() throws {
        guard nameless != nil else { return }
        do throws(Errno) {
            try folder.unlink(origin.lastPathComponent)
            hasName = false
        } catch {
            throw Self.problem(target.string, error)
        }
    }

    /// Gives the file its name. Durable when it returns; after an error nothing is there.
    func install() throws {
        defer { discard() }
        do throws(Errno) {
            if let nameless { return try nameless.install(file, as: target, in: folder) }
            try file.sync()
            guard try folder.attributes(of: target.lastComponent?.string ?? "") == nil else { throw .fileExists }
            try PosixFileSystem().rename(FilePath(origin.path), to: target)
            hasName = false
            try folder.sync()
        } catch {
            throw Self.problem(target.string, error)
        }
    }

    /// Removes the file, unless it has its name.
    func discard() {
        if hasName { try? folder.unlink(origin.lastPathComponent) }
        hasName = false
    }
}

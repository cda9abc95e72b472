import Foundation
import StrataIO
import SystemPackage

/// A database of somebody else's: a file of SQLite and what lies beside it, all of it reached from one folder that is
/// kept open. Only regular files are opened, for reading, and none through a link. Used by one thread.
final class ForeignDatabase {
    /// As the caller named it, for errors.
    let name: String
    /// The file itself, whatever links lead to it.
    let path: FilePath
    private let folder: any Directory
    private let file: any File
    /// What lies beside the file and belongs to it, by what follows the file's name: never empty files.
    private let companions: [(suffix: String, file: any File)]

    /// The last bytes of a journal that names another file.
    private static let journalMagic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

    /// - Throws: ``TransferError`` when there is no file, it or what belongs to it is no regular file or cannot be
    ///   read, and for a rollback journal that names another file.
    init(_ url: URL) throws {
        name = url.path
        let fileSystem = PosixFileSystem()
        do throws(Errno) {
            // The file may be called by a link. What lies beside the file itself is its log, not what lies beside the
            // link.
            path = try fileSystem.resolve(FilePath(url.path))
            folder = try fileSystem.openDirectory(path.removingLastComponent())
        } catch {
            throw Self.problem(url.path, error)
        }
        guard let file = try Self.open(path.lastComponent?.string ?? "", in: folder, url.path) else {
            throw TransferError("\(url.path): no such file")
        }
        self.file = file
        var found: [(suffix: String, file: any File)] = []
        for suffix in ["-wal", "-journal"] {
            let name = (path.lastComponent?.string ?? "") + suffix
            guard let companion = try Self.open(name, in: folder, url.path + suffix), try companion.byteCount() > 0
            else { continue }
            if suffix == "-journal", try !Self.isHot(companion, url.path) { continue }
            found.append((suffix, companion))
        }
        companions = found
    }

    private static func problem(_ path: String, _ error: Errno) -> TransferError {
        switch error {
        case .noSuchFileOrDirectory, .notDirectory: TransferError("\(path): no such file")
        case .tooManySymbolicLinkLevels: TransferError("\(path) is a link, and an import follows none")
        case .isDirectory, .invalidArgument: TransferError("\(path) is no regular file")
        default: TransferError("\(path): \(error)")
        }
    }

    /// - Returns: nil when there is no such file.
    private static func open(_ name: String, in folder: any Directory, _ path: String) throws -> (any File)? {
        do throws(Errno) {
            return try folder.open(name)
        } catch .noSuchFileOrDirectory {
            return nil
        } catch {
            throw problem(path, error)
        }
    }

    /// Whether a rollback journal has to be rolled back: its owner has died while it wrote.
    ///
    /// A journal of a transaction over several databases ends with the name of a file that SQLite looks for and
    /// removes. No file is to say which files are removed.
    private static func isHot(_ journal: any File, _ path: String) throws -> Bool {
        let count = try journal.byteCount()
        guard try bytes(journal, at: 0, 1) != [0] else { return false }
        if count >= 16, try bytes(journal, at: count - 8, 8) == journalMagic {
            throw TransferError(
                "\(path)-journal names another file: it belongs to a transaction over several databases. Let the program "
                    + "that the file belongs to open it once, so that it comes to an end")
        }
        return true
    }

    private static func bytes(_ file: any File, at offset: Int64, _ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let found = try bytes.withUnsafeMutableBytes { try file.readPrefix(into: $0, at: offset) }
        return Array(bytes.prefix(found))
    }

    /// Whether there is a log or a journal, so that SQLite would have to write to read the database.
    var isUnfinished: Bool { !companions.isEmpty }

    /// Whether the path still leads to the file that was opened.
    func isInPlace() throws -> Bool {
        try folder.attributes(of: path.lastComponent?.string ?? "")?.identity == file.identity()
    }

    /// Copies the file and what belongs to it.
    func copy(to target: FilePath) throws {
        for (suffix, file) in [("", file)] + companions {
            let copy = try PosixFileSystem().open(FilePath(target.string + suffix), .create)
            defer { try? copy.close() }
            try Self.copy(file, to: copy, name + suffix)
            // Whoever has the original may have changed it since it was looked at.
            if suffix == "-journal" { _ = try Self.isHot(copy, name) }
        }
    }

    private static func copy(_ source: any File, to target: any File, _ name: String) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        do throws(Errno) {
            while true {
                let count = try source.readPrefix(into: buffer, at: offset)
                guard count > 0 else { return }
                try target.writeAll([UnsafeRawBufferPointer(rebasing: buffer[..<count])], at: offset)
                offset += Int64(count)
            }
        } catch {
            throw TransferError("\(name) cannot be copied: \(error)")
        }
    }

    // MARK: Values in files of their own

    /// The folder of the values that lie beside the database, from the database's own folder on; nil when there is
    /// none.
    func externalValues() throws -> ExternalValues? {
        let name = ".\(path.stem ?? "")_SUPPORT"
        do throws(Errno) {
            // Each name is looked at before the next is looked up below it: neither may be a link.
            var place = path.removingLastComponent()
            var current = folder
            for part in [name, ExternalValues.name] {
                guard let found = try current.attributes(of: part) else { return nil }
                place.append(part)
                current = try PosixFileSystem().openDirectory(place)
                // The path may lead to another folder by now.
                guard try current.identity() == found.identity else { throw .staleNFSFileHandle }
            }
            return ExternalValues(current, path: place.string)
        } catch {
            throw TransferError("\(name)/\(ExternalValues.name) beside \(path.string) is no folder: \(error)")
        }
    }
}

/// The files beside a database that have one large value each. Used by one thread.
struct ExternalValues {
    static let name = "_EXTERNAL_DATA"
    /// What one value may take in a store.
    static let maximumByteCount: Int64 = 512 << 20

    private let folder: any Directory
    private let path: String

    init(_ folder: any Directory, path: String) {
        self.folder = folder
        self.path = path
    }

    private static func bytes(of file: any File, _ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let isWhole = try bytes.withUnsafeMutableBytes { try file.readAll(into: $0, at: 0) }
        // Somebody is writing it.
        guard isWhole, try file.byteCount() == Int64(count) else { throw Errno.ioError }
        return bytes
    }

    /// The value in a file.
    ///
    /// - Throws: ``TransferError`` for what is no regular file, is a link, or larger than a value may be.
    func value(_ name: String) throws -> [UInt8] {
        do {
            let file = try folder.open(name)
            let count = try file.byteCount()
            guard count <= Self.maximumByteCount else { throw Errno.fileTooLarge }
            return try Self.bytes(of: file, Int(count))
        } catch let error as Errno {
            let problem =
                switch error {
                case .noSuchFileOrDirectory: "is missing"
                case .tooManySymbolicLinkLevels: "is a link, and an import follows none"
                case .fileTooLarge: "takes more than \(Self.maximumByteCount) bytes"
                case .isDirectory, .invalidArgument: "is no regular file"
                default: "cannot be read: \(error)"
                }
            throw TransferError("\(path)/\(name) \(problem)")
        }
    }
}

import Foundation
import Glibc

/// A directory that a contestant keeps its files in, with everything below it.
public struct Folder: Sendable {
    public let path: String

    public init(_ path: String) {
        self.path = path
    }

    public func appending(_ name: String) -> Folder {
        Folder(path + "/" + name)
    }

    /// Bytes allocated on the device for all regular files (`st_blocks`): sparse files count what they occupy.
    public var allocatedBytes: UInt64 {
        files.reduce(0) { sum, file in
            var status = stat()
            return stat(file, &status) == 0 ? sum + UInt64(status.st_blocks) * 512 : sum
        }
    }

    /// Flushes every file and asks the kernel to forget its pages (`POSIX_FADV_DONTNEED`); needs no privilege. Pages
    /// that some process has mapped stay.
    public func dropPageCache() {
        for file in files {
            let descriptor = open(file, O_RDONLY)
            guard descriptor >= 0 else { continue }
            fsync(descriptor)
            posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
            close(descriptor)
        }
    }

    /// Creates the directory with those above it.
    public func create() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Leaves an empty directory.
    public func clear() throws {
        try remove()
        try create()
    }

    public func remove() throws {
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }

    /// Whether the directory holds nothing, or is not there. Cheap: part of what it takes to open a store.
    public var isEmpty: Bool {
        guard let directory = opendir(path) else { return true }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            // A name that begins with a dot is the directory itself, its parent or hidden.
            if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { return false }
        }
        return true
    }

    private var files: [String] {
        guard let names = FileManager.default.enumerator(atPath: path) else { return [] }
        return names.compactMap { name in
            guard let name = name as? String else { return nil }
            var status = stat()
            let file = path + "/" + name
            return lstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? file : nil
        }
    }
}

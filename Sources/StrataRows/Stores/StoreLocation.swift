import Foundation
import StrataIO
import SystemPackage

/// Where a store lies, however its URL is spelled: with a slash at the end, with `.` and `..`, by way of symbolic
/// links, or relative to the working directory.
package struct StoreLocation: Equatable {
    private enum Name: Equatable {
        /// What is there, by device and inode.
        case existing(FileIdentity)
        /// Nothing is there: where it would be made.
        case path(String)
        case other(URL)
    }

    private let name: Name

    package init(_ url: URL) {
        guard url.isFileURL else {
            name = .other(url.standardized)
            return
        }
        let path = FilePath(url.path)
        let fileSystem = PosixFileSystem()
        if let found = try? fileSystem.attributes(path) {
            name = .existing(found.identity)
        } else {
            name = .path(Self.canonical(path, fileSystem))
        }
    }

    /// Where a path leads; of a store that is not there yet, where it will be.
    package static func canonical(_ path: FilePath, _ fileSystem: any FileSystem) -> String {
        if let resolved = try? fileSystem.resolve(path) { return resolved.string }
        let parent = path.removingLastComponent()
        guard let name = path.lastComponent, let resolved = try? fileSystem.resolve(parent.isEmpty ? "." : parent)
        else {
            return path.lexicallyNormalized().string
        }
        return resolved.appending(name).string
    }
}

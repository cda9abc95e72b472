import CStrataSupport
internal import Dispatch
public import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Objects as files under a directory: one file for each, with the object's bytes and nothing else.
///
/// A key's parts between slashes are folders, and its last part is the file. Characters other than ASCII letters,
/// digits, `-`, `_`, `~` and `.` are written as `%` and two hexadecimal digits, as is a `.` at the beginning of a part,
/// so that no key leads out of the directory. Symbolic links are never followed, not even where a folder should be; the
/// directory's own path may be one. Names that begin with a `.` are the store's own.
///
/// Writes are atomic and durable: a file is written under another name, flushed, and renamed while `.lock` is locked,
/// which processes and this one's instances share; so conditions hold between them. The lock is one of the system's
/// (`F_OFD_SETLK`): a network file system that does not share locks between machines does not share conditions either.
///
/// A tag is made of the file's number, size and time. Digests are computed by reading the file.
///
/// ```swift
/// let store = try DirectoryObjectStore("/backup/library")
/// ```
public final class DirectoryObjectStore: ObjectStore {
    private let root: DirectoryDescriptor
    private let path: FilePath
    /// What leads to the directory whatever the process's own becomes.
    private let absolutePath: FilePath
    /// The directory's own path, without links, as a URL.
    public let identity: String
    /// System calls that wait for a disk, one at a time for each instance.
    private let queue = DispatchQueue(label: "strata.objects", attributes: .concurrent)

    /// The store in a directory, which is created if it is missing (not what it lies in).
    ///
    /// - Throws: ``ObjectStoreError/unsupported(key:message:)`` if there is something else, or it cannot be opened.
    public init(_ path: FilePath) throws(ObjectStoreError) {
        self.path = path
        do throws(Errno) {
            root = try DirectoryDescriptor.root(path)
            absolutePath = try DirectoryDescriptor.absolute(path)
            identity = "file://" + (try DirectoryDescriptor.resolved(absolutePath)).string
            try root.removeLeftovers()
        } catch {
            throw .unsupported(key: "", message: "the directory \(path) cannot be used: \(error)")
        }
    }

    /// The directory as a URL.
    public var description: String {
        "file://" + (path.isAbsolute ? path.string : "./" + path.string)
    }

    // MARK: Names

    /// Longer parts of a key are folders of parts.
    private static let partMaximumByteCount = 200

    /// The names of the folders, and of the file, of a key.
    static func names(of key: String) throws(ObjectStoreError) -> [String] {
        guard !key.isEmpty, key.utf8.count <= ObjectLimits.longestKey else {
            throw .unsupported(key: key, message: "a key has 1 to \(ObjectLimits.longestKey) bytes")
        }
        var names: [String] = []
        for part in key.utf8.split(separator: 0x2F, omittingEmptySubsequences: false) {
            var name = escaped(part)
            // Two signs that no escaped byte has mark a name that goes on in the next.
            while name.utf8.count > partMaximumByteCount {
                var end = name.utf8.index(name.utf8.startIndex, offsetBy: partMaximumByteCount)
                // Not within an escaped byte.
                for back in 1...2 where name.utf8[name.utf8.index(end, offsetBy: -back)] == 0x25 {
                    end = name.utf8.index(end, offsetBy: -back)
                    break
                }
                names.append(String(name[..<end]) + "%+")
                name = String(name[end...])
            }
            names.append(name)
        }
        return names
    }

    private static func escaped(_ part: Substring.UTF8View) -> String {
        guard !part.isEmpty else { return "%-" }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for (index, byte) in part.enumerated() {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F, 0x7E: bytes.append(byte)
            case 0x2E where index > 0: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The part of a key that a name stands for, and whether the part goes on in the next; nil for other files.
    static func part(of name: String) -> (bytes: [UInt8], goesOn: Bool)? {
        var rest = Array(name.utf8)
        guard rest.first != 0x2E else { return nil }
        if name == "%-" { return ([], false) }
        let goesOn = rest.suffix(2) == [0x25, 0x2B]
        if goesOn { rest.removeLast(2) }
        var bytes: [UInt8] = []
        var index = 0
        while index < rest.count {
            if rest[index] != 0x25 {
                bytes.append(rest[index])
                index += 1
                continue
            }
            guard index + 2 < rest.count,
                let byte = UInt8(String(decoding: rest[index + 1...index + 2], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
            index += 3
        }
        return (bytes, goesOn)
    }

    // MARK: Requests

    /// Runs a body that blocks away from the threads that tasks share.
    private func blocking<Result: Sendable>(
        _ key: String, _ body: @escaping @Sendable () throws(ObjectStoreError) -> Result
    ) async throws(ObjectStoreError) -> Result {
        if Task.isCancelled { throw .cancelled }
        let (root, place) = (root, absolutePath)
        let result: Swift.Result<Result, ObjectStoreError> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(ObjectStoreError) {
                    guard root.isAt(place) else {
                        throw .unavailable(
                            key: key,
                            message: "the directory is not at its path any more: it was moved, removed or replaced")
                    }
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    private static func failure(_ error: Errno, _ key: String) -> ObjectStoreError {
        switch error {
        case .noSuchFileOrDirectory: .notFound(key: key)
        case .permissionDenied, .notPermitted, .readOnlyFileSystem: .denied(key: key, message: "\(error)")
        case .notDirectory, .isDirectory, .tooManySymbolicLinkLevels:
            .unsupported(
                key: key,
                message: "where its file or a folder should be is something else, a link perhaps, or another object")
        default: .unavailable(key: key, message: "\(error)")
        }
    }

    private static func translating<Result>(
        _ key: String, _ body: () throws(Errno) -> Result
    ) throws(ObjectStoreError) -> Result {
        do throws(Errno) {
            return try body()
        } catch {
            throw failure(error, key)
        }
    }

    /// As ``ObjectStore/get(_:range:)``. A whole object is told with its digest.
    public func get(_ key: String, range: Range<Int64>?) async throws(ObjectStoreError) -> ObjectContents {
        let names = try Self.names(of: key)
        let root = root
        return try await blocking(key) { () throws(ObjectStoreError) in
            let file = try Self.translating(key) { () throws(Errno) in try root.openFile(names) }
            let status = try Self.translating(key) { () throws(Errno) in try file.status() }
            let wanted = range ?? 0..<status.size
            guard range == nil || wanted.lowerBound < status.size, wanted.lowerBound >= 0 else {
                throw .rangeNotSatisfiable(key: key, size: status.size)
            }
            let end = min(wanted.upperBound, status.size)
            let bytes = try Self.translating(key) { () throws(Errno) in
                try file.read(wanted.lowerBound..<max(end, wanted.lowerBound))
            }
            let isWhole = bytes.count == status.size
            return ObjectContents(
                bytes: bytes,
                info: ObjectInfo(
                    key: key, size: status.size, tag: status.tag,
                    digest: isWhole ? ObjectDigest(of: bytes) : nil, modified: status.modified))
        }
    }

    /// As ``ObjectStore/head(_:)``. O(n) in the object's length, for its digest.
    public func head(_ key: String) async throws(ObjectStoreError) -> ObjectInfo? {
        do throws(ObjectStoreError) {
            return try await get(key, range: nil).info
        } catch {
            guard case .notFound = error else { throw error }
            return nil
        }
    }

    /// As ``ObjectStore/put(_:_:digest:if:)``.
    public func put(
        _ key: String, _ bytes: [UInt8], digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        guard bytes.count <= ObjectLimits.largestPut else {
            throw .unsupported(key: key, message: "\(bytes.count) bytes are too many for one request")
        }
        let names = try Self.names(of: key)
        guard ObjectDigest(of: bytes) == digest else {
            throw .damaged(key: key, message: "the bytes to be written have another digest than was said")
        }
        let root = root
        return try await blocking(key) { () throws(ObjectStoreError) in
            let made = try Self.translating(key) { () throws(Errno) in try root.createTemporary() }
            defer { made.discard() }
            try Self.translating(key) { () throws(Errno) in
                try made.file.append(bytes)
                try made.file.flush()
            }
            return try Self.install(made, key, names, digest, condition, root)
        }
    }

    /// As ``ObjectStore/upload(_:from:digest:if:)``.
    public func upload(
        _ key: String, from source: any ObjectSource, digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        let names = try Self.names(of: key)
        let root = root
        let made = try await blocking(key) { () throws(ObjectStoreError) in
            try Self.translating(key) { () throws(Errno) in try root.createTemporary() }
        }
        do throws(ObjectStoreError) {
            var offset: Int64 = 0
            while offset < source.size {
                let range = offset..<min(offset + (8 << 20), source.size)
                let bytes: [UInt8]
                do {
                    bytes = try await source.read(range)
                } catch {
                    throw ObjectStoreError.source(key: key, message: "\(error)")
                }
                guard bytes.count == Int(range.upperBound - range.lowerBound) else {
                    throw ObjectStoreError.source(
                        key: key, message: "its source gave \(bytes.count) bytes for \(range)")
                }
                try await blocking(key) { () throws(ObjectStoreError) in
                    try Self.translating(key) { () throws(Errno) in try made.file.append(bytes) }
                }
                offset = range.upperBound
            }
            let info = try await blocking(key) { () throws(ObjectStoreError) in
                try Self.translating(key) { () throws(Errno) in try made.file.flush() }
                return try Self.install(made, key, names, digest, condition, root)
            }
            return info
        } catch {
            made.discard()
            throw error
        }
    }

    /// Gives a file that has been written its name, if the condition holds.
    private static func install(
        _ made: TemporaryFile, _ key: String, _ names: [String], _ digest: ObjectDigest, _ condition: PutCondition,
        _ root: DirectoryDescriptor
    ) throws(ObjectStoreError) -> ObjectInfo {
        let lock = try translating(key) { () throws(Errno) in try root.lock() }
        defer { lock.release() }
        let there = try translating(key) { () throws(Errno) in try root.statusOfFile(names) }
        switch condition {
        case .always: break
        case .absent: if there != nil { throw .preconditionFailed(key: key) }
        case .matching(let tag): if there?.tag != tag { throw .preconditionFailed(key: key) }
        }
        let status = try translating(key) { () throws(Errno) in
            try root.install(made, names)
            return try made.file.status()
        }
        return ObjectInfo(key: key, size: status.size, tag: status.tag, digest: digest, modified: status.modified)
    }

    /// As ``ObjectStore/list(prefix:after:limit:)``. Reads the folders that can hold what is asked for.
    public func list(prefix: String, after: String?, limit: Int) async throws(ObjectStoreError) -> ObjectList {
        let root = root
        let most = min(max(limit, 0), 1000)
        return try await blocking(prefix) { () throws(ObjectStoreError) in
            var walk = ObjectWalk(prefix: Array(prefix.utf8), after: after.map { Array($0.utf8) }, limit: most)
            try Self.translating(prefix) { () throws(Errno) in try walk.visit(root, []) }
            return ObjectList(objects: walk.objects, isTruncated: walk.isTruncated)
        }
    }

    /// As ``ObjectStore/delete(_:)``. Folders that become empty go, too.
    public func delete(_ keys: [String]) async throws(ObjectStoreError) {
        for key in keys {
            let names = try Self.names(of: key)
            let root = root
            try await blocking(key) { () throws(ObjectStoreError) in
                try Self.translating(key) { () throws(Errno) in
                    let lock = try root.lock()
                    defer { lock.release() }
                    try root.remove(names)
                }
            }
        }
    }
}

/// Goes through folders in the order of the keys' bytes.
private struct ObjectWalk {
    let prefix: [UInt8]
    let after: [UInt8]?
    let limit: Int
    var objects: [ObjectInfo] = []
    var isTruncated = false

    /// - Parameter above: the key's bytes up to and with the last slash.
    mutating func visit(_ folder: DirectoryDescriptor, _ above: [UInt8]) throws(Errno) {
        var entries: [(key: [UInt8], name: String, isFolder: Bool)] = []
        for (name, isFolder) in try folder.entries() {
            guard let part = DirectoryObjectStore.part(of: name), part.goesOn ? isFolder : true else { continue }
            let key = above + part.bytes
            entries.append((isFolder && !part.goesOn ? key + [0x2F] : key, name, isFolder))
        }
        entries.sort { $0.key.lexicographicallyPrecedes($1.key) }
        for entry in entries {
            if isTruncated { return }
            if entry.isFolder {
                guard entry.key.starts(with: prefix) || prefix.starts(with: entry.key) else { continue }
                if let after, entry.key.lexicographicallyPrecedes(after), !after.starts(with: entry.key) { continue }
                guard let inner = try folder.openFolder(entry.name) else { continue }
                try visit(inner, entry.key)
                continue
            }
            guard entry.key.starts(with: prefix), after.map({ $0.lexicographicallyPrecedes(entry.key) }) ?? true else {
                continue
            }
            guard objects.count < limit else {
                isTruncated = true
                return
            }
            // It may have gone meanwhile.
            guard let status = try folder.statusOfFile([entry.name]) else { continue }
            objects.append(
                ObjectInfo(
                    key: String(decoding: entry.key, as: UTF8.self), size: status.size, tag: status.tag, digest: nil,
                    modified: status.modified))
        }
    }
}

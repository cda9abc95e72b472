import Foundation
import StrataIO
import StrataSupport
import SystemPackage

/// Reads a file, or the standard input, in pieces. A byte order mark at the beginning is passed over.
final class ByteReader {
    private enum Source {
        /// What the caller named: a file, a pipe.
        case handle(FileHandle)
        /// A file of a folder, and where it is read next.
        case file(any File, Int64)
    }

    private var source: Source
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtStart = true

    private static let pieceByteCount = 1 << 16
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Parameters:
    ///   - path: "-" for the standard input.
    ///   - folder: the folder that the path leads into. Only a regular file of it is read, and none through a link:
    ///     whoever made the folder says what is in it, and nothing else.
    init(_ path: String, in folder: (any Directory)? = nil) throws {
        if let folder {
            do throws(Errno) {
                source = .file(try folder.open(FilePath(path).lastComponent?.string ?? ""), 0)
            } catch {
                throw Self.problem(path, error)
            }
        } else if path == "-" {
            source = .handle(.standardInput)
        } else {
            StandardDescriptors.occupy()
            guard let file = FileHandle(forReadingAtPath: path) else { throw TransferError("\(path): cannot be read") }
            source = .handle(file)
        }
    }

    private static func problem(_ path: String, _ error: Errno) -> TransferError {
        switch error {
        case .tooManySymbolicLinkLevels: TransferError("\(path) is a link, and an import follows none")
        case .isDirectory, .invalidArgument: TransferError("\(path) is no regular file")
        default: TransferError("\(path): cannot be read: \(error)")
        }
    }

    /// Whether what a path leads to begins anew each time that it is opened.
    static func canReadTwice(_ path: String) -> Bool {
        guard path != "-" else { return false }
        switch (try? PosixFileSystem().attributes(FilePath(path)))?.kind {
        case .regular, .directory: return true
        default: return false
        }
    }

    /// The next byte; nil at the end.
    @inline(__always)
    func next() throws -> UInt8? {
        if position == buffer.count {
            guard try fill() else { return nil }
        }
        defer { position += 1 }
        return buffer[position]
    }

    private func fill() throws -> Bool {
        var bytes = try piece()
        guard !bytes.isEmpty else { return false }
        if isAtStart {
            // A pipe may give less than the mark has.
            while bytes.count < Self.byteOrderMark.count {
                let more = try piece()
                if more.isEmpty { break }
                bytes += more
            }
        }
        buffer = bytes
        position = isAtStart && buffer.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        isAtStart = false
        return try position < buffer.count || fill()
    }

    /// The next bytes of the source; none at its end.
    private func piece() throws -> [UInt8] {
        switch source {
        case .handle(let handle): return Array(try handle.read(upToCount: Self.pieceByteCount) ?? Data())
        case .file(let file, let offset):
            var bytes = [UInt8](repeating: 0, count: Self.pieceByteCount)
            let count = try bytes.withUnsafeMutableBytes { try file.readPrefix(into: $0, at: offset) }
            source = .file(file, offset + Int64(count))
            return Array(bytes.prefix(count))
        }
    }
}

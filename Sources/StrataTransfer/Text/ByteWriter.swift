import Foundation
import StrataIO
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Writes a file, or the standard output, in pieces.
final class ByteWriter {
    private enum Sink {
        case standardOutput
        /// A file that gets its name at the end.
        case unfinished(UnfinishedFile)
        /// A file in a directory that gets its name at the end.
        case part(any File)
    }

    private let sink: Sink
    private let path: String
    private var buffer: [UInt8] = []
    private var end: Int64 = 0

    private static let pieceByteCount = 1 << 16

    /// - Parameters:
    ///   - path: a file that does not exist yet; "-" for the standard output.
    ///   - beginning: what the file will begin with. Only what begins so can have been left by one that was killed.
    init(_ path: String, beginning: String) throws {
        self.path = path
        guard path != "-" else {
            sink = .standardOutput
            return
        }
        do {
            let place = FilePath(URL(fileURLWithPath: path).path)
            guard try PosixFileSystem().linkAttributes(place) == nil else { throw Errno.fileExists }
            sink = .unfinished(try UnfinishedFile(for: place) { Self.isLeft($0, of: beginning) })
        } catch let error as Errno {
            throw Self.failure(path, error)
        }
    }

    /// Writes a file that is open; it is flushed at the end.
    init(_ file: any File, path: String) {
        sink = .part(file)
        self.path = path
    }

    /// Whether a file begins as one that was being written, of which nothing need have reached the disk.
    static func isLeft(_ bytes: [UInt8], of beginning: String) -> Bool {
        zip(bytes, beginning.utf8).allSatisfy { $0 == $1 } || bytes.allSatisfy { $0 == 0 }
    }

    func write(_ text: String) throws {
        buffer += text.utf8
        if buffer.count >= Self.pieceByteCount { try flush() }
    }

    /// Writes what is left. A file is durable and has its name then.
    func finish() throws {
        try flush()
        do throws(Errno) {
            switch sink {
            case .standardOutput: break
            case .unfinished(let file): try file.install(replacing: false)
            case .part(let file): try file.sync()
            }
        } catch {
            throw Self.failure(path, error)
        }
    }

    private func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        do {
            try buffer.withUnsafeBytes { bytes in
                switch sink {
                case .standardOutput: try Self.writeStandardOutput(bytes)
                case .unfinished(let file): try file.append(bytes)
                case .part(let file):
                    try file.writeAll([bytes], at: end)
                    end += Int64(bytes.count)
                }
            }
        } catch let error as Errno {
            throw Self.failure(path, error)
        }
    }

    private static func writeStandardOutput(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            rest = rest.dropFirst(try FileDescriptor.standardOutput.write(UnsafeRawBufferPointer(rebasing: rest)))
        }
    }

    static func failure(_ path: String, _ error: Errno) -> TransferError {
        switch (path, error) {
        case ("-", _): TransferError(standardOutput: error)
        case (_, .fileExists): TransferError("\(path) is there already: an export takes the place of nothing")
        case (_, .staleNFSFileHandle):
            TransferError("\(path): the directory that it was to lie in has become another one meanwhile")
        case (_, .resourceBusy): TransferError("\(path): another export is writing it")
        default: TransferError("\(path): cannot be written: \(error)")
        }
    }
}

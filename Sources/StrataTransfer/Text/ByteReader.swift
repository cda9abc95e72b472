import Foundation
import StrataSupport

/// Reads a file, or the standard input, in pieces. A byte order mark at the beginning is passed over.
final class ByteReader {
    private let file: FileHandle
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtStart = true

    private static let pieceByteCount = 1 << 16
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Parameter path: "-" for the standard input.
    init(_ path: String) throws {
        if path == "-" {
            file = .standardInput
        } else {
            StandardDescriptors.occupy()
            guard let file = FileHandle(forReadingAtPath: path) else { throw TransferError("\(path): cannot be read") }
            self.file = file
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
        guard var data = try file.read(upToCount: Self.pieceByteCount), !data.isEmpty else { return false }
        if isAtStart {
            // A pipe may give less than the mark has.
            while data.count < Self.byteOrderMark.count,
                let more = try file.read(upToCount: Self.pieceByteCount), !more.isEmpty
            {
                data += more
            }
        }
        buffer = Array(data)
        position = isAtStart && buffer.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        isAtStart = false
        return try position < buffer.count || fill()
    }
}

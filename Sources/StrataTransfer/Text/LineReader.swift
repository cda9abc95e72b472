import Foundation

/// Reads a file, or the standard input, in pieces.
final class ByteReader {
    private let file: FileHandle
    private var buffer: [UInt8] = []
    private var position = 0

    private static let pieceByteCount = 1 << 16

    /// - Parameter path: "-" for the standard input.
    init(_ path: String) throws {
        if path == "-" {
            file = .standardInput
        } else {
            guard let file = FileHandle(forReadingAtPath: path) else { throw TransferError("\(path): cannot be read") }
            self.file = file
        }
    }

    /// The next byte; nil at the end.
    @inline(__always)
    func next() throws -> UInt8? {
        if position == buffer.count {
            guard let data = try file.read(upToCount: Self.pieceByteCount), !data.isEmpty else { return nil }
            buffer = Array(data)
            position = 0
        }
        defer { position += 1 }
        return buffer[position]
    }
}

/// Reads a file line by line.
final class LineReader {
    private let bytes: ByteReader
    private(set) var number = 0

    /// A longer line is refused: it would have to be held in memory.
    static let maximumByteCount = 1 << 30

    init(_ path: String) throws {
        bytes = try ByteReader(path)
    }

    /// The next line without its end; nil at the end of the file.
    func next() throws -> [UInt8]? {
        var line: [UInt8] = []
        while let byte = try bytes.next() {
            if byte == UInt8(ascii: "\n") {
                number += 1
                return line
            }
            line.append(byte)
            guard line.count <= Self.maximumByteCount else { throw TransferError("line \(number + 1) is too long") }
        }
        number += 1
        return line.isEmpty ? nil : line
    }
}

/// Reads records of comma-separated values (RFC 4180). A field without quotation marks and characters is null, one of
/// two quotation marks the empty text.
final class CSVReader {
    private let bytes: ByteReader
    /// The number of the line that the last record began in.
    private(set) var line = 0
    private var nextLine = 1
    private var held: UInt8?

    init(_ path: String) throws {
        bytes = try ByteReader(path)
    }

    private func byte() throws -> UInt8? {
        if let held {
            self.held = nil
            return held
        }
        return try bytes.next()
    }

    /// The next record; nil at the end of the file.
    func next() throws -> [String?]? {
        var fields: [String?] = []
        var field: [UInt8] = []
        var isQuoted = false
        line = nextLine
        func end() {
            fields.append(field.isEmpty && !isQuoted ? nil : String(decoding: field, as: UTF8.self))
            field = []
            isQuoted = false
        }
        while let byte = try byte() {
            switch byte {
            case UInt8(ascii: "\"") where field.isEmpty && !isQuoted:
                isQuoted = true
                try readQuoted(&field)
            case UInt8(ascii: ","): end()
            case UInt8(ascii: "\r"):
                if let next = try self.byte(), next != UInt8(ascii: "\n") { held = next }
                fallthrough
            case UInt8(ascii: "\n"):
                nextLine += 1
                end()
                return fields
            default:
                guard !isQuoted else { throw TransferError("line \(nextLine): text behind a quoted field") }
                field.append(byte)
            }
        }
        guard !fields.isEmpty || !field.isEmpty || isQuoted else { return nil }
        end()
        return fields
    }

    private func readQuoted(_ field: inout [UInt8]) throws {
        while let byte = try byte() {
            if byte == UInt8(ascii: "\"") {
                guard let next = try self.byte() else { return }
                guard next == UInt8(ascii: "\"") else {
                    held = next
                    return
                }
            } else if byte == UInt8(ascii: "\n") {
                nextLine += 1
            }
            field.append(byte)
            guard field.count <= LineReader.maximumByteCount else { throw TransferError("line \(line) is too long") }
        }
        throw TransferError("line \(line): a quoted field has no end")
    }
}

/// Writes a file, or the standard output, in pieces.
final class ByteWriter {
    private let file: FileHandle
    private var buffer: [UInt8] = []

    private static let pieceByteCount = 1 << 16

    /// - Parameter path: a file that does not exist yet; "-" for the standard output.
    init(_ path: String) throws {
        if path == "-" {
            file = .standardOutput
            return
        }
        guard !FileManager.default.fileExists(atPath: path) else {
            throw TransferError("\(path) is there already: an export takes the origin of nothing")
        }
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw TransferError("\(path): cannot be written") }
        self.file = file
    }

    func write(_ text: String) throws {
        buffer += text.utf8
        if buffer.count >= Self.pieceByteCount { try flush() }
    }

    func flush() throws {
        try file.write(contentsOf: Data(buffer))
        buffer.removeAll(keepingCapacity: true)
    }
}

import StrataIO

/// Reads a file line by line.
final class LineReader {
    private let bytes: ByteReader
    private(set) var number = 0

    /// A longer line is refused: it would have to be held in memory.
    static let maximumByteCount = 1 << 30

    /// Parameters as ``ByteReader/init(_:in:)`` has them.
    init(_ path: String, in folder: (any Directory)? = nil) throws {
        bytes = try ByteReader(path, in: folder)
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
        if line.isEmpty { return nil }
        number += 1
        return line
    }
}

import StrataIO

/// A field of comma-separated values, and where it begins.
struct CSVField {
    /// Nil for null.
    var text: String?
    var place: TextPlace
}

/// Reads records of comma-separated values (RFC 4180). A field without quotation marks and characters is null, one of
/// two quotation marks the empty text.
final class CSVReader {
    private let bytes: ByteReader
    private let path: String
    private var place: TextPlace
    private var held: UInt8?

    /// Parameters as ``ByteReader/init(_:in:)`` has them.
    init(_ path: String, in folder: (any Directory)? = nil) throws {
        bytes = try ByteReader(path, in: folder)
        self.path = path
        place = TextPlace(path: path, line: 1, column: 1)
    }

    /// The next byte; the place moves with it, but not over the ends of lines.
    private func byte() throws -> UInt8? {
        if let held {
            self.held = nil
            return held
        }
        return try bytes.next()
    }

    private func step(_ byte: UInt8) {
        if byte & 0xC0 != 0x80 { place.column += 1 }
    }

    private func beginLine() {
        place.line += 1
        place.column = 1
    }

    /// The next record; nil at the end of the file.
    ///
    /// - Throws: ``TransferError`` for what is not in this form, or not in UTF-8.
    func next() throws -> [CSVField]? {
        var fields: [CSVField] = []
        var field: [UInt8] = []
        var isQuoted = false
        var start = place
        func end() throws {
            guard let text = String(validating: field, as: UTF8.self) else {
                throw start.error("a field is not in UTF-8")
            }
            fields.append(CSVField(text: field.isEmpty && !isQuoted ? nil : text, place: start))
            field = []
            isQuoted = false
        }
        while let byte = try byte() {
            switch byte {
            case UInt8(ascii: "\""):
                guard field.isEmpty, !isQuoted else {
                    throw place.error("a quotation mark inside of a field that does not begin with one")
                }
                isQuoted = true
                step(byte)
                try readQuoted(&field, start)
            case UInt8(ascii: ","):
                try end()
                step(byte)
                start = place
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                if byte == UInt8(ascii: "\r"), let next = try self.byte(), next != UInt8(ascii: "\n") { held = next }
                try end()
                beginLine()
                return fields
            default:
                guard !isQuoted else { throw place.error("text behind a quoted field") }
                field.append(byte)
                guard field.count <= LineReader.maximumByteCount else { throw start.error("the field is too long") }
                step(byte)
            }
        }
        guard !fields.isEmpty || !field.isEmpty || isQuoted else { return nil }
        try end()
        return fields
    }

    private func readQuoted(_ field: inout [UInt8], _ start: TextPlace) throws {
        while let byte = try byte() {
            if byte == UInt8(ascii: "\"") {
                step(byte)
                guard let next = try self.byte() else { return }
                guard next == UInt8(ascii: "\"") else {
                    held = next
                    return
                }
            }
            if byte == UInt8(ascii: "\n") { beginLine() } else { step(byte) }
            field.append(byte)
            guard field.count <= LineReader.maximumByteCount else { throw start.error("the field is too long") }
        }
        throw start.error("a quoted field has no end")
    }
}

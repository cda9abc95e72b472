/// Reads a file of JSON Lines to its end, which the file must have.
final class JSONLineReader {
    /// What the first line says; nothing if it is an object.
    let header: JSONLines.Header
    private let lines: LineReader
    private let hasHeader: Bool
    private var first: [UInt8]?

    init(_ path: String) throws {
        lines = try LineReader(path)
        first = try lines.next()
        if let bytes = first, case .header(let found) = try Self.parse(bytes, 1) {
            (header, hasHeader, first) = (found, true, nil)
        } else {
            (header, hasHeader) = (JSONLines.Header(), false)
        }
    }

    private static func parse(_ bytes: [UInt8], _ number: Int) throws -> JSONLines.Line? {
        if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return nil }
        return try JSONLines.parse(bytes, TextPlace(line: number))
    }

    /// Hands out objects and links. Used once.
    ///
    /// - Throws: what `body` throws; ``TransferError`` for what is no such line, and when the end is missing, or says
    ///   other numbers.
    func forEach(_ body: (JSONLines.Line) throws -> Void) throws {
        var (objectCount, linkCount) = (0, 0)
        var end: (objects: Int, links: Int)?
        var bytes = try first ?? lines.next()
        while let current = bytes {
            let place = TextPlace(line: lines.number)
            if let line = try Self.parse(current, lines.number) {
                guard end == nil else { throw place.error("something follows the line that ends the file") }
                switch line {
                case .header: throw place.error("a second header")
                case .object: objectCount += 1
                case .link: linkCount += 1
                case .end(let objects, let links): end = (objects, links)
                }
                try body(line)
            }
            bytes = try lines.next()
        }
        guard let end else {
            guard !hasHeader || header.version < JSONLines.firstVersionWithEnd else {
                throw TransferError(
                    "the file is cut off behind line \(lines.number): its last line, which says how many objects there "
                        + "are, is missing")
            }
            return
        }
        guard end == (objectCount, linkCount) else {
            throw TransferError(
                "the file has \(objectCount) objects and \(linkCount) links; its last line says \(end.objects) and \(end.links)"
            )
        }
    }
}

/// The XML form of property lists, looked at before Foundation's reader is given it: that calls itself for each list in
/// a list, until the stack is at its end.
enum PropertyListText {
    private static let comment = (start: Array("!--".utf8), end: Array("-->".utf8))
    private static let text = (start: Array("![CDATA[".utf8), end: Array("]]>".utf8))
    private static let containers = ["array", "dict"].map { Array($0.utf8) }

    /// - Throws: ``ArchiveError`` for what is no XML in UTF-8, and for lists that are nested too deeply. The rest is
    ///   for the reader to find.
    static func check(_ bytes: [UInt8], _ limits: PropertyListLimits) throws(ArchiveError) {
        // The old form of NeXTSTEP is read by nobody who has a file of Core Data's.
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard bytes[start...].first(where: { !isSpace($0) }) == UInt8(ascii: "<"), !bytes.contains(0) else {
            throw ArchiveError("it is no property list")
        }
        var position = start
        var depth = 0
        while let open = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            position = open + 1
            if bytes[position...].starts(with: comment.start) {
                position = end(comment.end, in: bytes, from: position + comment.start.count)
                continue
            }
            if bytes[position...].starts(with: text.start) {
                position = end(text.end, in: bytes, from: position + text.start.count)
                continue
            }
            let isEnd = position < bytes.count && bytes[position] == UInt8(ascii: "/")
            let name = bytes[(position + (isEnd ? 1 : 0))...]
            guard containers.contains(where: { isCalled(name, $0) }) else { continue }
            guard !isEnd else {
                depth -= 1
                continue
            }
            guard let close = name.firstIndex(of: UInt8(ascii: ">")) else { return }
            position = close + 1
            if bytes[close - 1] != UInt8(ascii: "/") { depth += 1 }
            guard depth <= limits.depth else {
                throw ArchiveError("lists of the property list are nested too deeply")
            }
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func isCalled(_ bytes: ArraySlice<UInt8>, _ name: [UInt8]) -> Bool {
        guard bytes.starts(with: name) else { return false }
        guard let next = bytes.dropFirst(name.count).first else { return true }
        return isSpace(next) || next == UInt8(ascii: ">") || next == UInt8(ascii: "/")
    }

    /// Where the bytes are that follow an end mark.
    private static func end(_ mark: [UInt8], in bytes: [UInt8], from start: Int) -> Int {
        var position = min(start, bytes.count)
        while let found = bytes[position...].firstIndex(of: mark[0]) {
            if bytes[found...].starts(with: mark) { return found + mark.count }
            position = found + 1
        }
        return bytes.count
    }
}

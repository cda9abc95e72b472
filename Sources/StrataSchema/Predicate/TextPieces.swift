/// The work that long texts make: what is done with them is counted by their bytes, and changes are made piece by piece,
/// so that a request that is to stop does so between two of them.
package enum TextPieces {
    /// Some tens of microseconds of folding.
    private static let bytesPerPiece = 4_096
    private static let stepsPerPiece = 64
    /// Of what goes through the bytes as they are.
    private static let bytesPerStep = 256

    /// A text after a change that treats every piece of it as it treats the whole, if the pieces are cut where nothing
    /// goes together: letters with their accents, for one, stay in one piece.
    ///
    /// Once the work of the thread is stopped, what is left of the text is left out: nobody looks at it. Complexity:
    /// O(n).
    package static func changed(_ text: String, _ change: (String) -> String) -> String {
        if text.utf8.count <= bytesPerPiece { return change(text) }
        var result = ""
        var start = text.startIndex
        while start < text.endIndex, EvaluationWork.step(stepsPerPiece) {
            let end = endOfPiece(text, from: start)
            result += change(String(text.unicodeScalars[start..<end]))
            start = end
        }
        return result
    }

    /// About to look at all bytes of a text; false when the work has been stopped. Costs nothing for short ones.
    @inline(__always)
    package static func step(_ byteCount: Int) -> Bool {
        byteCount < bytesPerPiece || EvaluationWork.step(byteCount / bytesPerStep)
    }

    private static func endOfPiece(_ text: String, from start: String.Index) -> String.Index {
        let bytes = text.utf8
        guard var end = bytes.index(start, offsetBy: bytesPerPiece, limitedBy: bytes.endIndex) else {
            return bytes.endIndex
        }
        while end < bytes.endIndex, bytes[end] & 0xC0 == 0x80 { bytes.formIndex(after: &end) }
        while end < bytes.endIndex, !standsAlone(text.unicodeScalars[end]) {
            text.unicodeScalars.formIndex(after: &end)
        }
        return end
    }

    /// Whether a scalar is composed with nothing that stands before it. Marks are, and the letters of which Korean
    /// syllables are made; beyond the basic plane there are others, which no piece begins with, either.
    private static func standsAlone(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return true }
        if scalar.value >= 0x1_0000 || (0x1100..<0x1200).contains(scalar.value) { return false }
        return switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .format: false
        default: true
        }
    }
}

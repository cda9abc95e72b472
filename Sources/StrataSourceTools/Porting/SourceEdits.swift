/// Changes of one file's text, collected by the offsets of the text as it was.
struct SourceEdits {
    private struct Edit {
        var range: Range<Int>
        var text: [UInt8]
    }

    private let bytes: [UInt8]
    private var edits: [Edit] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Replaces a range. One that has been replaced, or overlaps one that has, is left alone.
    mutating func replace(_ range: Range<Int>, with text: String) {
        let isTaken = edits.contains { edit in
            range.isEmpty ? edit.range == range && edit.text == Array(text.utf8) : edit.range.overlaps(range)
        }
        if !isTaken { edits.append(Edit(range: range, text: Array(text.utf8))) }
    }

    mutating func insert(_ text: String, at offset: Int) { replace(offset..<offset, with: text) }

    /// Takes a range out, and returns it with the changes that were made within.
    mutating func cut(_ range: Range<Int>) -> String {
        let inner = edits.filter { range.contains($0.range.lowerBound) && $0.range.upperBound <= range.upperBound }
        edits.removeAll { range.contains($0.range.lowerBound) && $0.range.upperBound <= range.upperBound }
        let text = Self.apply(inner, to: bytes, in: range)
        edits.append(Edit(range: range, text: []))
        return String(decoding: text, as: UTF8.self)
    }

    /// The whole text with all changes.
    var applied: [UInt8] { Self.apply(edits, to: bytes, in: 0..<bytes.count) }

    private static func apply(_ edits: [Edit], to bytes: [UInt8], in range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        var place = range.lowerBound
        // Of several insertions at one place the first comes first.
        let sorted = edits.enumerated().sorted {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }
        for (_, edit) in sorted {
            result += bytes[place..<max(place, edit.range.lowerBound)]
            result += edit.text
            place = max(place, edit.range.upperBound)
        }
        return result + bytes[place..<range.upperBound]
    }
}

/// Changes of one file's text, collected by the offsets of the text as it was.
struct SourceEdits {
    private struct Edit {
        var range: Range<Int>
        var text: [UInt8]
        /// Where text that was moved stood.
        var origin: Origin?
    }

    /// A place in a file.
    struct Origin {
        var path: String
        var line: Int

        /// Has the compiler count the lines that follow from here.
        var directive: [UInt8] {
            let literal = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return Array("#sourceLocation(file: \"\(literal)\", line: \(line))\n".utf8)
        }
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

    /// - Parameter origin: where the text stood that was moved here; it is whole lines then.
    mutating func insert(_ text: String, at offset: Int, from origin: Origin? = nil) {
        let count = edits.count
        replace(offset..<offset, with: text)
        if edits.count > count { edits[count].origin = origin }
    }

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

    /// The whole text with all changes, and with directives by which the compiler knows each line's place in the file
    /// as it was.
    func mapped(_ path: String) -> [UInt8] {
        Origin(path: path, line: 1).directive + Self.apply(edits, to: bytes, in: 0..<bytes.count, mappedTo: path)
    }

    private static func apply(
        _ edits: [Edit], to bytes: [UInt8], in range: Range<Int>, mappedTo path: String? = nil
    ) -> [UInt8] {
        var result: [UInt8] = []
        var offset = range.lowerBound
        // Of several insertions at one place the first comes first.
        let sorted = edits.enumerated().sorted {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }
        for (position, (_, edit)) in sorted.enumerated() {
            result += bytes[offset..<max(offset, edit.range.lowerBound)]
            if path != nil, let origin = edit.origin { result += origin.directive }
            result += edit.text
            offset = max(offset, edit.range.upperBound)
            guard let path, changesLines(edit, bytes) else { continue }
            // A directive is a line of its own: behind the edit, or behind the rest of its line if that is empty.
            var end = offset
            if result.last != SourceText.newline, !result.isEmpty {
                while end < range.upperBound, bytes[end] == 32 || bytes[end] == 9 { end += 1 }
                guard end < range.upperBound, bytes[end] == SourceText.newline else { continue }
                end += 1
            }
            // Another edit at this place has a directive of its own.
            if position + 1 < sorted.count, sorted[position + 1].element.range.lowerBound < end { continue }
            result += bytes[offset..<end]
            offset = end
            let line = bytes[..<offset].count { $0 == SourceText.newline } + 1
            result += Origin(path: path, line: line).directive
        }
        return result + bytes[offset..<range.upperBound]
    }

    /// Whether the lines behind an edit are counted in another way.
    private static func changesLines(_ edit: Edit, _ bytes: [UInt8]) -> Bool {
        edit.origin != nil
            || edit.text.count { $0 == SourceText.newline } != bytes[edit.range].count { $0 == SourceText.newline }
    }
}

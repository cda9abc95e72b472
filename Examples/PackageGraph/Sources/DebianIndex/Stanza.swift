/// Where the fields of one stanza lie in the bytes being scanned.
struct Stanza {
    /// The line the stanza begins on, counted from 1.
    private(set) var line: Int
    private var values = [Range<Int>](repeating: 0..<0, count: StanzaField.allCases.count)
    private var lines = [Int](repeating: 0, count: StanzaField.allCases.count)

    init(line: Int) { self.line = line }

    /// Forgets all fields and begins at another line, keeping the memory.
    mutating func reset(line: Int) {
        self.line = line
        for index in values.indices {
            values[index] = 0..<0
            lines[index] = 0
        }
    }

    /// The field's value without the spaces around it, continuation lines included; empty when it is not there.
    subscript(field: StanzaField) -> Range<Int> { values[field.rawValue] }

    /// The line a field begins on; the stanza's own for one that is not there.
    func line(of field: StanzaField) -> Int {
        let line = lines[field.rawValue]
        return line == 0 ? self.line : line
    }

    func contains(_ field: StanzaField) -> Bool { lines[field.rawValue] != 0 }

    mutating func set(_ field: StanzaField, _ value: Range<Int>, line: Int) {
        values[field.rawValue] = value
        lines[field.rawValue] = line
    }

    mutating func extend(_ field: StanzaField, to end: Int) {
        let value = values[field.rawValue]
        values[field.rawValue] = (value.isEmpty ? end : value.lowerBound)..<end
    }
}

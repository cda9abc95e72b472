/// A line that was typed in the shell, taken apart.
struct ShellLine {
    struct Word {
        /// Without quotation marks and backslashes.
        var text: String
        /// Where it stands in the line.
        var range: Range<String.Index>
        var isQuoted = false
    }

    let text: String
    private(set) var words: [Word] = []
    /// Whether a quotation mark is not closed.
    private(set) var isOpen = false

    init(_ text: String) {
        self.text = text
        var index = text.startIndex
        while index < text.endIndex {
            if text[index].isWhitespace {
                index = text.index(after: index)
                continue
            }
            words.append(word(from: &index))
        }
    }

    private mutating func word(from index: inout String.Index) -> Word {
        var word = Word(text: "", range: index..<index)
        var quote: Character?
        while index < text.endIndex {
            let character = text[index]
            if quote == nil, character.isWhitespace { break }
            index = text.index(after: index)
            if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
                word.isQuoted = true
            } else if character == "\\", quote != "'", index < text.endIndex {
                word.text.append(text[index])
                index = text.index(after: index)
            } else {
                word.text.append(character)
            }
        }
        isOpen = quote != nil
        word.range = word.range.lowerBound..<index
        return word
    }

    /// The arguments of the command that the line stands for; nil for an empty line.
    ///
    /// The verb may be left out before an entity. What follows the entity of `query` and `explain`, up to the first
    /// option, is the predicate as it stands: it needs no quotation marks around it.
    func arguments(store: String, entities: [String]) -> [String]? {
        guard var verb = words.first?.text else { return nil }
        var rest = words.dropFirst()
        if entities.contains(verb) {
            verb = "query"
            rest = words[...]
        }
        guard ["query", "explain"].contains(verb), let entity = rest.popFirst() else {
            return [verb, store] + rest.map(\.text)
        }
        var arguments = ["query", store, entity.text]
        let options = rest.firstIndex { $0.text.hasPrefix("-") && !$0.isQuoted } ?? rest.endIndex
        let parts = rest[rest.startIndex..<options]
        if let first = parts.first, let last = parts.last {
            // Whoever puts it in quotation marks as in a shell means what is between them.
            let isWhole = parts.count == 1 && first.isQuoted && first.text.contains(" ")
            arguments.append(isWhole ? first.text : String(text[first.range.lowerBound..<last.range.upperBound]))
        }
        return arguments + rest[options...].map(\.text) + (verb == "explain" ? ["--explain"] : [])
    }
}

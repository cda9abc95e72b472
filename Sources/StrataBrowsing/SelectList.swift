import Foundation
import Strata

/// What a query prints of groups or rows, as it was written: `author.name, count:(SELF), avg(pages) AS mean`.
package struct SelectList {
    package struct Item {
        /// How the column is called where results are printed.
        package let title: String
        /// How the request calls it.
        package let name: String
        /// What the request fetches: a key path, or a description of an expression.
        package let property: Any
        /// The attribute that a key path leads to.
        package let attribute: NSAttributeDescription?
    }

    package private(set) var items: [Item] = []
    private let entity: NSEntityDescription

    package init(_ entity: NSEntityDescription) {
        self.entity = entity
    }

    /// Adds what is separated by commas.
    package mutating func add(_ text: String) throws {
        for part in Self.parts(text) { try add(item: part) }
        guard !items.isEmpty else { throw CommandError("there is nothing between the commas of '\(text)'") }
    }

    private mutating func add(item text: String) throws {
        var text = text
        var alias: String?
        if let range = text.range(
            of: #"\s+as\s+[A-Za-z_][A-Za-z0-9_]*$"#, options: [.regularExpression, .caseInsensitive])
        {
            alias = text[range].split(whereSeparator: \.isWhitespace).last.map(String.init)
            text.removeSubrange(range)
        }
        let expression: Strata.NSExpression
        do {
            expression = try Strata.NSExpression.parse(Self.translated(text))
        } catch {
            throw CommandError("'\(text)' cannot be read: \(error)")
        }
        if let alias, let property = entity.propertiesByName[alias], property.name != text {
            throw CommandError("\(entity.name ?? "") has a property \(alias): give '\(text)' another name")
        }
        if expression.expressionType == .keyPath, alias == nil {
            let path = expression.keyPath
            return items.append(
                Item(title: text, name: path, property: path, attribute: Self.attribute(path, entity)))
        }
        let description = NSExpressionDescription()
        description.name = alias ?? unusedName(for: text)
        description.expression = expression
        // Of an object its ID is fetched.
        if expression.expressionType == .evaluatedObject { description.expressionResultType = .objectIDAttributeType }
        let attribute = expression.expressionType == .keyPath ? Self.attribute(expression.keyPath, entity) : nil
        items.append(
            Item(title: alias ?? text, name: description.name, property: description, attribute: attribute))
    }

    /// The name of a function, as SQL's shells call its results, that nothing else has.
    private func unusedName(for text: String) -> String {
        let letters = text.lowercased().prefix { $0.isASCII && ($0.isLetter || $0 == "_") }
        let base = letters.isEmpty ? "value" : String(letters)
        var name = base
        var number = 1
        while entity.propertiesByName[name] != nil || items.contains(where: { $0.name == name }) {
            number += 1
            name = "\(base)_\(number)"
        }
        return name
    }

    /// The item that a name or the text of a column means.
    package func item(_ text: String) -> Item? {
        items.first { $0.title == text } ?? items.first { $0.name == text }
            ?? items.first { Self.translated($0.title) == Self.translated(text) }
    }

    // MARK: Text

    /// The parts between commas that are in no parentheses and no quotation marks, without space around them.
    package static func parts(_ text: String) -> [String] {
        var parts = [""]
        var depth = 0
        var quote: Character?
        var isEscaped = false
        for character in text {
            if let open = quote {
                if character == open, !isEscaped { quote = nil }
                isEscaped = character == "\\" && !isEscaped
            } else {
                switch character {
                case "'", "\"": quote = character
                case "(", "{", "[": depth += 1
                case ")", "}", "]": depth -= 1
                case "," where depth == 0:
                    parts.append("")
                    continue
                default: break
                }
            }
            parts[parts.count - 1].append(character)
        }
        return parts.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// Predicate format of what users of SQL may write: `count(*)`, `avg(pages)`, `count(distinct author)`.
    package static func translated(_ text: String) -> String {
        let replacements = [
            (#"\bcount\s*:?\s*\(\s*\*\s*\)"#, "count:(SELF)"), (#"\bavg\s*:?\s*\("#, "average:("),
            (
                #"\b(count|sum|average|min|max)\s*:?\s*\(\s*distinct\s+([A-Za-z_][A-Za-z0-9_.]*)\s*\)"#,
                "$1:(distinct:($2))"
            ),
            (#"\b(count|sum|min|max)\s*\("#, "$1:("),
        ]
        // What is in quotation marks stays.
        var result = ""
        var rest = Substring(text)
        while let open = rest.firstIndex(where: { $0 == "'" || $0 == "\"" }) {
            result += replaced(rest[..<open], replacements)
            let quote = rest[open]
            var end = rest.index(after: open)
            while end < rest.endIndex, rest[end] != quote {
                if rest[end] == "\\" { end = rest.index(after: end) }
                if end < rest.endIndex { end = rest.index(after: end) }
            }
            if end < rest.endIndex { end = rest.index(after: end) }
            result += rest[open..<end]
            rest = rest[end...]
        }
        return result + replaced(rest, replacements)
    }

    private static func replaced(_ text: Substring, _ replacements: [(pattern: String, by: String)]) -> String {
        replacements.reduce(String(text)) {
            $0.replacingOccurrences(of: $1.pattern, with: $1.by, options: [.regularExpression, .caseInsensitive])
        }
    }

    private static func attribute(_ path: String, _ entity: NSEntityDescription) -> NSAttributeDescription? {
        var entity: NSEntityDescription? = entity
        var attribute: NSAttributeDescription?
        for name in path.split(separator: ".") {
            let property = entity?.propertiesByName[String(name)]
            attribute = property as? NSAttributeDescription
            entity = (property as? NSRelationshipDescription)?.destinationEntity
        }
        return attribute
    }
}

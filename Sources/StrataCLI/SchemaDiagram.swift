import StrataBrowsing
import StrataModelFile

/// A model as the source of a diagram.
struct SchemaDiagram {
    private let document: ModelDocument

    init(_ document: ModelDocument) {
        self.document = document
    }

    // MARK: Mermaid

    /// An entity relationship diagram.
    var mermaid: String {
        var text = "erDiagram\n"
        for entity in document.entities {
            text += "    \(Self.mermaidText(entity.name)) {\n"
            let unique = Set(entity.uniquenessConstraints.filter { $0.count == 1 }.flatMap { $0 })
            for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
                let name = Self.mermaidWord(attribute.name)
                let key = unique.contains(attribute.name) ? " UK" : ""
                var notes = Self.notes(of: attribute)
                // A word is all that may stand there.
                if name != attribute.name { notes.insert(attribute.name, at: 0) }
                let comment = notes.isEmpty ? "" : " " + Self.mermaidText(notes.joined(separator: ", "))
                text += "        \(Self.mermaidWord(attribute.type.rawValue)) \(name)\(key)\(comment)\n"
            }
            text += "    }\n"
        }
        for entity in document.entities {
            guard let parent = entity.parentName else { continue }
            text += "    \(Self.mermaidText(entity.name)) |o..|| \(Self.mermaidText(parent)) : \"is a\"\n"
        }
        for edge in edges {
            let left = edge.inverse.map {
                Self.isMany($0) ? ($0.minCount > 0 ? "}|" : "}o") : Self.isOptional($0) ? "|o" : "||"
            }
            let right =
                Self.isMany(edge.relationship)
                ? (edge.relationship.minCount > 0 ? "|{" : "o{") : Self.isOptional(edge.relationship) ? "o|" : "||"
            text += "    \(Self.mermaidText(edge.source)) \(left ?? "}o")--\(right) "
            text += "\(Self.mermaidText(edge.relationship.destinationName)) : \(Self.mermaidText(edge.label))\n"
        }
        return text
    }

    /// A text in quotation marks: what could end it, begin a comment or be taken for markup is written as a number.
    private static func mermaidText(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case " ", "_", "-", ".", ",", "/", "(", ")", "=": result.unicodeScalars.append(scalar)
            case _ where scalar.properties.isAlphabetic || scalar.properties.numericType != nil:
                result.unicodeScalars.append(scalar)
            case _ where scalar.properties.generalCategory == .control: result += " "
            default: result += "#\(scalar.value);"
            }
        }
        return result + "\""
    }

    /// A word as types and names of attributes have to be.
    private static func mermaidWord(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": result.unicodeScalars.append(scalar)
            case "0"..."9": result += (result.isEmpty ? "_" : "") + String(scalar)
            case " ": break
            default: result += "_"
            }
        }
        // Keys, which are read before words.
        return result.isEmpty || ["pk", "fk", "uk"].contains(result.lowercased()) ? result + "_" : result
    }

    // MARK: Graphviz

    /// A directed graph with a table for each entity.
    var graphviz: String {
        var numbers: [String: Int] = [:]
        for entity in document.entities { numbers[entity.name] = numbers.count }
        var text = """
            digraph model {
                rankdir=LR
                node [shape=plain fontname="Helvetica" fontsize=11]
                edge [fontname="Helvetica" fontsize=9]

            """
        for (number, entity) in document.entities.enumerated() {
            var rows = "<tr><td colspan=\"2\" bgcolor=\"lightgrey\"><b>\(Self.markup(entity.name))</b>"
            if entity.isAbstract { rows += " <i>abstract</i>" }
            rows += "</td></tr>"
            for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
                let notes = Self.notes(of: attribute)
                let suffix = notes.isEmpty ? "" : ", " + notes.joined(separator: ", ")
                rows += "<tr><td align=\"left\">\(Self.markup(attribute.name))</td>"
                rows += "<td align=\"left\">\(Self.markup(attribute.type.rawValue + suffix))</td></tr>"
            }
            text += "    e\(number) [label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\">\(rows)</table>>]\n"
        }
        // Entities that were not asked for and that relationships lead to.
        func node(_ name: String) -> String {
            if let number = numbers[name] { return "e\(number)" }
            numbers[name] = numbers.count
            text += "    e\(numbers.count - 1) [shape=box label=<\(Self.markup(name))>]\n"
            return "e\(numbers.count - 1)"
        }
        for entity in document.entities {
            guard let parent = entity.parentName else { continue }
            let target = node(parent)
            text += "    \(node(entity.name)) -> \(target) [arrowhead=empty style=dashed]\n"
        }
        for edge in edges {
            let head = Self.isMany(edge.relationship) ? "crow" : Self.isOptional(edge.relationship) ? "teeodot" : "tee"
            let tail = edge.inverse.map { Self.isMany($0) ? "crow" : Self.isOptional($0) ? "teeodot" : "tee" } ?? "none"
            let target = node(edge.relationship.destinationName)
            text += "    \(node(edge.source)) -> \(target) "
            text += "[dir=both arrowhead=\(head) arrowtail=\(tail) label=<\(Self.markup(edge.label))>]\n"
        }
        return text + "}\n"
    }

    /// Text in markup.
    private static func markup(_ text: String) -> String {
        var result = ""
        for character in Cell.visible(text) {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        // A label needs something in it.
        return result.isEmpty ? " " : result
    }

    // MARK: The model

    private struct Edge {
        var source: String
        var relationship: ModelDocument.Relationship
        var inverse: ModelDocument.Relationship?

        var label: String { inverse.map { "\(relationship.name) / \($0.name)" } ?? relationship.name }
    }

    /// Each pair of relationships once.
    private var edges: [Edge] {
        var edges: [Edge] = []
        var seen: Set<[String]> = []
        for entity in document.entities {
            for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
                let owner = relationship.inverseEntityName ?? relationship.destinationName
                if let inverse = relationship.inverseName, seen.contains([owner, inverse]) { continue }
                seen.insert([entity.name, relationship.name])
                let inverse = document.entity(named: owner)?.relationships.first { $0.name == relationship.inverseName }
                edges.append(Edge(source: entity.name, relationship: relationship, inverse: inverse))
            }
        }
        return edges
    }

    private static func isMany(_ relationship: ModelDocument.Relationship) -> Bool { relationship.isToMany }

    private static func isOptional(_ relationship: ModelDocument.Relationship) -> Bool {
        relationship.isOptional || relationship.minCount == 0
    }

    private static func notes(of attribute: ModelDocument.Attribute) -> [String] {
        var notes: [String] = []
        if attribute.isOptional { notes.append("optional") }
        if attribute.isTransient { notes.append("transient") }
        if attribute.isDerived { notes.append("derived") }
        return notes
    }
}

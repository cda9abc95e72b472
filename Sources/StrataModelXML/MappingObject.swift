import Foundation
import StrataModelFile

/// An object of a mapping model's file. Xcode keeps mapping models as a Core Data store in XML.
struct MappingObject {
    let id: String
    let type: String
    let line: Int
    private let attributes: [String: ModelElement]
    private let links: [String: [String]]
    private let list: DiagnosticList

    init(_ element: ModelElement, list: DiagnosticList) {
        id = element.attributes["id"] ?? ""
        type = element.attributes["type"]?.uppercased() ?? ""
        line = element.line
        self.list = list
        var attributes: [String: ModelElement] = [:]
        var links: [String: [String]] = [:]
        for child in element.children {
            guard let name = child.attributes["name"]?.lowercased() else { continue }
            if child.name == "attribute" {
                attributes[name] = child
            } else if child.name == "relationship" {
                links[name] = (child.attributes["idrefs"] ?? "").split(whereSeparator: \.isWhitespace).map {
                    String($0)
                }
            }
        }
        self.attributes = attributes
        self.links = links
    }

    /// The text of an attribute; nil if it is missing or empty.
    func text(_ name: String) -> String? {
        guard let text = attributes[name]?.text, !text.isEmpty else { return nil }
        return text
    }

    func number(_ name: String) -> Int? {
        text(name).flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    func flag(_ name: String) -> Bool? {
        text(name).flatMap { ElementAttributes.flag($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// The bytes of an attribute; nil if it is missing, with an error if it is no Base64.
    func data(_ name: String, mapping: String?, property: String? = nil) -> Data? {
        guard let element = attributes[name], element.hasText else { return nil }
        if let data = Data(base64Encoded: element.text, options: .ignoreUnknownCharacters) { return data }
        list.add(
            ModelDiagnostic(.error, entity: mapping, property: property, "'\(name)' is no Base64"), line: element.line)
        return nil
    }

    /// The identifiers of the objects that a relationship leads to.
    func references(_ name: String) -> [String] { links[name] ?? [] }

    /// Reports attributes that nobody knows. An unknown one with bytes may be an expression, without which objects
    /// would be migrated otherwise than the file says: it is an error.
    func reportUnknown(besides known: Set<String>, mapping: String?, property: String? = nil) {
        for (name, element) in attributes.sorted(by: { $0.value.line < $1.value.line }) where !known.contains(name) {
            let isBinary = element.attributes["type"] == "binary" && !name.hasPrefix("userinfo")
            list.add(
                ModelDiagnostic(
                    isBinary ? .error : .warning, entity: mapping, property: property,
                    isBinary
                        ? "nothing is known of '\(name)', which may say what becomes of objects"
                        : "'\(name)' is not known and ignored"),
                line: element.line)
        }
    }

    func report(_ severity: ModelDiagnostic.Severity, mapping: String?, property: String? = nil, _ message: String) {
        list.add(ModelDiagnostic(severity, entity: mapping, property: property, message), line: line)
    }
}

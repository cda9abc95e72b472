import StrataModelFile

/// What the reader of a model file has found wrong, and the lines of what it has read.
final class DiagnosticList {
    private struct Subject: Hashable {
        var entity: String?
        var property: String?
    }

    private(set) var diagnostics: [ModelDiagnostic] = []
    private let file: String
    private var lines: [Subject: Int] = [:]

    init(file: String) {
        self.file = file
    }

    /// Remembers where something stands, the first time that it is read.
    func record(entity: String?, property: String?, line: Int) {
        let subject = Subject(entity: entity, property: property)
        if lines[subject] == nil { lines[subject] = line }
    }

    /// Adds diagnostics about the document that was read: at the line of the property, or else of the entity.
    func add(_ found: [ModelDiagnostic]) {
        for diagnostic in found {
            let exact = lines[Subject(entity: diagnostic.entity, property: diagnostic.property)]
            add(diagnostic, line: exact ?? lines[Subject(entity: diagnostic.entity, property: nil)] ?? 1)
        }
    }

    func add(_ diagnostic: ModelDiagnostic, line: Int) {
        var diagnostic = diagnostic
        diagnostic.file = file
        diagnostic.line = line
        diagnostics.append(diagnostic)
    }
}

/// The attributes of one element. It remembers which were asked for, so that those that nobody knows are reported.
struct ElementAttributes {
    let element: ModelElement
    let entity: String?
    let property: String?
    let list: DiagnosticList
    private var remaining: [String: String]

    init(_ element: ModelElement, entity: String? = nil, property: String? = nil, list: DiagnosticList) {
        self.element = element
        self.entity = entity
        self.property = property
        self.list = list
        remaining = element.attributes
        list.record(entity: entity, property: property, line: element.line)
    }

    func report(_ severity: ModelDiagnostic.Severity, _ message: String) {
        list.add(ModelDiagnostic(severity, entity: entity, property: property, message), line: element.line)
    }

    /// The text of an attribute, if it is there.
    mutating func text(_ name: String) -> String? {
        remaining.removeValue(forKey: name)
    }

    /// The text of an attribute; nil if it is empty, too.
    mutating func nonEmpty(_ name: String) -> String? {
        text(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The text of an attribute that must be there.
    mutating func required(_ name: String) -> String {
        guard let text = nonEmpty(name) else {
            report(.error, "<\(element.name)> has no attribute '\(name)'")
            return ""
        }
        return text
    }

    mutating func flag(_ name: String) -> Bool? {
        guard let text = text(name) else { return nil }
        guard let flag = Self.flag(text) else {
            report(.error, "\(name)=\"\(text)\" is neither YES nor NO")
            return nil
        }
        return flag
    }

    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "1": true
        case "no", "false", "0": false
        default: nil
        }
    }

    mutating func count(_ name: String) -> Int? {
        guard let text = text(name) else { return nil }
        guard let count = Int(text), count >= 0 else {
            report(.error, "\(name)=\"\(text)\" is no count")
            return nil
        }
        return count
    }

    /// Reports what nobody asked for, and text.
    consuming func finish() {
        for (name, value) in remaining.sorted(by: { $0.key < $1.key }) {
            report(.warning, "<\(element.name)> has an unknown attribute, \(name)=\"\(value)\", which is ignored")
        }
        if element.hasText { report(.warning, "<\(element.name)> has text, which is ignored") }
    }

    /// Reports a child that nobody knows.
    func unknown(_ child: ModelElement) {
        list.add(
            ModelDiagnostic(
                .warning, entity: entity, property: property,
                "<\(element.name)> has an unknown element, <\(child.name)>, which is ignored"),
            line: child.line)
    }

    /// Reports the children of an element that has none.
    func expectNoChildren() {
        element.children.forEach(unknown)
    }
}

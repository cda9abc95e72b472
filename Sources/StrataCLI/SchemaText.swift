import Foundation
import StrataBrowsing
import StrataModelFile

/// A model for reading: entities with their properties.
struct SchemaText {
    private let document: ModelDocument

    init(_ document: ModelDocument) {
        self.document = document
    }

    func print(to terminal: Terminal) {
        for (index, entity) in document.entities.enumerated() {
            if index > 0 { terminal.write("\n") }
            terminal.write(terminal.bold(Self.name(entity.name)) + Self.suffix(of: entity) + "\n")
            for line in Self.aligned(properties(of: entity)) { terminal.write("  \(line)\n") }
            for constraint in entity.uniquenessConstraints {
                terminal.write("  unique (\(constraint.map(Self.name).joined(separator: ", ")))\n")
            }
            for line in Self.indexes(of: entity) { terminal.write("  \(line)\n") }
        }
        for composite in document.composites {
            terminal.write("\n" + terminal.bold("composite \(Self.name(composite.name))") + "\n")
            for line in Self.aligned(composite.attributes.map(Self.row)) { terminal.write("  \(line)\n") }
        }
        for configuration in document.configurations {
            let names = configuration.entityNames.sorted().map(Self.name)
            terminal.write(
                "\n" + terminal.bold("configuration \(Self.name(configuration.name))")
                    + ": \(names.joined(separator: ", "))\n")
        }
    }

    private static func suffix(of entity: ModelDocument.Entity) -> String {
        var text = entity.parentName.map { ": " + name($0) } ?? ""
        var notes: [String] = []
        if entity.isAbstract { notes.append("abstract") }
        if let className = entity.qualifiedClassName(inModule: nil) { notes.append("class \(name(className))") }
        if let former = entity.renamingIdentifier, former != entity.name { notes.append("formerly \(name(former))") }
        if !notes.isEmpty { text += " (\(notes.joined(separator: ", ")))" }
        return text
    }

    // MARK: Properties

    private func properties(of entity: ModelDocument.Entity) -> [[String]] {
        entity.attributes.sorted { $0.name < $1.name }.map(Self.row)
            + entity.relationships.sorted { $0.name < $1.name }.map(Self.row)
            + entity.fetchedProperties.sorted { $0.name < $1.name }.map { property in
                var text = "fetched"
                if let request = property.fetchRequest {
                    text += " \(Self.name(request.entityName))"
                    if let predicate = request.predicate { text += " where \(Cell.visible(predicate))" }
                }
                return [Self.name(property.name), text, ""]
            }
    }

    /// Name, type and notes.
    private static func row(_ attribute: ModelDocument.Attribute) -> [String] {
        var notes: [String] = []
        if attribute.isOptional { notes.append("optional") }
        if attribute.isTransient { notes.append("transient") }
        if let value = attribute.defaultValue { notes.append("default \(text(value))") }
        if let value = attribute.minimum { notes.append("at least \(text(value))") }
        if let value = attribute.maximum { notes.append("at most \(text(value))") }
        if let pattern = attribute.pattern { notes.append("matches \(QuotedText.of(pattern))") }
        if attribute.isDerived {
            notes.append("derived from \(Cell.visible(attribute.derivationExpression ?? "nothing"))")
        }
        if attribute.isIndexed { notes.append("indexed") }
        if attribute.allowsExternalStorage { notes.append("external storage") }
        if attribute.preservesValueOnDeletion { notes.append("preserved in history") }
        if let transformer = attribute.valueTransformerName { notes.append("transformer \(name(transformer))") }
        if let className = attribute.valueClassName { notes.append("values of \(name(className))") }
        notes += common(attribute.property)
        let type = attribute.compositeName.map { "Composite \(name($0))" } ?? attribute.type.rawValue
        return [name(attribute.name), type, notes.joined(separator: ", ")]
    }

    private static func row(_ relationship: ModelDocument.Relationship) -> [String] {
        var notes: [String] = []
        if let inverse = relationship.inverseName {
            notes.append(
                "inverse \(name(relationship.inverseEntityName ?? relationship.destinationName)).\(name(inverse))")
        } else {
            notes.append("no inverse")
        }
        notes.append("on delete \(relationship.deleteRule.rawValue.lowercased())")
        if relationship.isToMany, relationship.minCount > 0 { notes.append("at least \(relationship.minCount)") }
        if relationship.maxCount > 1 { notes.append("at most \(relationship.maxCount)") }
        if relationship.isOptional { notes.append("optional") }
        if relationship.isTransient { notes.append("transient") }
        notes += common(relationship.property)
        let kind = relationship.isToMany ? (relationship.isOrdered ? "many, ordered" : "many") : "one"
        return [
            name(relationship.name), "→ \(name(relationship.destinationName)) (\(kind))", notes.joined(separator: ", "),
        ]
    }

    private static func common(_ property: ModelDocument.Property) -> [String] {
        var notes = property.validations.map { "valid if \(Cell.visible($0.predicate))" }
        if let former = property.renamingIdentifier, former != property.name {
            notes.append("formerly \(name(former))")
        }
        return notes
    }

    private static func indexes(of entity: ModelDocument.Entity) -> [String] {
        entity.indexes.map { index in
            let elements = index.elements.map { element in
                var text = element.propertyName.map(name) ?? Cell.visible(element.expression ?? "")
                if !element.isAscending { text += " descending" }
                if element.isRTree { text += " R-tree" }
                return text
            }
            let condition = index.partialPredicate.map { " where \(Cell.visible($0))" } ?? ""
            return "index \(name(index.name)) (\(elements.joined(separator: ", ")))\(condition)"
        }
            + entity.compoundIndexes.map { "index (\($0.map(name).joined(separator: ", ")))" }
    }

    // MARK: Text

    /// A name; in quotation marks unless it is a word, so that none can pass for more than a name.
    private static func name(_ name: String) -> String {
        let isWord =
            !name.isEmpty
            && name.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_" || $0 == "."
            }
        return isWord ? name : Cell.visible(QuotedText.of(name))
    }

    private static func text(_ value: ModelDocument.Value) -> String {
        switch value {
        case .string(let text): Cell.visible(QuotedText.of(text))
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .decimal(let text): Cell.visible(text)
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let seconds): Point.text(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let data): "<\(data.count) bytes>"
        case .array(let values): "[\(values.map(text).joined(separator: ", "))]"
        case .dictionary(let values):
            "{"
                + values.sorted { $0.key < $1.key }.map { "\(name($0.key)): \(text($0.value))" }
                .joined(separator: ", ") + "}"
        }
    }

    /// The first two of three columns padded.
    private static func aligned(_ rows: [[String]]) -> [String] {
        let widths = (0..<2).map { column in rows.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
        return rows.map { row in
            let cells = (0..<2).map { row[$0] + String(repeating: " ", count: widths[$0] - DisplayWidth.of(row[$0])) }
            var line = cells.joined(separator: "  ") + "  " + row[2]
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

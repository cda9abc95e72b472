import Foundation

/// In what two models differ, in words: for errors.
struct ModelDifference: CustomStringConvertible {
    private let match: ModelMatch

    /// More lines are left out.
    private static let linesMaximum = 20

    init(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) {
        match = ModelMatch(source, destination)
    }

    var description: String {
        let lines = lines
        guard !lines.isEmpty else { return "nothing that version hashes count, but how objects are laid out" }
        let rest = lines.count > Self.linesMaximum ? "; and \(lines.count - Self.linesMaximum) more" : ""
        return lines.prefix(Self.linesMaximum).joined(separator: "; ") + rest
    }

    private var lines: [String] {
        var lines: [String] = []
        for entity in match.source.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") })
        where match.destination(of: entity) == nil {
            lines.append("\(entity.name ?? "") is gone")
        }
        for entity in match.destination.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            guard let old = match.source(of: entity) else {
                lines.append("\(entity.name ?? "") is new")
                continue
            }
            if old.versionHash != entity.versionHash || old.name != entity.name { lines += changes(old, entity) }
        }
        return lines
    }

    private func changes(_ old: NSEntityDescription, _ new: NSEntityDescription) -> [String] {
        let name = new.name ?? ""
        var lines: [String] = []
        if old.name != new.name { lines.append("\(old.name ?? "") is now named \(name)") }
        if old.superentity?.name != new.superentity?.name {
            lines.append("\(name) inherits from \(new.superentity?.name ?? "nothing")")
        }
        if old.isAbstract != new.isAbstract {
            lines.append("\(name) is \(new.isAbstract ? "abstract" : "not abstract")")
        }
        lines += propertyChanges(
            name, Array(old.attributesByName.values), Array(new.attributesByName.values), match.attributes(of: new))
        lines += propertyChanges(
            name, Array(old.relationshipsByName.values), Array(new.relationshipsByName.values),
            match.relationships(of: new))
        lines += constraintChanges(old, new)
        return lines.isEmpty ? ["\(name) differs"] : lines
    }

    private func constraintChanges(_ old: NSEntityDescription, _ new: NSEntityDescription) -> [String] {
        let before = old.uniquenessConstraintNames.map { Set($0) }
        let after = new.uniquenessConstraintNames.map { Set($0) }
        let name = new.name ?? ""
        return new.uniquenessConstraintNames.filter { !before.contains(Set($0)) }
            .map { "\(name) is unique by \($0.joined(separator: ", "))" }
            + old.uniquenessConstraintNames.filter { !after.contains(Set($0)) }
            .map { "\(name) is no longer unique by \($0.joined(separator: ", "))" }
    }

    private func propertyChanges<Property: NSPropertyDescription>(
        _ entity: String, _ old: [Property], _ new: [Property], _ pairs: [String: Property]
    ) -> [String] {
        var lines: [String] = []
        for property in old.sorted(by: { $0.name < $1.name }) where !pairs.values.contains(where: { $0 === property }) {
            lines.append("\(entity).\(property.name) is gone")
        }
        for property in new.sorted(by: { $0.name < $1.name }) {
            guard let before = pairs[property.name] else {
                lines.append("\(entity).\(property.name) is new")
                continue
            }
            if before.name != property.name { lines.append("\(entity).\(before.name) is now named \(property.name)") }
            if before.isOptional != property.isOptional {
                lines.append("\(entity).\(property.name) is \(property.isOptional ? "optional" : "not optional")")
            }
            if Self.name(before) != Self.name(property) {
                lines.append("\(entity).\(property.name) is \(Self.name(property)), was \(Self.name(before))")
            } else if before.versionHash != property.versionHash, before.name == property.name,
                before.isOptional == property.isOptional
            {
                lines.append("\(entity).\(property.name) differs")
            }
        }
        return lines
    }

    /// What a property is, as a model editor calls it.
    static func name(_ property: NSPropertyDescription) -> String {
        if let relationship = property as? NSRelationshipDescription {
            let kind = relationship.isToMany ? relationship.isOrdered ? "ordered to-many" : "to-many" : "to-one"
            return "\(kind) to \(relationship.destinationEntity?.name ?? "nothing")"
        }
        guard let attribute = property as? NSAttributeDescription else { return "\(type(of: property))" }
        switch attribute.attributeType {
        case .integer16AttributeType: return "Integer 16"
        case .integer32AttributeType: return "Integer 32"
        case .integer64AttributeType: return "Integer 64"
        case .decimalAttributeType: return "Decimal"
        case .doubleAttributeType: return "Double"
        case .floatAttributeType: return "Float"
        case .stringAttributeType: return "String"
        case .booleanAttributeType: return "Boolean"
        case .dateAttributeType: return "Date"
        case .binaryDataAttributeType: return "Binary Data"
        case .UUIDAttributeType: return "UUID"
        case .URIAttributeType: return "URI"
        case .transformableAttributeType: return "Transformable"
        case .compositeAttributeType: return "Composite"
        default: return "Undefined"
        }
    }
}

import Foundation

/// Which entities and properties of a newer model are those of an older one: by renaming identifiers first, then by
/// names.
struct ModelMatch {
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel
    /// By the name of the entity of the newer model.
    private let sources: [String: NSEntityDescription]
    /// By the name of the entity of the older model.
    private let destinations: [String: NSEntityDescription]

    init(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) {
        self.source = source
        self.destination = destination
        let pairs = Self.pairs(
            source.entities, destination.entities, name: { $0.name ?? "" }, identifier: { $0.renamingIdentifier ?? "" })
        sources = Dictionary(pairs.map { ($0.1.name ?? "", $0.0) }, uniquingKeysWith: { first, _ in first })
        destinations = Dictionary(pairs.map { ($0.0.name ?? "", $0.1) }, uniquingKeysWith: { first, _ in first })
    }

    /// The entity that has become this one of the newer model; nil for a new one.
    func source(of entity: NSEntityDescription) -> NSEntityDescription? { sources[entity.name ?? ""] }

    /// What an entity of the older model has become; nil if it is gone.
    func destination(of entity: NSEntityDescription) -> NSEntityDescription? { destinations[entity.name ?? ""] }

    /// The attributes that have become those of an entity of the newer model, by the newer names.
    func attributes(of entity: NSEntityDescription) -> [String: NSAttributeDescription] {
        guard let source = source(of: entity) else { return [:] }
        return Self.properties(Array(source.attributesByName.values), Array(entity.attributesByName.values))
    }

    /// The relationships that have become those of an entity of the newer model, by the newer names.
    func relationships(of entity: NSEntityDescription) -> [String: NSRelationshipDescription] {
        guard let source = source(of: entity) else { return [:] }
        return Self.properties(Array(source.relationshipsByName.values), Array(entity.relationshipsByName.values))
    }

    /// The elements that have become those of a composite attribute, by the newer names.
    static func elements(
        _ source: NSCompositeAttributeDescription, _ destination: NSCompositeAttributeDescription
    ) -> [String: NSAttributeDescription] {
        properties(source.elements, destination.elements)
    }

    private static func properties<Property: NSPropertyDescription>(
        _ source: [Property], _ destination: [Property]
    ) -> [String: Property] {
        let pairs = pairs(source, destination, name: \.name, identifier: { $0.renamingIdentifier ?? $0.name })
        return Dictionary(pairs.map { ($0.1.name, $0.0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Each element at most once: an equal identifier counts before the identifier that is the older name, and that
    /// before an equal name.
    private static func pairs<Element: AnyObject>(
        _ source: [Element], _ destination: [Element], name: (Element) -> String, identifier: (Element) -> String
    ) -> [(Element, Element)] {
        var source = source.sorted { name($0) < name($1) }
        var destination = destination.sorted { name($0) < name($1) }
        var pairs: [(Element, Element)] = []
        func take(_ isPair: (Element, Element) -> Bool) {
            for new in destination {
                guard let index = source.firstIndex(where: { isPair($0, new) }) else { continue }
                pairs.append((source.remove(at: index), new))
                destination.removeAll { $0 === new }
            }
        }
        take { identifier($0) == identifier($1) && name($0) == name($1) }
        take { identifier($0) == identifier($1) }
        take { name($0) == identifier($1) }
        take { name($0) == name($1) }
        return pairs
    }

    // MARK: What cannot be inferred

    /// Why no mapping can be inferred; empty if it can.
    var obstacles: [String] {
        destination.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.flatMap { entity in
            attributeObstacles(entity) + relationshipObstacles(entity)
        }
    }

    private func attributeObstacles(_ entity: NSEntityDescription) -> [String] {
        let old = attributes(of: entity)
        return entity.attributesByName.sorted { $0.key < $1.key }.flatMap { name, attribute -> [String] in
            guard let before = old[name] else { return [] }
            return Self.obstacles("\(entity.name ?? "").\(name)", before, attribute)
        }
    }

    private static func obstacles(
        _ name: String, _ old: NSAttributeDescription, _ new: NSAttributeDescription
    ) -> [String] {
        if let old = old as? NSCompositeAttributeDescription, let new = new as? NSCompositeAttributeDescription {
            let pairs = elements(old, new)
            return new.elements.sorted { $0.name < $1.name }.flatMap { element in
                pairs[element.name].map { obstacles("\(name).\(element.name)", $0, element) } ?? []
            }
        }
        // Values of the one cannot be read as the other; without stored values there is nothing to read.
        guard old.attributeType != new.attributeType, !old.isTransient, !new.isTransient,
            !(isNumber(old.attributeType) && isNumber(new.attributeType))
        else { return [] }
        return ["\(name) has another type (\(ModelDifference.name(old)) before, \(ModelDifference.name(new)) now)"]
    }

    /// Whether values of a type become those of another such type: objects are copied then.
    private static func isNumber(_ type: NSAttributeType) -> Bool {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType,
            .floatAttributeType, .doubleAttributeType, .decimalAttributeType:
            true
        default: false
        }
    }

    private func relationshipObstacles(_ entity: NSEntityDescription) -> [String] {
        let old = relationships(of: entity)
        return entity.relationshipsByName.sorted { $0.key < $1.key }.compactMap { name, relationship in
            guard let before = old[name] else { return nil }
            let key = "\(entity.name ?? "").\(name)"
            if before.isToMany, !relationship.isToMany { return "\(key) was to-many and is to-one" }
            guard let target = before.destinationEntity, let new = destination(of: target) else { return nil }
            var ancestor: NSEntityDescription? = new
            while let entity = ancestor, entity.name != relationship.destinationEntity?.name {
                ancestor = entity.superentity
            }
            return ancestor == nil ? "\(key) leads to another entity" : nil
        }
    }
}

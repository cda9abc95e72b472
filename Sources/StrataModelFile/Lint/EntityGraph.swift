/// The entities of a document by name, and who inherits from whom.
package struct EntityGraph {
    private static let maximumDepth = 64

    package let entities: [String: ModelDocument.Entity]
    package let composites: [String: ModelDocument.Composite]

    package init(_ document: ModelDocument) {
        entities = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        composites = Dictionary(document.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The entities that one inherits from, the nearest first; nil if it inherits from itself.
    package func ancestors(of entity: ModelDocument.Entity) -> [ModelDocument.Entity]? {
        var ancestors: [ModelDocument.Entity] = []
        var next = entity.parentName
        while let name = next, let parent = entities[name] {
            guard ancestors.count < Self.maximumDepth, name != entity.name else { return nil }
            ancestors.append(parent)
            next = parent.parentName
        }
        return ancestors
    }

    /// Whether one entity is another or inherits from it.
    func isKind(_ name: String, of other: String) -> Bool {
        guard name != other, let entity = entities[name] else { return name == other }
        return ancestors(of: entity)?.contains { $0.name == other } ?? false
    }

    /// The relationship of this name that an entity declares or inherits, and who declares it.
    func relationship(_ name: String, of entityName: String) -> (owner: String, ModelDocument.Relationship)? {
        guard let entity = entities[entityName] else { return nil }
        for candidate in [entity] + (ancestors(of: entity) ?? []) {
            if let found = candidate.relationships.first(where: { $0.name == name }) { return (candidate.name, found) }
        }
        return nil
    }

    /// How deep composites are nested; nil if one contains itself or there are over 16 levels.
    func compositeDepth(_ name: String, limit: Int = 16) -> Int? {
        guard limit > 0 else { return nil }
        var deepest = 0
        for attribute in composites[name]?.attributes ?? [] {
            guard let inner = attribute.compositeName, attribute.type == .composite else { continue }
            guard let depth = compositeDepth(inner, limit: limit - 1) else { return nil }
            deepest = max(deepest, depth)
        }
        return deepest + 1
    }
}

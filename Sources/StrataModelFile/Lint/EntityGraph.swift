/// The entities of a document by name, and who inherits from whom.
package struct EntityGraph {
    private static let maximumDepth = 64
    private static let maximumCompositeDepth = 16

    package let entities: [String: ModelDocument.Entity]
    package let composites: [String: ModelDocument.Composite]
    private let compositeDepths: [String: Int]

    package init(_ document: ModelDocument) {
        entities = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        composites = Dictionary(document.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        compositeDepths = Self.depths(of: composites)
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
    package func relationship(_ name: String, of entityName: String) -> (owner: String, ModelDocument.Relationship)? {
        guard let entity = entities[entityName] else { return nil }
        for candidate in [entity] + (ancestors(of: entity) ?? []) {
            if let found = candidate.relationships.first(where: { $0.name == name }) { return (candidate.name, found) }
        }
        return nil
    }

    /// How deep composites are nested in one; nil if it contains itself or there are over 16 levels.
    func compositeDepth(_ name: String) -> Int? {
        compositeDepths[name].flatMap { $0 <= Self.maximumCompositeDepth ? $0 : nil }
    }

    /// Step by step, since following each path would take for ever where composites share what they contain.
    private static func depths(
        of composites: [String: ModelDocument.Composite]
    ) -> [String: Int] {
        var depths = composites.mapValues { _ in 1 }
        for _ in 0..<maximumCompositeDepth {
            depths = composites.mapValues { composite in
                let inner = composite.attributes.filter { $0.type == .composite }.compactMap(\.compositeName)
                return 1 + (inner.compactMap { depths[$0] }.max() ?? 0)
            }
        }
        return depths
    }
}

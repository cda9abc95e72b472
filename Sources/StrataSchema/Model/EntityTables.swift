import Foundation

/// The look-ups of an entity that can no longer change.
///
/// Everything is set in the initialiser, hence `@unchecked Sendable`: descriptions are immutable from then on.
final class EntityTables: @unchecked Sendable {
    let properties: [NSPropertyDescription]
    let propertiesByName: [String: NSPropertyDescription]
    let attributesByName: [String: NSAttributeDescription]
    let relationshipsByName: [String: NSRelationshipDescription]
    let versionHash: Data
    /// The tables of the superentity. Stand for the ancestor itself, which they do not retain.
    private let parent: EntityTables?

    /// - Parameter parent: the tables of the superentity, made before.
    init(for entity: NSEntityDescription, parent: EntityTables?) {
        properties = entity.computeProperties()
        propertiesByName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        attributesByName = propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
        relationshipsByName = propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
        versionHash = entity.computeVersionHash()
        self.parent = parent
    }

    func descends(from other: EntityTables) -> Bool {
        var next: EntityTables? = self
        while let tables = next {
            if tables === other { return true }
            next = tables.parent
        }
        return false
    }
}

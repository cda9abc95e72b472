import Strata
import StrataBrowsing

/// The columns of an entity's objects: attributes, then relationships to one object.
struct EntityColumns {
    let attributes: [NSAttributeDescription]
    let references: [NSRelationshipDescription]

    init(_ entity: NSEntityDescription) {
        attributes = entity.properties.compactMap { $0 as? NSAttributeDescription }.filter { !$0.isTransient }
            .sorted { $0.name < $1.name }
        references = entity.properties.compactMap { $0 as? NSRelationshipDescription }
            .filter { !$0.isToMany && !$0.isTransient }.sorted { $0.name < $1.name }
    }

    var names: [String] { attributes.map(\.name) + references.map(\.name) }

    func cells(_ object: NSManagedObject) -> [Cell] {
        attributes.map { Cell(object.value(forKey: $0.name), $0) }
            + references.map { Cell(object.value(forKey: $0.name)) }
    }
}

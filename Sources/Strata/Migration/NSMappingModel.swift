import Foundation

/// How the objects of one model become those of another.
///
/// Thread rule: as for ``NSPropertyMapping``.
open class NSMappingModel: NSObject {
    /// The mappings, in the order in which they are carried out.
    open var entityMappings: [NSEntityMapping]! = []

    /// The mappings by their names; of several with one name the first.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A mapping model without mappings.
    public override init() {
        super.init()
    }

    /// Whether both have the same mappings in the same order.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSMappingModel else { return false }
        return other === self || entityMappings == other.entityMappings
    }

    /// Agrees with equality: changes with the mappings' names.
    open override var hash: Int { entityMappings.hashValue }

    /// Whether the mappings are made for these versions of entities, and leave none out that has changed.
    func fits(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> Bool {
        guard entityMappings.contains(where: { $0.sourceEntityVersionHash != nil }) else { return false }
        let isMadeForThem = entityMappings.allSatisfy { mapping in
            Self.isVersion(mapping.sourceEntityName, mapping.sourceEntityVersionHash, in: source)
                && Self.isVersion(mapping.destinationEntityName, mapping.destinationEntityVersionHash, in: destination)
        }
        let sources = Set(entityMappings.compactMap(\.sourceEntityName))
        return isMadeForThem && source.entities.allSatisfy { $0.isAbstract || sources.contains($0.name ?? "") }
    }

    static func isVersion(_ name: String?, _ hash: Data?, in model: NSManagedObjectModel) -> Bool {
        guard let name else { return true }
        guard let entity = model.entitiesByName[name] else { return false }
        return hash == nil || entity.versionHash == hash
    }
}

/// Which entities a store has and which key space each belongs to, over all its schemas. Immutable.
final class StoreLayout: Sendable {
    /// Root entities, ascending: the positions of their indexes in every snapshot.
    let roots: [UInt16]
    /// For each entity number the position of its root's index, or -1.
    private let positions: [Int]
    /// Entities with references that are listed from the other end.
    private let referring: Set<UInt16>

    init(_ schemas: [NumberedSchema]) {
        var rootOf: [UInt16: UInt16] = [:]
        for numbered in schemas {
            for entity in numbered.schema.entities { rootOf[entity.id] = entity.rootID }
        }
        // The entity that a key space was named after may be gone.
        for root in Set(rootOf.values) where rootOf[root] == nil { rootOf[root] = root }
        referring = Set(
            schemas.flatMap(\.schema.entities).filter { $0.slots.contains { $0.postingsID != 0 } }.map(\.id))
        let roots = Set(rootOf.values).sorted()
        var positions = [Int](repeating: -1, count: (rootOf.keys.max().map(Int.init) ?? -1) + 1)
        for (entity, root) in rootOf { positions[Int(entity)] = roots.firstIndex(of: root) ?? -1 }
        self.roots = roots
        self.positions = positions
    }

    /// Position of the index that holds an entity's objects; nil for an entity the store does not have.
    func position(ofEntity entity: UInt16) -> Int? {
        guard Int(entity) < positions.count, positions[Int(entity)] >= 0 else { return nil }
        return positions[Int(entity)]
    }

    func position(ofRoot root: UInt16) -> Int? {
        roots.firstIndex(of: root)
    }

    func root(ofEntity entity: UInt16) -> UInt16? {
        position(ofEntity: entity).map { roots[$0] }
    }

    /// Whether the entity has references that are listed from the other end.
    func hasPostings(_ entity: UInt16) -> Bool { referring.contains(entity) }

    /// Room for a count for every entity number.
    var entityLimit: Int { positions.count }
}

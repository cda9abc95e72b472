/// Many rows at once: runs of entities one after another, with values that repeat.
struct Bulk {
    struct Column {
        var name: String
        var kind: Kind
        var pool: [Value]
        var stride: Int

        func value(_ row: Int) -> Value { pool[row * stride % pool.count] }
    }

    /// The key of the first row.
    var first: Int
    /// So many rows of an entity, then so many of the next.
    var pattern: [(entity: String, count: Int)]
    /// How often the pattern comes.
    var repeats: Int
    /// For the rows whose entities have an attribute of that name and type.
    var columns: [Column]
    /// A to-one relationship, and the objects it leads to in turn.
    var link: (name: String, targets: [Int])?
    /// Whether by batch requests, one for each run.
    var isBatch: Bool

    var count: Int { repeats * pattern.reduce(0) { $0 + $1.count } }

    /// The entities of the rows, one after another.
    var entities: [String] {
        let once = pattern.flatMap { Array(repeating: $0.entity, count: $0.count) }
        return (0..<repeats).flatMap { _ in once }
    }

    /// The columns and the link that an entity has.
    func columns(of entity: Int, _ model: RandomModel) -> [Column] {
        columns.filter { model.attribute($0.name, of: entity)?.kind == $0.kind }
    }

    func target(_ row: Int, of entity: Int, _ model: RandomModel) -> Int? {
        guard let link, !link.targets.isEmpty, let relation = model.relation(link.name),
            model.isKind(entity, of: relation.owner)
        else { return nil }
        return link.targets[row % link.targets.count]
    }
}

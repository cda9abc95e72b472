internal import StrataSupport

/// Which entities a store has and which key space each belongs to, over all its schemas. Immutable.
final class StoreLayout: Sendable {
    /// Root entities, ascending: the positions of their indexes in every snapshot.
    let roots: [UInt16]
    /// For each entity number of a schema its root's, and for each root its own.
    private let rootOf: NumberTable<UInt16>
    /// For each entity number the position of its root's index, or -1.
    private let positions: [Int]
    /// For each entity number, whether the entity has references that are listed from the other end.
    private let referring: [Bool]

    // Without sets and dictionaries: see ``NumberTable``.
    convenience init(_ schemas: [NumberedSchema]) { self.init(NumberTable(), [], schemas[...]) }

    /// The layout with what later schemas say; nil where that takes all schemas, as an entity has another root.
    ///
    /// - Complexity: O(n) in the entities of these schemas, and, where one of them is new, in those of all.
    func adding(_ schemas: ArraySlice<NumberedSchema>) -> StoreLayout? {
        var isNew = false
        for numbered in schemas {
            for entity in numbered.schema.entities {
                let root = rootOf[entity.id]
                if let root, root != entity.rootID { return nil }
                isNew =
                    isNew || root == nil
                    || !hasPostings(entity.id) && entity.slots.contains { $0.postingsID != 0 }
            }
        }
        return isNew ? StoreLayout(rootOf, referring, schemas) : self
    }

    private init(_ known: NumberTable<UInt16>, _ knownReferring: [Bool], _ schemas: ArraySlice<NumberedSchema>) {
        var rootOf = known
        for numbered in schemas {
            for entity in numbered.schema.entities { rootOf[entity.id] = entity.rootID }
        }
        // The entity that a key space was named after may be gone.
        for root in rootOf.values where rootOf[root] == nil { rootOf[root] = root }
        var roots: [UInt16] = []
        for root in rootOf.values.sorted() where root != roots.last { roots.append(root) }
        let limit = rootOf.numbers.last.map { Int($0) + 1 } ?? 0
        var positions = [Int](repeating: -1, count: limit)
        for index in rootOf.numbers.indices {
            positions[Int(rootOf.numbers[index])] = Self.position(of: rootOf.values[index], in: roots) ?? -1
        }
        var referring = knownReferring + repeatElement(false, count: limit - knownReferring.count)
        for numbered in schemas {
            for entity in numbered.schema.entities where entity.slots.contains(where: { $0.postingsID != 0 }) {
                referring[Int(entity.id)] = true
            }
        }
        self.roots = roots
        self.rootOf = rootOf
        self.positions = positions
        self.referring = referring
    }

    /// Position of the index that holds an entity's objects; nil for an entity the store does not have.
    func position(ofEntity entity: UInt16) -> Int? {
        guard Int(entity) < positions.count, positions[Int(entity)] >= 0 else { return nil }
        return positions[Int(entity)]
    }

    func position(ofRoot root: UInt16) -> Int? {
        Self.position(of: root, in: roots)
    }

    private static func position(of root: UInt16, in roots: [UInt16]) -> Int? {
        var (low, high) = (0, roots.count)
        while low < high {
            let middle = (low + high) / 2
            if roots[middle] < root { low = middle + 1 } else { high = middle }
        }
        return low < roots.count && roots[low] == root ? low : nil
    }

    func root(ofEntity entity: UInt16) -> UInt16? {
        position(ofEntity: entity).map { roots[$0] }
    }

    /// Whether the entity has references that are listed from the other end.
    func hasPostings(_ entity: UInt16) -> Bool { Int(entity) < referring.count && referring[Int(entity)] }

    /// Room for a count for every entity number.
    var entityLimit: Int { positions.count }
}

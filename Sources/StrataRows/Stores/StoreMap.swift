import StrataLog

/// Translates between a model's shapes and the numbers they have in one store. Immutable.
@usableFromInline
package final class StoreMap: Sendable {
    /// Entity numbers by shape index; 0 for entities that the store does not hold.
    @usableFromInline package let numbers: [UInt16]
    @usableFromInline let shapesByNumber: [EntityShape?]
    /// By shape index: the number of the key space that the entity's objects share with those of its hierarchy. Mostly
    /// the root's own; migrations may give entities another root, and never another key space.
    @usableFromInline let roots: [UInt16]
    /// By shape index and slot; 0 for none.
    @usableFromInline let postings: [[UInt16]]
    @usableFromInline let linkNumbers: [UInt16]
    @usableFromInline let linkPostingNumbers: [[UInt16]]
    /// By shape index; nil when the store serves all that it holds.
    @usableFromInline let served: [Bool]?

    /// - Parameter names: the entities of the configuration that the store was opened with, with what they inherit
    ///   from; nil for all.
    package init(_ shapes: ModelShapes, _ stored: StoredModel, serving names: Set<String>? = nil) {
        var numbers = [UInt16](repeating: 0, count: shapes.shapes.count)
        var roots = numbers
        var byNumber = [EntityShape?](repeating: nil, count: Int(stored.entities.map(\.number).max() ?? 0) + 1)
        for entity in stored.entities {
            guard let shape = shapes.byName[entity.name] else { continue }
            numbers[shape.index] = entity.number
            roots[shape.index] = entity.root
            byNumber[Int(entity.number)] = shape
        }
        self.numbers = numbers
        self.roots = roots
        served = names.flatMap { names in
            let isPart = stored.entities.contains { $0.versionHash != nil && !names.contains($0.name) }
            return isPart ? shapes.shapes.map { names.contains($0.name) } : nil
        }
        shapesByNumber = byNumber
        postings = shapes.shapes.map { shape in
            shape.slots.map { info in
                guard info.relationshipIndex >= 0 else { return 0 }
                let relationship = shape.relationships[info.relationshipIndex]
                return relationship.keepsPostings ? stored.postings[relationship.storedName] ?? 0 : 0
            }
        }
        linkNumbers = shapes.links.map { stored.entity(StoredModel.linkName($0))?.number ?? 0 }
        linkPostingNumbers = shapes.links.map { link in
            (0...1).map { stored.postings[StoredModel.linkPostingsName(link, $0)] ?? 0 }
        }
    }

    /// Nil for a hidden entity and for a number the store does not have.
    @inlinable
    package func shape(_ number: UInt16) -> EntityShape? {
        Int(number) < shapesByNumber.count ? shapesByNumber[Int(number)] : nil
    }

    /// The number of the key space of an entity's objects; 0 if the store does not hold it.
    @inlinable
    package func root(_ shape: EntityShape) -> UInt16 { roots[shape.index] }

    /// As ``root(_:)``, for the position of a shape.
    @inlinable
    package func root(at index: Int) -> UInt16 { roots[index] }

    /// Whether the store has a place for rows of an entity.
    @inlinable
    package func holds(_ shape: EntityShape) -> Bool { numbers[shape.index] != 0 }

    /// Whether an entity is one of the configuration that the store was opened with: its objects are looked for in the
    /// store, and new ones go there. What a store holds besides stays as it is, and is found by reference only.
    @inlinable
    package func serves(_ shape: EntityShape) -> Bool { holds(shape) && served?[shape.index] ?? true }

    /// Whether the store was opened with all entities that it holds.
    @inlinable package var servesAll: Bool { served == nil }

    @inlinable
    package func postings(_ shape: EntityShape, _ slot: Int) -> UInt16 { postings[shape.index][slot] }

    @inlinable
    package func linkNumber(_ link: LinkShape) -> UInt16 { linkNumbers[link.index] }

    /// The index of the link whose hidden entity has a number; nil for other numbers.
    func linkIndex(_ number: UInt16) -> Int? { number == 0 ? nil : linkNumbers.firstIndex(of: number) }

    @inlinable
    package func linkPostings(_ link: LinkShape, _ side: Int) -> UInt16 { linkPostingNumbers[link.index][side] }
}

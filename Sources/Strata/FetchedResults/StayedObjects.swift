/// Tells which of the objects that were put in place anew have the same neighbours as before.
///
/// An object has moved if another number of those that stayed comes before it, or if its order changed among the others
/// between the same two that stayed.
struct StayedObjects {
    private var moved: Set<ObjectIdentifier> = []

    /// - Parameter isFixed: whether an object stayed. Complexity: O(n).
    init(_ old: FetchedResultList, _ new: FetchedResultList, _ isFixed: (ObjectIdentifier) -> Bool) {
        var positions: [ObjectIdentifier: (rank: Int, index: Int)] = [:]
        var rank = 0
        for (index, object) in old.objects.enumerated() {
            let id = ObjectIdentifier(object)
            if isFixed(id) { rank += 1 } else { positions[id] = (rank, index) }
        }
        rank = 0
        /// The objects between two that stayed, in their new order, by their old index.
        var gap: [(id: ObjectIdentifier, index: Int)] = []
        for object in new.objects {
            let id = ObjectIdentifier(object)
            if isFixed(id) {
                rank += 1
                close(&gap)
            } else if let position = positions[id] {
                if position.rank == rank { gap.append((id, position.index)) } else { moved.insert(id) }
            }
        }
        close(&gap)
    }

    func hasMoved(_ id: ObjectIdentifier) -> Bool { moved.contains(id) }

    /// Of the objects in a gap, those stay that come after all before them, and before all after them, as they did.
    private mutating func close(_ gap: inout [(id: ObjectIdentifier, index: Int)]) {
        if gap.isEmpty { return }
        var least = [Int](repeating: .max, count: gap.count + 1)
        for index in gap.indices.reversed() { least[index] = min(least[index + 1], gap[index].index) }
        var greatest = Int.min
        for (index, entry) in gap.enumerated() {
            if entry.index < greatest || entry.index > least[index + 1] { moved.insert(entry.id) }
            greatest = max(greatest, entry.index)
        }
        gap = []
    }
}

import StrataLog

/// An order of rows that an index may have.
struct IndexOrder {
    let sorts: [ColumnSort]
    /// Whether rows that are alike in all columns have to come by their keys; else they may come in any order.
    var isWhole = true

    /// Whether an index, against its order or not, has this order: nil when it has not, else whether it is against it.
    ///
    /// - Parameter fixed: columns that have one value only, which say nothing.
    func direction(_ elements: [OrderedIndexDefinition.Element], _ fixed: Set<Int>) -> Bool? {
        var direction: Bool?
        var position = 0
        var seen: Set<Int> = []
        for sort in sorts where !fixed.contains(sort.slot) && seen.insert(sort.slot).inserted {
            while position < elements.count, fixed.contains(elements[position].slot) { position += 1 }
            guard position < elements.count, elements[position].slot == sort.slot else { return nil }
            let isAgainst = elements[position].isDescending == sort.isAscending
            if let direction, direction != isAgainst { return nil }
            direction = isAgainst
            position += 1
        }
        if !isWhole { return direction }
        // Objects that are alike in all columns come by their keys: nothing else may order them.
        while position < elements.count, fixed.contains(elements[position].slot) { position += 1 }
        return position == elements.count ? direction ?? false : nil
    }
}

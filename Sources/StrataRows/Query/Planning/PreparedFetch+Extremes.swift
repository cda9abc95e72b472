import Foundation

extension DictionaryPlan {
    /// Whether some columns are those of a row, not of several.
    package var showsRows: Bool { !columns.allSatisfy(\.isAggregate) }
}

extension PreparedFetch {
    /// For each extreme that dictionaries want of all rows the fetch of the row that has it; none if they want anything
    /// else of several rows.
    ///
    /// With a predicate columns are as quick as an index that would have to be looked through for a row that satisfies
    /// it; but other columns of the row that has an extreme are known only once that row is.
    package static func extremes(
        _ dictionaries: DictionaryPlan, of shape: EntityShape, _ settings: FetchSettings, _ predicate: NSPredicate?,
        _ shapes: ModelShapes, _ fold: (FetchSettings, EntityShape) throws -> FoldedPredicate
    ) -> [PreparedFetch] {
        let showsRow = dictionaries.showsRows
        guard dictionaries.groups.isEmpty, showsRow ? dictionaries.aggregates.count == 1 : predicate == nil else {
            return []
        }
        var extremes: [(key: String, isLeast: Bool)] = []
        for aggregate in dictionaries.aggregates {
            guard aggregate.function == .min || aggregate.function == .max,
                case .keyPath(nil, let path) = aggregate.argument.form, !path.text.contains("@")
            else { return [] }
            extremes.append((path.text, aggregate.function == .min))
        }
        let orders = extremes.compactMap { key, isLeast in
            var order = FetchSettings()
            order.entityName = shape.name
            order.includesSubentities = settings.includesSubentities
            order.affectedStores = settings.affectedStores
            order.includesPendingChanges = false
            order.resultType = .managedObjectIDResultType
            order.fetchLimit = 1
            order.sortDescriptors = [NSSortDescriptor(key: key, ascending: isLeast)]
            // Null comes first, so that the greatest value is null only if all are.
            let isThere = isLeast || showsRow ? [NSPredicate(format: "%K != nil", key)] : []
            let conditions = (predicate.map { [$0] } ?? []) + isThere
            if !conditions.isEmpty { order.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: conditions) }
            // A predicate that is as deep as one may be has no room for another condition: each row is looked at then.
            return try? PreparedFetch(order, resultClass: NSManagedObjectID.self, shapes, fold: fold)
        }
        return orders.count == extremes.count ? orders : []
    }
}

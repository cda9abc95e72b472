import StrataLog

extension StoreScan {
    /// A scan of a few rows, among which are the first of an order, when all candidates refer to some objects whose own
    /// values the order begins with: books of authors from a country, by `author.name`. The authors are put in order,
    /// and the books of the first ones are enough. Nil for other conditions and orders.
    ///
    /// - Parameter limit: how many of the first rows are wanted.
    package func firstByTargets(_ sorts: [ComputedSort], limit: Int) throws -> CompiledScan? {
        guard limit > 0, let prepared = try prepared(), let targets = prepared.targets,
            !prepared.predicate.isSelective, prepared.predicate.rest == nil, limit < prepared.candidates?.count ?? 0
        else { return nil }
        var ofTargets: [ComputedSort] = []
        for sort in sorts {
            guard case .path(let path) = sort.expression, path.slot == targets.slot else { break }
            ofTargets.append(ComputedSort(expression: path.rest, order: sort.order))
        }
        guard !ofTargets.isEmpty else { return nil }
        do {
            guard let refs = try firstReferrers(of: targets, in: ofTargets, limit: limit) else { return nil }
            report.record(prepared.path)
            return scan(over: refs, reading: sorts.map(\.expression))
        } catch let error as StoreError {
            throw scope.failure(error)
        }
    }

    /// Those who refer to the first of some objects, with the referrers of all that are like the last of these. Nil
    /// where only the interpreter can put them in order.
    private func firstReferrers(
        of targets: RowSearch.Targets, in sorts: [ComputedSort], limit: Int
    ) throws -> [ObjectRef]? {
        let relationship = plan.shape.relationships[plan.shape.slots[targets.slot].relationshipIndex]
        let destination: EntityShape = relationship.destination
        let owners = RowSearch(
            scope.handle, scope.snapshot, destination, family: destination.family, report: nil, turn: turn)
        let all = CompiledPredicate.everyRow
        let scan = CompiledScan(
            scope.handle, scope.snapshot, all, root: owners.root, destination, entities: owners.entities,
            reading: sorts.map(\.expression)
        ).over(targets.refs, all)
        var rows = SortedRows(sorts, limit: .max, turn?.control)
        do {
            try scan.run(.whole, turn) { rowGroup in
                var part = SortedRows(sorts, limit: .max, turn?.control)
                try part.add(rowGroup, bound: nil)
                return part
            } take: { (part: SortedRows) in
                try rows.merge(part)
                return true
            }
        } catch is NotCompiled {
            return nil
        }
        let postings = scope.handle.map.postings(plan.shape, targets.slot)
        var refs: [ObjectRef] = []
        var last: SortedRows.Entry?
        for entry in try rows.finish(offset: 0) {
            if refs.count >= limit, let last, !rows.areAlike(last, entry) { break }
            last = entry
            try scope.snapshot.forEachReferrer(postings: postings, to: entry.ref) { ref in
                if entities.contains(ref.entity) { refs.append(ref) }
                return true
            }
        }
        return refs
    }
}

import StrataLog

extension FetchExecutor {
    /// What an index found, in order; with unsaved changes to be laid over it, by key and with what it is sorted by.
    ///
    /// - Parameter isSorted: whether they are in the order of the request.
    func matches(
        _ refs: [ObjectRef], _ store: SeenStore, _ scope: RowScope, withKeys: Bool, isSorted: Bool? = nil
    ) throws -> StoredMatches {
        var found = StoredMatches()
        found.isSorted = isSorted ?? !withKeys
        guard withKeys else {
            found.matches = refs.map { FetchMatch(ref: $0, storeIndex: store.index) }
            return found
        }
        var pace = ControlPace(control, every: 256)
        let keySorts = keySorts
        for ref in refs.sorted(by: { $0.key < $1.key }) {
            try pace.step()
            if let match = try match(ref, store, scope, keySorts) { found.matches.append(match) }
        }
        try scope.check()
        return found
    }

    /// A stored row with what it is sorted by.
    private func match(
        _ ref: ObjectRef, _ store: SeenStore, _ scope: RowScope, _ keySorts: [KeySortDescriptor]
    ) throws -> FetchMatch? {
        let found = Result { () throws(StoreError) in try scope.rows.row(ref) }
        switch found {
        case .failure(let error): throw StoreFailure.cocoaError(error, reading: scope.handle)
        case .success(let row):
            guard let row, let shape = scope.handle.map.shape(row.ref.entity) else { return nil }
            let keys = SortKeys(RowSource(scope, shape, row.block, row.index), keySorts)
            return FetchMatch(ref: row.ref, storeIndex: store.index, keys: keys)
        }
    }
}

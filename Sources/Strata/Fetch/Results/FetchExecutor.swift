import Foundation
import StrataLog

/// Runs a fetch: stored rows first, then the context's changes over them, then the results in their form.
struct FetchExecutor {
    let context: NSManagedObjectContext
    let plan: FetchPlan
    var keySorts: [KeySortDescriptor] { plan.prepared.keySorts }
    /// How the rows were found.
    let report: ScanReport
    /// What may stop the fetch or let it wait; nil for one that is a part of something else.
    let turn: ScanTurn?
    var control: RequestControl? { turn?.control }

    /// - Parameter report: filled in for whoever asks.
    init(
        _ context: NSManagedObjectContext, _ plan: FetchPlan, turn: ScanTurn? = nil, report: ScanReport? = nil
    ) {
        self.context = context
        self.report = report ?? ScanReport(isEstimating: false)
        self.turn = turn
        self.plan = plan
    }

    /// What a fetch found in the stores before the context's changes are laid over it. It can be found on any thread
    /// unless the plan needs objects.
    struct StoredMatches {
        var matches: [FetchMatch] = []
        var dictionaries: [NSDictionary] = []
        /// Whether the matches are in the order that the request wants.
        var isSorted = false
        /// How many of the request's offset have been left out already.
        var skipped = 0
    }

    // MARK: Results

    /// The results in the form the plan asks for.
    func results() throws -> FetchResults { try working { try context.throwingReadFailures { try run() } } }

    /// Runs what evaluates predicates and expressions on this thread, so that it can be stopped in the middle of a row.
    ///
    /// - Throws: why it was stopped; for a request that something may stop, also when that was too late to matter.
    func working<T>(_ body: () throws -> T) throws -> T {
        let work = EvaluationWork(control, isBounded: plan.isBounded)
        let result = Result { try work.run(body) }
        // What was stopped ends with whatever error.
        try work.check(control)
        try control?.check()
        return try result.get()
    }

    private func run() throws -> FetchResults {
        if plan.includesPendingChanges { context.processChangesBeforeReading() }
        if plan.resultType.contains(.countResultType) { return .counts([NSNumber(value: try count())]) }
        try context.refuseUnread(plan, needsObjects: needsObjects)
        let stores = try stores()
        if let objects = try storedObjects(stores) { return .objects(objects) }
        if let found = try sortedSearch(stores, PendingOverlay(context, plan, handles)) {
            return try results(of: found)
        }
        return try results(of: search(stores, maximum: maximumMatches))
    }

    /// Lays the context's changes over what was found and gives it its form.
    func results(of found: StoredMatches) throws -> FetchResults {
        if plan.resultType.contains(.countResultType) {
            return .counts([NSNumber(value: try checked(window(overlaid(found))).count)])
        }
        if plan.dictionaries != nil { return .dictionaries(found.dictionaries) }
        if plan.resultType.contains(.managedObjectIDResultType) {
            return .objectIDs(try objectIDs(checked(window(try sorted(found), skipped: found.skipped))))
        }
        return .objects(try objects(found))
    }

    /// What the request describes, in order, without making objects.
    ///
    /// - Parameter withKeys: whether each comes with what it is sorted by.
    func orderedMatches(withKeys: Bool) throws -> [FetchMatch] {
        try working { try found(withKeys: withKeys) }
    }

    private func found(withKeys: Bool) throws -> [FetchMatch] {
        try context.throwingReadFailures {
            try context.refuseUnread(plan, needsObjects: needsObjects)
            let stores = try stores()
            if !withKeys, let found = try sortedSearch(stores, PendingOverlay(context, plan, handles)) {
                return try checked(window(try sorted(found), skipped: found.skipped))
            }
            return try checked(window(try sorted(try search(stores, maximum: maximumMatches))))
        }
    }

    /// Whether objects are asked for their values, not only rows.
    private var needsObjects: Bool { plan.needsObjects || keySorts.count != plan.sorts.count }

    /// Matches none of which lies in a place that cannot be read.
    private func checked(_ matches: [FetchMatch]) throws -> [FetchMatch] {
        try context.checkDamage(matches)
        return matches
    }

    private func objects(_ found: StoredMatches) throws -> [NSManagedObject] {
        context.faults.beginFetch()
        let matches = try checked(window(try sorted(found), skipped: found.skipped))
        let objects = try makeObjects(matches)
        try complete(objects, FaultBatch(matches, size: plan.batchSize))
        return objects
    }

    /// The objects of one store's rows as they are found: without an order, and without changes to be laid over them.
    /// Nil if it takes more than the rows' references.
    private func storedObjects(_ stores: [SeenStore]) throws -> [NSManagedObject]? {
        guard stores.count == 1, plan.sorts.isEmpty, plan.dictionaries == nil, context.link == nil,
            !plan.resultType.contains(.managedObjectIDResultType),
            !plan.includesPendingChanges || context.pipeline.changed.isEmpty
        else { return nil }
        let store = stores[0]
        let refs: [ObjectRef]
        try turn?.begin()
        do {
            defer { turn?.leave() }
            refs = window(try self.refs(in: store, upTo: maximumMatches))
        }
        context.faults.beginFetch()
        try store.handle.checkDamage(of: refs, in: store.snapshot)
        let objects = try context.objects(refs, store.index, store.handle, control)
        try complete(objects, FaultBatch(refs, store.index, size: plan.batchSize))
        return objects
    }

    /// Does with results what the request asks for beside them.
    ///
    /// - Parameter batch: the same as neighbours.
    private func complete(_ objects: [NSManagedObject], _ batch: @autoclosure () -> FaultBatch?) throws {
        if plan.refreshes { refresh(objects) }
        if plan.includesValues, context.link == nil { context.faults.expect(results: batch()) }
        if !plan.returnsFaults { try context.realizeAll(objects, control) }
        for path in plan.prefetchedPaths { try Prefetch(context, control).run(path, objects) }
    }

    private func objectIDs(_ matches: [FetchMatch]) throws -> [NSManagedObjectID] {
        var ids: [NSManagedObjectID] = []
        ids.reserveCapacity(matches.count)
        var index = 0
        while index < matches.count {
            if let object = matches[index].object {
                ids.append(object.objectID)
                index += 1
                continue
            }
            let (storeIndex, entity) = (matches[index].storeIndex, matches[index].ref.entity)
            guard let handle = context.registry.handle(storeIndex), let shape = handle.map.shape(entity) else {
                throw FetchProblem.error("A row of an unknown entity was found.")
            }
            let identity = handle.identity
            // Most of what follows is of the same kind.
            while index < matches.count, matches[index].object == nil, matches[index].storeIndex == storeIndex,
                matches[index].ref.entity == entity
            {
                ids.append(NSManagedObjectID(ref: matches[index].ref, identity: identity, shape: shape))
                index += 1
            }
        }
        return ids
    }

    /// The stored rows that the request describes, in order, when it is about one store.
    func storedRefs() throws -> [ObjectRef] {
        let stores = try stores()
        guard stores.count == 1, plan.sorts.isEmpty, plan.limit == Int.max, plan.offset == 0,
            !plan.includesPendingChanges, context.link == nil
        else { return try orderedMatches(withKeys: false).map(\.ref) }
        try turn?.begin()
        defer { turn?.leave() }
        return try working { try context.throwingReadFailures { try soundRefs(stores[0]) } }
    }

    /// The rows of a store that the request describes, by key, until there are enough. To be called in its turn.
    func refs(in store: SeenStore, upTo maximum: Int) throws -> [ObjectRef] {
        try storeScan(store, needsRow: false).refs(upTo: maximum)
    }

    /// The rows of a store that the request describes, none of which lies in a place that could not be read.
    private func soundRefs(_ store: SeenStore) throws -> [ObjectRef] {
        let refs = try refs(in: store, upTo: .max)
        try store.handle.checkDamage(of: refs, in: store.snapshot)
        return refs
    }

    /// Refuses counts and dictionaries that are made of rows in places that could not be read.
    private func checkDamage(behind stores: [SeenStore]) throws {
        for store in stores where !store.handle.log.damage.isEmpty { _ = try soundRefs(store) }
    }

    func count() throws -> Int { try working { try context.throwingReadFailures { try counted() } } }

    private func counted() throws -> Int {
        // Whether the queue is the right one has been checked; a wrong one is reported once.
        if plan.includesPendingChanges, context.underWay == 0 { context.pipeline.processChanges() }
        try context.refuseUnread(plan, needsObjects: needsObjects)
        if let count = try context.directCount(plan, control, report) { return count }
        if plan.dictionaries != nil, let link = context.link { return try countDictionaries(link) }
        if let dictionaries = plan.dictionaries, dictionaries.isGrouped || plan.isDistinct {
            return try search(stores(), maximum: Int.max).dictionaries.count
        }
        if !plan.hasPredicate, !plan.needsObjects, context.link == nil {
            let seen = try stores()
            try checkDamage(behind: seen)
            let stored = seen.reduce(0) { $0 + $1.handle.rowCount(of: plan.family, in: $1.snapshot) }
            report.record(.counters)
            let overlay = PendingOverlay(context, plan, handles)
            let total = stored + overlay.count(plan) - (try rowCount(of: overlay.stored, in: seen))
            return min(max(0, total - plan.offset), plan.limit)
        }
        if context.link == nil, !plan.needsObjects, plan.dictionaries == nil { return try countStored() }
        return try checked(window(overlaid(try search(stores(), maximum: maximumMatches, counting: true)))).count
    }

    /// How many of some objects have a row: others may have deleted it, which need not have been merged yet.
    private func rowCount(of objects: [NSManagedObject], in stores: [SeenStore]) throws -> Int {
        if objects.isEmpty { return 0 }
        let snapshots = Dictionary(uniqueKeysWithValues: stores.map { ($0.index, $0.snapshot) })
        return try objects.count { object in
            guard let snapshot = snapshots[object.storeIndex] else { return false }
            return try !snapshot.locate(object.ref).isAbsent
        }
    }

    /// Counts rows without collecting them: of changed objects not the row counts, but the object.
    private func countStored() throws -> Int {
        let overlay = PendingOverlay(context, plan, handles)
        let (end, isUnlimited) = plan.limit.addingReportingOverflow(plan.offset)
        let maximum = isUnlimited || !overlay.isEmpty ? Int.max : end
        var total = overlay.count(plan)
        let stores = try stores()
        try turn?.begin()
        defer { turn?.leave() }
        for store in stores where total < maximum {
            let scan = storeScan(store, needsRow: false)
            // Where places are known that cannot be read, the rows themselves are asked for, and counted.
            total +=
                store.handle.log.damage.isEmpty
                ? try scan.count(maximum: maximum - total) : try soundRefs(store).count
            let changed = overlay.stored.filter { $0.storeIndex == store.index }.map(\.ref)
            if !changed.isEmpty { total -= try scan.count(of: changed) }
        }
        return min(max(0, total - plan.offset), plan.limit)
    }

    // MARK: Finding

    var handles: [StoreHandle] {
        let stores = context.coordinator?.persistentStores ?? []
        return stores.filter { store in plan.stores?.contains { $0 === store } ?? true }.compactMap(\.handle)
    }

    /// The stores to be asked, with their indexes in the context. To be called on the context's queue.
    ///
    /// - Throws: `CocoaError` 134070 when the request names a foreign store, or no store holds the entity.
    func stores() throws -> [SeenStore] {
        let handles = try context.coordinator?.handles(of: plan.family, named: plan.namedStores) ?? []
        // A pinned context does not look at what others have committed since.
        if context.generation == nil, context.link == nil {
            for handle in handles { try handle.catchUp() }
        }
        return handles.compactMap { handle in
            snapshot(of: handle).map { SeenStore(handle, index: context.registry.storeIndex(of: handle), $0) }
        }
    }

    /// A scan of a store, which has objects made where only these can say whether they match.
    func storeScan(_ store: SeenStore, needsRow: Bool) -> StoreScan {
        StoreScan(
            plan, store, needsRow: needsRow, isOnlyStore: context.coordinator?.onlyHandle === store.handle,
            objects: plan.needsObjects ? { [context, index = store.index] in context.object($0, index) } : nil,
            report: report, turn: turn)
    }

    /// The state of a store that the plan reads. What a child asks its parent, that one reads.
    private func snapshot(of handle: StoreHandle) -> Snapshot? {
        guard let snapshots = plan.prepared.snapshots, context.link == nil else { return context.snapshot(of: handle) }
        return snapshots.snapshot(of: handle) { context.snapshot(of: handle) }
    }

    /// Whether ``search(_:maximum:counting:)`` has to run on the context's queue.
    var needsQueue: Bool { plan.needsObjects || context.link != nil }

    /// Looks through the stores until there are `maximum` matches.
    func search(
        _ stores: [SeenStore], maximum: Int, counting: Bool = false
    ) throws -> StoredMatches {
        if let link = context.link { return try searchParent(link, maximum: maximum) }
        try turn?.begin()
        defer { turn?.leave() }
        var found = StoredMatches()
        if let dictionaries = plan.dictionaries, !counting {
            try checkDamage(behind: stores)
            if stores.count == 1, let rows = try projectedRows(stores[0], dictionaries) {
                found.dictionaries = rows
                return found
            }
            var fetch = DictionaryFetch(plan, dictionaries, keySorts)
            if stores.count == 1, try addExtremes(to: &fetch, of: stores[0]) {
                found.dictionaries = try fetch.results(turn)
                return found
            }
            for store in stores {
                let scan = storeScan(store, needsRow: true)
                if try stores.count == 1 && fetch.addColumns(scan, report) { continue }
                try fetch.add(scan)
            }
            found.dictionaries = try fetch.results(turn)
            return found
        }
        let sorts = counting ? [] : keySorts
        for store in stores {
            if sorts.isEmpty {
                let refs = try refs(in: store, upTo: maximum - found.matches.count)
                if found.matches.isEmpty { found.matches.reserveCapacity(refs.count) }
                for ref in refs { found.matches.append(FetchMatch(ref: ref, storeIndex: store.index)) }
            } else {
                try storeScan(store, needsRow: true).forEach { ref, row in
                    let keys = row.map { SortKeys($0, sorts) }
                    found.matches.append(FetchMatch(ref: ref, storeIndex: store.index, keys: keys))
                    return found.matches.count < maximum
                }
            }
            if found.matches.count >= maximum { break }
        }
        return found
    }

    /// How many stored matches are enough. With changes to be laid over them, or an order, all are needed.
    var maximumMatches: Int {
        let (end, isUnlimited) = plan.limit.addingReportingOverflow(plan.offset)
        let hasChanges = plan.includesPendingChanges && !context.pipeline.changed.isEmpty
        return !plan.sorts.isEmpty || isUnlimited || hasChanges ? Int.max : end
    }

    private func overlaid(_ found: StoredMatches) -> [FetchMatch] {
        var matches = found.matches
        let overlay = PendingOverlay(context, plan, handles)
        if !overlay.isEmpty { overlay.apply(to: &matches, plan, keySorts) }
        return matches
    }

    // MARK: Ordering

    private func sorted(_ found: StoredMatches) throws -> [FetchMatch] {
        let matches = overlaid(found)
        guard !plan.sorts.isEmpty, !found.isSorted else { return matches }
        var pace = ControlPace(control, every: 1_024)
        let keySorts = keySorts
        if keySorts.count == plan.sorts.count {
            return try matches.sorted { left, right in
                try pace.step()
                guard let a = left.keys, let b = right.keys else { return false }
                return SortKeys.precedes(a, b, keySorts)
            }
        }
        // Descriptors made of Swift key paths without a name can only compare objects.
        var complete = matches
        for (index, object) in try makeObjects(matches).enumerated() { complete[index].object = object }
        return try complete.sorted { left, right in
            try pace.step()
            for sort in plan.sorts {
                guard let a = left.object, let b = right.object else { return false }
                let order = sort.compare(a, to: b)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return false
        }
    }

    /// - Parameter skipped: how many of the offset are not among the matches.
    func window<Match>(_ matches: [Match], skipped: Int = 0) -> [Match] {
        let offset = plan.offset - skipped
        if offset == 0, matches.count <= plan.limit { return matches }
        return Array(matches.dropFirst(offset).prefix(plan.limit))
    }

    private func makeObjects(_ matches: [FetchMatch]) throws -> [NSManagedObject] {
        // Mostly all are rows of one store.
        if let index = matches.first?.storeIndex, let handle = context.registry.handle(index),
            matches.allSatisfy({ $0.object == nil && $0.storeIndex == index })
        {
            return try context.objects(matches.map(\.ref), index, handle, control)
        }
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(matches.count)
        var index = 0
        while index < matches.count {
            if let object = matches[index].object {
                objects.append(object)
                index += 1
                continue
            }
            let storeIndex = matches[index].storeIndex
            var refs: [ObjectRef] = []
            while index < matches.count, matches[index].object == nil, matches[index].storeIndex == storeIndex {
                refs.append(matches[index].ref)
                index += 1
            }
            if let handle = context.registry.handle(storeIndex) {
                objects += try context.objects(refs, storeIndex, handle, control)
            }
        }
        return objects
    }
}

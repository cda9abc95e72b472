import Foundation
import StrataLog

/// Runs a fetch: store rows first, by a predicate interpreted row by row, then the context's changes over them.
///
/// The narrow place where a compiled query will take over: everything that comes after works on ``Match``es.
struct FetchExecutor {
    let context: NSManagedObjectContext
    let plan: FetchPlan

    init(_ context: NSManagedObjectContext, _ plan: FetchPlan) {
        self.context = context
        self.plan = plan
    }

    /// Something that satisfies the predicate: a stored row, or an object with unsaved changes.
    struct Match {
        var ref: ObjectRef
        var storeIndex: UInt16
        var object: NSManagedObject?
        var keys: SortKeys?
    }

    // MARK: Results

    func objects() throws -> [NSManagedObject] {
        context.processPendingChanges()
        let matches = window(sorted(try self.matches(stopAtWindow: true)))
        let objects = makeObjects(matches)
        if plan.refreshes { for object in objects { context.refresh(object, mergeChanges: true) } }
        if !plan.returnsFaults {
            for object in objects where object.isFault {
                object.realize()
                if let error = context.readErrors[object.objectID] { throw error }
            }
        }
        return objects
    }

    func objectIDs() throws -> [NSManagedObjectID] {
        let handles = context.registry
        return try window(sorted(matches(stopAtWindow: true))).map { match in
            if let object = match.object { return object.objectID }
            guard let handle = handles.handle(match.storeIndex), let shape = handle.map.shape(match.ref.entity) else {
                throw FetchPlan.error("A row of an unknown entity was found.")
            }
            return NSManagedObjectID(ref: match.ref, identity: handle.identity, shape: shape)
        }
    }

    func count() throws -> Int {
        let total: Int
        if plan.predicate == nil, context.link == nil {
            total = try countWithoutPredicate()
        } else {
            total = try matches(stopAtWindow: true).count
        }
        return min(max(0, total - plan.offset), plan.limit)
    }

    func dictionaries() throws -> [NSDictionary] {
        if context.link != nil { return try dictionariesOfObjects() }
        guard !context.hasChanges || !plan.includesPendingChanges else {
            throw FetchPlan.error(
                "Dictionaries are made of stored values: save first, or set includesPendingChanges to false.")
        }
        var seen: Set<NSDictionary> = []
        var results: [NSDictionary] = []
        for match in sorted(try matches(stopAtWindow: !plan.isDistinct)) {
            guard let handle = context.registry.handle(match.storeIndex), let snapshot = context.snapshot(of: handle)
            else { continue }
            let scope = RowScope(handle, snapshot)
            guard let row = try scope.snapshot.row(match.ref), let shape = handle.map.shape(row.block.entity) else {
                continue
            }
            let source = RowSource(scope, shape, row.block, row.index)
            let values = NSMutableDictionary()
            for name in plan.properties {
                guard let value = source.value(forKey: name) else { continue }
                values[name] = (value as? RowSource)?.objectID ?? value
            }
            if let error = scope.error { throw StoreFailure.cocoaError(error, reading: handle) }
            if !plan.isDistinct || seen.insert(values).inserted { results.append(values) }
        }
        return Array(results.dropFirst(plan.offset).prefix(plan.limit))
    }

    // MARK: Finding

    private var handles: [StoreHandle] {
        let stores = context.coordinator?.persistentStores ?? []
        return stores.filter { store in plan.stores?.contains { $0 === store } ?? true }.compactMap(\.handle)
    }

    /// The entity numbers wanted, as a table.
    private func wanted(_ handle: StoreHandle) -> [Bool] {
        var wanted = [Bool](repeating: false, count: Int(handle.map.numbers.max() ?? 0) + 1)
        for shape in plan.family where handle.map.holds(shape) { wanted[Int(handle.map.numbers[shape.index])] = true }
        return wanted
    }

    func changedObjects() -> [NSManagedObject] {
        guard plan.includesPendingChanges else { return [] }
        return context.changed.filter { $0.hasChanges && $0.shape.isKind(of: plan.shape) && isWanted($0.shape) }
    }

    private func isWanted(_ shape: EntityShape) -> Bool { plan.family.count > 1 || shape === plan.shape }

    private func countWithoutPredicate() throws -> Int {
        var total = 0
        for handle in handles {
            guard let snapshot = context.snapshot(of: handle) else { continue }
            for shape in plan.family where handle.map.holds(shape) {
                total += snapshot.count(entity: handle.map.numbers[shape.index])
            }
        }
        for object in changedObjects() {
            if object.isInserted { total += 1 }
            if object.isDeleted, !object.flags.contains(.inserted) { total -= 1 }
        }
        return total
    }

    func matches(stopAtWindow: Bool) throws -> [Match] {
        let keySorts = plan.sorts.compactMap { $0 as? KeySortDescriptor }
        let changed = changedObjects()
        var matches: [Match] = []
        let (end, isUnlimited) = plan.limit.addingReportingOverflow(plan.offset)
        let maximum = stopAtWindow && plan.sorts.isEmpty && !isUnlimited ? end : Int.max
        if context.link != nil {
            matches = try matchesOfParent(changed, needed: maximum)
            if matches.count > maximum { matches.removeLast(matches.count - maximum) }
        }
        for handle in context.link == nil ? handles : [] {
            guard let snapshot = context.snapshot(of: handle) else { continue }
            let storeIndex = context.registry.storeIndex(of: handle)
            let skipped = Set(changed.lazy.filter { $0.storeIndex == storeIndex }.map(\.ref))
            let scope = RowScope(handle, snapshot)
            do {
                try scan(scope, storeIndex, skipped, keySorts) { match in
                    matches.append(match)
                    return matches.count < maximum
                }
            } catch let error as StoreError {
                throw StoreFailure.cocoaError(error, reading: handle)
            }
        }
        for object in changed where !object.isDeleted && matches.count < maximum {
            guard plan.predicate?.evaluate(with: object) ?? true else { continue }
            matches.append(
                Match(
                    ref: object.ref, storeIndex: object.storeIndex, object: object,
                    keys: keySorts.isEmpty ? nil : SortKeys(object, keySorts)))
        }
        return matches
    }

    private func scan(
        _ scope: RowScope, _ storeIndex: UInt16, _ skipped: Set<ObjectRef>, _ sorts: [KeySortDescriptor],
        _ body: (Match) -> Bool
    ) throws {
        let wanted = wanted(scope.handle)
        let needsRow = plan.predicate != nil || !sorts.isEmpty
        var source: RowSource?
        /// False to stop.
        func visit(_ ref: ObjectRef, _ block: Block?, _ row: Int) throws(StoreError) -> Bool {
            if !skipped.isEmpty, skipped.contains(ref) { return true }
            guard needsRow, let block, let shape = scope.handle.map.shape(ref.entity) else {
                return body(Match(ref: ref, storeIndex: storeIndex))
            }
            let current: RowSource
            if let source {
                source.move(to: block, row, shape)
                current = source
            } else {
                current = RowSource(scope, shape, block, row)
                source = current
            }
            let isMatch = plan.predicate?.evaluate(with: current) ?? true
            if let error = scope.error { throw error }
            guard isMatch else { return true }
            let keys = sorts.isEmpty ? nil : SortKeys(current, sorts)
            return body(Match(ref: ref, storeIndex: storeIndex, keys: keys))
        }
        switch try FetchCandidates.of(plan, scope) {
        case .refs(let refs):
            for ref in refs {
                guard let row = try scope.snapshot.row(ref) else { continue }
                let entity = Int(row.block.entity)
                guard entity < wanted.count, wanted[entity] else { continue }
                if try !visit(row.ref, row.block, row.index) { return }
            }
        case .scan:
            try scanAll(scope, wanted, needsRow, visit)
        }
    }

    private func scanAll(
        _ scope: RowScope, _ wanted: [Bool], _ needsRow: Bool,
        _ visit: (ObjectRef, Block?, Int) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let root = plan.shape.root
        let rootNumber = scope.handle.map.numbers[root.index]
        guard rootNumber != 0 else { return }
        // Rows of one entity alone need not be looked at to know their entity.
        let onlyEntity = root.subshapes.isEmpty ? rootNumber : nil
        var block: Block?
        try scope.snapshot.forEachRun(root: rootNumber) { run throws(StoreError) in
            if needsRow || onlyEntity == nil, block?.location != run.location.block {
                block = try scope.handle.log.block(at: run.location)
            }
            let entity = onlyEntity ?? block?.entity ?? 0
            guard Int(entity) < wanted.count, wanted[Int(entity)] else { return true }
            for index in 0..<run.count {
                let ref = ObjectRef(entity: entity, key: run.firstKey + UInt64(index))
                if try !visit(ref, block, run.location.row + index) { return false }
            }
            return true
        }
    }

    // MARK: Ordering

    func sorted(_ matches: [Match]) -> [Match] {
        guard !plan.sorts.isEmpty else { return matches }
        let keySorts = plan.sorts.compactMap { $0 as? KeySortDescriptor }
        if keySorts.count == plan.sorts.count {
            return matches.sorted { left, right in
                guard let a = left.keys, let b = right.keys else { return false }
                return SortKeys.precedes(a, b, keySorts)
            }
        }
        // Descriptors made of Swift key paths can only compare objects.
        var complete = matches
        for (index, object) in makeObjects(matches).enumerated() { complete[index].object = object }
        return complete.sorted { left, right in
            for sort in plan.sorts {
                guard let a = left.object, let b = right.object else { return false }
                let order = sort.compare(a, to: b)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return false
        }
    }

    private func window(_ matches: [Match]) -> [Match] {
        if plan.offset == 0, matches.count <= plan.limit { return matches }
        return Array(matches.dropFirst(plan.offset).prefix(plan.limit))
    }

    func makeObjects(_ matches: [Match]) -> [NSManagedObject] {
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
            if let handle = context.registry.handle(storeIndex) { objects += context.objects(refs, storeIndex, handle) }
        }
        return objects
    }
}

import Foundation

/// What the fetch request of a history request lets through, and the form of the result.
struct HistoryFilter {
    private let request: NSFetchRequest<any NSFetchRequestResult>?
    private let isForChanges: Bool
    private let control: RequestControl?

    /// - Throws: `CocoaError` 134070 when the request is for something else than transactions or changes.
    init(_ request: NSFetchRequest<any NSFetchRequestResult>?, _ control: RequestControl?) throws {
        self.control = control
        self.request = request
        switch request?.entityName {
        case nil where request == nil: isForChanges = false
        case HistoryEntities.transactionName?: isForChanges = false
        case HistoryEntities.changeName?: isForChanges = true
        case let name:
            throw BatchSession.error(
                "A history request takes a fetch request for the entity of NSPersistentHistoryTransaction or "
                    + "NSPersistentHistoryChange, not for \(name ?? "none").")
        }
        if let request { try Self.check(request, isForChanges: isForChanges) }
    }

    private static func check(
        _ request: NSFetchRequest<any NSFetchRequestResult>, isForChanges: Bool
    ) throws {
        try FetchProblem.checkWindow(
            limit: request.fetchLimit, offset: request.fetchOffset, batchSize: request.fetchBatchSize)
        guard let entity = isForChanges ? HistoryEntities.change : HistoryEntities.transaction else { return }
        if let predicate = request.predicate { try HistoryKeys(entity).check(predicate) }
        for case let sort as KeySortDescriptor in request.sortDescriptors ?? [] {
            try HistoryKeys(entity).check(sort.path)
        }
    }

    /// Whether changes are looked at whatever the form of the result.
    var readsChanges: Bool { isForChanges || request?.predicate != nil || request?.sortDescriptors?.isEmpty == false }

    /// Whether only their number is left of the changes that were counted.
    var dropsCountedChanges: Bool { request == nil }

    /// Takes the changes that are not wanted out of the transaction; says whether it is wanted.
    func takes(_ transaction: NSPersistentHistoryTransaction) throws -> Bool {
        guard let request else { return true }
        if !isForChanges { return request.predicate?.evaluate(with: transaction) ?? true }
        var pace = ControlPace(control, every: 64)
        transaction.changes = try (transaction.changes ?? []).filter { change in
            try pace.step()
            return request.predicate?.evaluate(with: change) ?? true
        }
        return transaction.changes?.isEmpty == false
    }

    func result(_ found: [NSPersistentHistoryTransaction], _ type: NSPersistentHistoryResultType) throws -> Any {
        let transactions = isForChanges ? found : try arranged(found)
        if isForChanges, let request, request.fetchLimit > 0 || request.fetchOffset > 0 || isSorted {
            return result(changes: try arranged(found.flatMap { $0.changes ?? [] }), of: found, type)
        }
        switch type {
        case .statusOnly: return NSNumber(value: true)
        case .objectIDs: return transactions.flatMap { $0.changes ?? [] }.map(\.changedObjectID)
        case .count: return NSNumber(value: transactions.reduce(0) { $0 + ($1.changes?.count ?? $1.changeCount) })
        case .transactionsOnly:
            for transaction in transactions { transaction.changes = nil }
            return transactions
        case .changesOnly: return transactions.flatMap { $0.changes ?? [] }
        case .transactionsAndChanges: return transactions
        }
    }

    /// As above, for a window of the changes: transactions keep those of theirs that are in it.
    private func result(
        changes: [NSPersistentHistoryChange], of found: [NSPersistentHistoryTransaction],
        _ type: NSPersistentHistoryResultType
    ) -> Any {
        switch type {
        case .statusOnly: return NSNumber(value: true)
        case .objectIDs: return changes.map(\.changedObjectID)
        case .count: return NSNumber(value: changes.count)
        case .changesOnly: return changes
        case .transactionsOnly, .transactionsAndChanges:
            let byTransaction = Dictionary(grouping: changes) { $0.transaction.map { ObjectIdentifier($0) } }
            for transaction in found { transaction.changes = byTransaction[ObjectIdentifier(transaction)] ?? [] }
            let kept = found.filter { $0.changes?.isEmpty == false }
            if type == .transactionsOnly { for transaction in kept { transaction.changes = nil } }
            return kept
        }
    }

    private var isSorted: Bool { request?.sortDescriptors?.isEmpty == false }

    private func arranged<Element: AnyObject>(_ elements: [Element]) throws -> [Element] {
        guard let request else { return elements }
        var result = elements
        if let sorts = request.sortDescriptors, !sorts.isEmpty {
            var pace = ControlPace(control, every: 64)
            try result.sort { left, right in
                try pace.step()
                for sort in sorts {
                    let order = sort.compare(left, to: right)
                    if order != .orderedSame { return order == .orderedAscending }
                }
                return false
            }
        }
        if request.fetchOffset > 0 { result.removeFirst(min(request.fetchOffset, result.count)) }
        if request.fetchLimit > 0 { result = Array(result.prefix(request.fetchLimit)) }
        return result
    }
}

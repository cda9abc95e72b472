import Foundation
import StrataLog

/// Reads the persistent history of a coordinator's stores, or deletes from it.
struct HistoryExecutor {
    private let context: NSManagedObjectContext
    private let request: NSPersistentHistoryChangeRequest
    private let control: RequestControl?

    init(_ context: NSManagedObjectContext, _ request: NSPersistentHistoryChangeRequest, _ control: RequestControl?) {
        self.control = control
        self.context = context
        self.request = request
    }

    func execute() throws -> NSPersistentHistoryResult {
        let stores = try context.coordinator?.stores(named: request.affectedStores) ?? []
        if stores.isEmpty, request.affectedStores == nil, let coordinator = context.coordinator {
            throw coordinator.noStore(holding: nil)
        }
        let handles = stores.compactMap(\.handle).filter { $0.custom == nil }
        if let token = request.token, !token.sequences.isEmpty,
            !handles.contains(where: { $0.sequence(of: token) != nil })
        {
            throw HistoryState.expired("None of the stores is one that \(token) is of.")
        }
        let filter = try HistoryFilter(request.fetchRequest, control)
        if request.deletes {
            for handle in handles { try delete(handle, filter) }
            return NSPersistentHistoryResult(NSNumber(value: true), .statusOnly)
        }
        var transactions: [NSPersistentHistoryTransaction] = []
        for handle in handles {
            do {
                transactions += try read(handle, filter)
            } catch let error as StoreError {
                if error.code == .cancelled, let control { throw control.error }
                throw StoreFailure.cocoaError(error, reading: handle)
            }
        }
        if handles.count > 1 { transactions.sort { $0.timestamp < $1.timestamp } }
        return NSPersistentHistoryResult(try filter.result(transactions, request.resultType), request.resultType)
    }

    // MARK: Reading

    private func read(_ handle: StoreHandle, _ filter: HistoryFilter) throws -> [NSPersistentHistoryTransaction] {
        try handle.catchUp()
        let conversion = HistoryConversion(handle, control)
        var first = conversion.history.start - 1
        switch request.bound {
        case .token(let token): first = try conversion.history.sequence(after: token, handle)
        case .date(let date): first = max(first, try lastNotAfter(date, handle))
        }
        let needsChanges: Bool =
            switch request.resultType {
            case .objectIDs, .count, .changesOnly, .transactionsAndChanges: true
            case .statusOnly, .transactionsOnly: filter.readsChanges
            }
        var reader = try handle.log.history(after: first)
        var transactions: [NSPersistentHistoryTransaction] = []
        while let entry = try reader.next() {
            try control?.checkRead()
            let transaction = try conversion.transaction(entry, withChanges: needsChanges)
            guard try filter.takes(transaction) else { continue }
            if request.resultType == .count, filter.dropsCountedChanges {
                transaction.changeCount = transaction.changes?.count ?? 0
                transaction.changes = nil
            }
            transactions.append(transaction)
        }
        return transactions
    }

    /// The last transaction up to which none is later than a date: where the clock was set back, what follows a later
    /// one belongs to the history after the date, too, as it does for a generation of that date.
    private func lastNotAfter(_ date: Date, _ handle: StoreHandle) throws(StoreError) -> UInt64 {
        do throws(StoreError) {
            return try handle.log.sequence(atNanoseconds: HistoryDates.nanoseconds(date))
        } catch  where error.code == .expired {
            return 0
        }
    }

    // MARK: Deleting

    private func delete(_ handle: StoreHandle, _ filter: HistoryFilter) throws {
        if handle.isReadOnly { throw StoreFailure.readOnly(handle) }
        do {
            guard let end = try firstKept(handle) else { return }
            let start = try firstLeftOut(handle, before: end, filter)
            try HistoryState.update(handle.log) { state in
                guard start > state.start else { return false }
                state.start = start
                return true
            }
        } catch let error as StoreError {
            if error.code == .cancelled, let control { throw control.error }
            throw StoreFailure.cocoaError(error, saving: handle)
        }
    }

    /// A history loses its beginning only: a transaction that the fetch request leaves out keeps those after it, too.
    private func firstLeftOut(_ handle: StoreHandle, before end: UInt64, _ filter: HistoryFilter) throws -> UInt64 {
        guard request.fetchRequest != nil else { return end }
        let conversion = HistoryConversion(handle, control)
        var reader = try handle.log.history(after: conversion.history.start - 1)
        while let entry = try reader.next(), entry.sequence < end {
            try control?.checkRead()
            let transaction = try conversion.transaction(entry, withChanges: filter.readsChanges)
            let changeCount = transaction.changes?.count
            guard try filter.takes(transaction), transaction.changes?.count == changeCount else {
                return entry.sequence
            }
        }
        return end
    }

    /// The number of the first transaction that the bound lets stay; nil when the request says nothing about the store.
    private func firstKept(_ handle: StoreHandle) throws(StoreError) -> UInt64? {
        let newest = handle.log.snapshot.sequence
        switch request.bound {
        case .token(nil): return newest + 1
        case .token(let token?):
            // A token of what another copy did later says nothing about this store.
            guard let sequence = handle.sequence(of: token), sequence < .max else { return nil }
            return min(sequence, newest + 1)
        case .date(let date):
            var reader = try handle.log.history(after: HistoryState(handle.log).start - 1)
            while let entry = try reader.next() {
                try control?.checkRead()
                if HistoryDates.date(entry) >= date { return entry.sequence }
            }
            return newest + 1
        }
    }
}

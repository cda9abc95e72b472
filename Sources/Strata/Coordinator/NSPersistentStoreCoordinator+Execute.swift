import Foundation
import StrataLog
import StrataSupport

extension NSPersistentStoreCoordinator {
    func executeRequest(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        guard context.coordinator === self else {
            programmerError(
                "NSPersistentStoreCoordinator.execute(_:with:)", "the context has another coordinator",
                "Ask the context's own coordinator, or context.execute(_:)")
        }
        if let request = request as? any ExecutableFetch { return try request.results(in: context) }
        if request is NSSaveChangesRequest, try context.pipeline.writeAsAsked(self) { return [] as [Any] }
        return try context.executeRequest(request)
    }

    /// Tells those who follow a store that transactions have been committed to it: also those of other coordinators
    /// that have it open.
    func storeDidGrow(_ handle: StoreHandle, to sequence: UInt64) {
        handle.retention?.record(handle, sequence)
        historyWaiters.signal()
        handle.tellFollowers(sequence, besides: self)
    }
}

/// A fetch request of any result type.
private protocol ExecutableFetch {
    func results(in context: NSManagedObjectContext) throws -> [Any]
}

extension NSFetchRequest: ExecutableFetch {
    fileprivate func results(in context: NSManagedObjectContext) throws -> [Any] {
        try context.results(of: self)
    }
}

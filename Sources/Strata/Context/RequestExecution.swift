import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// Carries out a batch or history request; nil for a request of another kind.
    final func executeInStores(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult? {
        if isPast, request.requestType != .fetchRequestType, !(request is NSPersistentHistoryChangeRequest) {
            try refusePast()
        }
        // Closing waits for it.
        let writing = coordinator?.writing
        writing?.enter()
        defer { writing?.leave() }
        return switch request {
        case let request as NSPersistentHistoryChangeRequest: try HistoryExecutor(self, request).execute()
        case let request as NSBatchInsertRequest: try BatchInsertExecutor(self, request).execute()
        case let request as NSBatchUpdateRequest: try BatchUpdateExecutor(self, request).execute()
        case let request as NSBatchDeleteRequest: try BatchDeleteExecutor(self, request).execute()
        default: nil
        }
    }
}

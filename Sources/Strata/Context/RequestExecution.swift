import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// Carries out a batch or history request; nil for a request of another kind.
    final func executeInStores(
        _ request: NSPersistentStoreRequest, _ control: RequestControl?
    ) throws -> NSPersistentStoreResult? {
        if isPast, request.requestType != .fetchRequestType, !(request is NSPersistentHistoryChangeRequest) {
            try refusePast()
        }
        // Closing waits for it.
        let writing = coordinator?.writing
        writing?.enter()
        defer { writing?.leave() }
        return switch request {
        case let request as NSPersistentHistoryChangeRequest: try HistoryExecutor(self, request, control).execute()
        case let request as NSBatchInsertRequest: try BatchInsertExecutor(self, request, control).execute()
        case let request as NSBatchUpdateRequest: try BatchUpdateExecutor(self, request, control).execute()
        case let request as NSBatchDeleteRequest: try BatchDeleteExecutor(self, request, control).execute()
        default: nil
        }
    }
}

/// A request that a fetch request is a part of, whose time limit counts as well.
protocol DescribedRequest {
    var descriptionTimeLimit: Duration? { get }
}

extension NSBatchDeleteRequest: DescribedRequest {
    var descriptionTimeLimit: Duration? { plainIDs == nil ? fetchRequest.timeLimit : nil }
}

extension NSPersistentHistoryChangeRequest: DescribedRequest {
    var descriptionTimeLimit: Duration? { fetchRequest?.timeLimit }
}

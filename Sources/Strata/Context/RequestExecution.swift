import Foundation
import StrataLog
import StrataSupport

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
        guard EventHub.wants(.batch), let batch = request.batch else {
            return try execute(request, control)
        }
        let (began, stores) = (EventInstant.now, coordinator?.eventStores ?? [])
        let result = Result { try execute(request, control) }
        var event = BatchEvent(
            work: StoreWork(stores: stores, since: began), operation: batch.operation, entity: batch.entity,
            objects: 0)
        switch result {
        case .success(let result): event.objects = (result as? any BatchResult)?.objectCount ?? 0
        case .failure(let error): event.work.error = error
        }
        EventHub.tell(.batch(event))
        return try result.get()
    }

    private final func execute(
        _ request: NSPersistentStoreRequest, _ control: RequestControl?
    ) throws -> NSPersistentStoreResult? {
        switch request {
        case let request as NSPersistentHistoryChangeRequest: try HistoryExecutor(self, request, control).execute()
        case let request as NSBatchInsertRequest: try BatchInsertExecutor(self, request, control).execute()
        case let request as NSBatchUpdateRequest: try BatchUpdateExecutor(self, request, control).execute()
        case let request as NSBatchDeleteRequest: try BatchDeleteExecutor(self, request, control).execute()
        default: nil
        }
    }
}

extension NSPersistentStoreRequest {
    /// What a batch request does, and to which entity; nil of others.
    fileprivate final var batch: (operation: BatchEvent.Operation, entity: String?)? {
        switch self {
        case let request as NSBatchInsertRequest: (.insert, request.entityName)
        case let request as NSBatchUpdateRequest: (.update, request.entityName)
        case let request as NSBatchDeleteRequest: (.delete, request.entityName)
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

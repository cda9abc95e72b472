import CoreData
import Foundation

/// The did-save notifications of a context.
final class SaveNotifications: @unchecked Sendable {
    // Unchecked: posted and read on one queue.
    private(set) var all: [Notification] = []
    private var token: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext) {
        token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { [weak self] in self?.all.append($0) }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}

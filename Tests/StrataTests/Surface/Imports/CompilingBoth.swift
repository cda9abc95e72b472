import CoreData
import Foundation

// What programs write in files that import Foundation and CoreData: handing contexts from one place to another.

/// A value that may be sent anywhere, with a context in it.
struct CompilingRepository: Sendable {
    let context: NSManagedObjectContext

    func insert(_ title: String) async throws -> NSManagedObjectID {
        try await context.perform {
            let place = CompilingPlace(context: context)
            place.title = title
            try context.save()
            return place.objectID
        }
    }

    func title(_ id: NSManagedObjectID) async -> String? {
        await context.perform { (context.object(with: id) as? CompilingPlace)?.title }
    }
}

enum CompilingGlobals {
    static let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
}

/// An actor around a context.
actor CompilingStorage {
    private let context: NSManagedObjectContext

    init(_ context: NSManagedObjectContext) { self.context = context }

    func count() async throws -> Int {
        try await context.perform { try self.context.count(for: CompilingPlace.fetchRequest()) }
    }

    func rename(_ id: NSManagedObjectID, to title: String) async throws {
        try await context.perform { [context] in
            context.object(with: id).setValue(title, forKey: "title")
            try context.save()
        }
    }
}

/// A class of the main actor.
@MainActor final class CompilingScreen {
    private let context: NSManagedObjectContext
    var title = ""

    init(_ context: NSManagedObjectContext) { self.context = context }

    func load(_ id: NSManagedObjectID) async throws {
        let context = context
        title = try await context.perform {
            try context.existingObject(with: id).value(forKey: "title") as? String ?? ""
        }
        await context.perform { context.refreshAllObjects() }
        await Task.detached { await context.perform { context.processPendingChanges() } }.value
    }
}

enum CompilingBoth {
    static func waiting(_ context: NSManagedObjectContext, _ work: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) { context.performAndWait { work() } }
        group.wait()
    }

    static func conflicts() -> (NSConstraintConflict, NSMergeConflict) { (NSConstraintConflict(), NSMergeConflict()) }

    static func results(of coordinator: NSPersistentStoreCoordinator) throws -> Int {
        coordinator.performAndWait { coordinator.name = "waited" }
        let count: Int = coordinator.performAndWait { coordinator.persistentStores.count }
        return try coordinator.performAndWait { () throws -> Int in count }
    }
}

import CoreData
import Foundation
import Testing

/// Resolves conflicts as the context has it, and then does something else.
private final class ActingPolicy: NSMergePolicy, @unchecked Sendable {
    // Unchecked: used on one context's queue.
    private let act: () throws -> Void

    init(_ act: @escaping () throws -> Void) {
        self.act = act
        super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    }

    override func resolve(mergeConflicts list: [Any]) throws {
        try super.resolve(mergeConflicts: list)
        try act()
    }
}

/// A save writes one store after the other. While a later one's conflicts are resolved, the program may change objects
/// of one that is written already. Those changes were lost, and counted as saved.
@Suite struct LateChangesTests {
    enum First: String, CaseIterable, Sendable { case log, memory, service }
    enum Before: String, CaseIterable, Sendable { case inserted, updated, untouched }
    enum Late: String, CaseIterable, Sendable { case update, deletion, insertion }

    private struct Refusal: Error {}

    private final class World {
        let coordinator: NSPersistentStoreCoordinator
        private let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("strata-test-\(UUID().uuidString)")
        let context: NSManagedObjectContext

        init(_ first: First) throws {
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: SaveErrorTests.model())
            context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            switch first {
            case .log: try add(NSSQLiteStoreType, "One", url)
            case .memory: try add(NSInMemoryStoreType, "One", nil)
            case .service:
                NSPersistentStoreCoordinator.registerStoreClass(ServiceStore.self, forStoreType: ServiceStore.type)
                let url = URL(string: "service://\(UUID().uuidString)")
                if let url { ServiceStore.services.change { $0[url] = Service() } }
                try add(ServiceStore.type, "One", url)
            }
            try add(NSInMemoryStoreType, "Two", nil)
        }

        deinit {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
            removeStore(at: url)
        }

        private func add(_ type: String, _ configuration: String, _ url: URL?) throws {
            try coordinator.addPersistentStore(
                ofType: type, configurationName: configuration, at: url, options: [StrataDurabilityOption: "os"])
        }

        /// An object of the second store that somebody else has changed, too.
        func conflicting() throws -> NSManagedObject {
            let two = insert("Two", context).set(["text": "start"])
            try context.save()
            let other = NSManagedObjectContext(.privateQueue)
            other.persistentStoreCoordinator = coordinator
            try other.performAndWait {
                other.object(with: two.objectID).setValue("theirs", forKey: "text")
                try other.save()
            }
            return two
        }

        func stored(_ entity: String) throws -> [String?] {
            let fresh = NSManagedObjectContext(.privateQueue)
            fresh.persistentStoreCoordinator = coordinator
            return try fresh.performAndWait {
                try fetchAll(NSManagedObject.self, entity, fresh, sort: "text").map { $0.text("text") }
            }
        }
    }

    /// An object of the first store that is changed so, and one of the second that conflicts: it is written later.
    private static func prepare(
        _ before: Before, _ world: World
    ) throws -> (one: NSManagedObject, two: NSManagedObject) {
        let known = before == .inserted ? nil : insert("One", world.context).set(["text": "old"])
        let two = try world.conflicting()
        let one = known ?? insert("One", world.context).set(["text": "old"])
        if before == .updated { one.setValue("new", forKey: "text") }
        two.setValue("mine", forKey: "text")
        return (one, two)
    }

    private static func change(_ one: NSManagedObject, _ late: Late, _ context: NSManagedObjectContext) {
        switch late {
        case .update: one.setValue("later", forKey: "text")
        case .deletion: context.delete(one)
        case .insertion: _ = insert("One", context).set(["text": "another"])
        }
    }

    private static func expected(_ before: Before, _ late: Late) -> [String] {
        let text = before == .updated ? "new" : "old"
        return switch late {
        case .update: ["later"]
        case .deletion: []
        case .insertion: ["another", text]
        }
    }

    @Test(arguments: First.allCases, Before.allCases) func areSavedToo(_ first: First, _ before: Before) throws {
        for late in Late.allCases {
            let world = try World(first)
            let context = world.context
            try context.performAndWait { () throws in
                let (one, two) = try Self.prepare(before, world)
                var isLate = false
                context.mergePolicy = ActingPolicy {
                    isLate = true
                    Self.change(one, late, context)
                }
                nonisolated(unsafe) var notes: [Notification] = []
                let observer = NotificationCenter.default.addObserver(
                    forName: .NSManagedObjectContextDidSave, object: context, queue: nil
                ) { notes.append($0) }
                defer { NotificationCenter.default.removeObserver(observer) }
                try context.save()
                #expect(isLate && !context.hasChanges && !one.hasChanges && !two.hasChanges, "\(late)")
                #expect(try world.stored("One") == Self.expected(before, late), "\(late)")
                #expect(try world.stored("Two") == ["mine"])
                let lists = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey].map {
                    notes.first?.userInfo?[$0] as? Set<NSManagedObject> ?? []
                }
                #expect(notes.count == 1 && lists.filter { $0.contains(one) }.count <= 1)
                #expect(lists[2].contains(one) == (late == .deletion))
                if late == .deletion { return }
                one.setValue("last", forKey: "text")
                try context.save()
                #expect(try world.stored("One").contains("last"))
            }
        }
    }

    /// The second store fails after the program has changed something of the first: that has not been saved.
    @Test(arguments: First.allCases, Late.allCases) func arePendingWhenTheSaveFails(
        _ first: First, _ late: Late
    ) throws {
        let world = try World(first)
        let context = world.context
        try context.performAndWait { () throws in
            let (one, two) = try Self.prepare(.inserted, world)
            context.mergePolicy = ActingPolicy {
                Self.change(one, late, context)
                throw Refusal()
            }
            #expect(saveError(context)?.code == .persistentStoreIncompleteSave)
            #expect(try world.stored("One") == ["old"] && world.stored("Two") == ["theirs"])
            #expect(!one.objectID.isTemporaryID && !one.isInserted && two.isUpdated && context.hasChanges)
            #expect(one.isUpdated == (late == .update) && one.isDeleted == (late == .deletion))
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(try world.stored("One") == Self.expected(.inserted, late) && world.stored("Two") == ["mine"])
            #expect(!context.hasChanges)
        }
    }
}

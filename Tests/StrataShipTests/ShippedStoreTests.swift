import CoreData
import Foundation
import StrataObjectStore
import StrataShip
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

/// A container's store that is shipped in the program that writes it.
@Suite struct ShippedStoreTests {
    private let folder = URL(fileURLWithPath: NSTemporaryDirectory() + "strata-shipped-" + UUID().uuidString)

    private func container(_ name: String = "library") throws -> NSPersistentContainer {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let book = NSEntityDescription()
        book.name = "Book"
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        book.properties = [title]
        let model = NSManagedObjectModel()
        model.entities = [book]
        let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(
                url: name.isEmpty ? URL(fileURLWithPath: "/dev/null") : folder.appendingPathComponent(name))
        ]
        return container
    }

    private func load(_ container: NSPersistentContainer) throws {
        let failure = Mutex<(any Error)?>(nil)
        container.loadPersistentStores { _, error in failure.withLock { $0 = error } }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func add(_ title: String, _ container: NSPersistentContainer) async throws -> NSPersistentHistoryToken {
        let context = container.newBackgroundContext()
        try await context.perform {
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue(title, forKey: "title")
            try context.save()
        }
        return try #require(container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
    }

    private func count(_ container: NSPersistentContainer) async throws -> Int {
        let context = container.newBackgroundContext()
        return try await context.perform {
            try context.count(for: NSFetchRequest<any NSFetchRequestResult>(entityName: "Book"))
        }
    }

    @Test func whatWasWaitedForIsInTheBucketAndTheRestIsAtTheEnd() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (container, objects) = (try container(), SimulatedObjectStore())
        let shipped = ShippedStore(container, to: objects)
        // It begins before the store is there, as the services of a group do.
        let running = Task { try await shipped.run() }
        try load(container)
        try await shipped.shipped(through: try await add("Emma", container))
        _ = try await LogRestorer(from: objects).restore(to: FilePath(folder.appendingPathComponent("first").path))
        let first = try self.container("first")
        try load(first)
        #expect(try await count(first) == 1)
        try await first.persistentStoreCoordinator.close()
        // What is saved last is shipped after the store was closed.
        for number in 0..<20 { _ = try await add("Volume \(number)", container) }
        try await container.persistentStoreCoordinator.close()
        shipped.stop()
        try await running.value
        #expect(shipped.status.unshippedBytes == 0)
        _ = try await LogRestorer(from: objects).restore(to: FilePath(folder.appendingPathComponent("last").path))
        let last = try self.container("last")
        try load(last)
        #expect(try await count(last) == 21)
        try await last.persistentStoreCoordinator.close()
    }

    @Test func aStoreThatWasReplacedRefusesSaves() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (container, objects) = (try container(), SimulatedObjectStore())
        try load(container)
        let shipped = ShippedStore(container, to: objects)
        let running = Task { try await shipped.run() }
        try await shipped.shipped(through: try await add("Emma", container))
        var options = RestoreOptions()
        options.takesOver = true
        _ = try await LogRestorer(from: objects).restore(
            to: FilePath(folder.appendingPathComponent("other").path), options: options)
        // The old one goes on until it looks: at its next piece.
        _ = try? await add("Persuasion", container)
        let error = await #expect(throws: ShipError.self) { try await running.value }
        #expect(error?.code == .fenced)
        await #expect(throws: (any Error).self) { try await add("Sanditon", container) }
        await #expect(throws: ShipError.self) {
            try await shipped.shipped(
                through: try #require(
                    container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)))
        }
        try? await container.persistentStoreCoordinator.close()
    }

    @Test func whatCannotBeShippedIsSaid() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let memory = try container("")
        try load(memory)
        let store = try #require(memory.persistentStoreCoordinator.persistentStores.first)
        let error = await #expect(throws: ShipError.self) {
            try await ShippedStore(memory, storeAt: store.url, to: SimulatedObjectStore()).run()
        }
        #expect(error?.code == .invalid)
        // Nor if none was named and there is no other.
        let none = await #expect(throws: ShipError.self) {
            try await ShippedStore(memory, to: SimulatedObjectStore()).run()
        }
        #expect(none?.code == .invalid)
        // One that is never loaded can be stopped.
        let waiting = ShippedStore(try container(), to: SimulatedObjectStore())
        let running = Task { try await waiting.run() }
        waiting.stop()
        try await running.value
        let token = try #require(memory.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
        await #expect(throws: ShipError.self) { try await waiting.shipped(through: token) }
    }

    /// What docs/shipping.md shows; `GuideDocumentTests` holds that it shows nothing else.
    @MainActor @Test func theGuidesExampleShips() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = try container()
        try load(container)
        let bucket = try DirectoryObjectStore(FilePath(folder.appendingPathComponent("bucket").path))
        let (context, coordinator) = (container.viewContext, container.persistentStoreCoordinator)
        NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue("Emma", forKey: "title")

        let shipped = ShippedStore(container, to: bucket)
        let shipping = Task { try await shipped.run() }
        // A save that must not be lost with this machine:
        try context.save()
        try await shipped.shipped(through: coordinator.currentPersistentHistoryToken(fromStores: nil)!)
        // At the end: what is left, with a checkpoint.
        shipped.stop()
        try await shipping.value

        try await coordinator.close()
        let plan = try await LogRestorer(from: bucket).restore(to: FilePath(folder.appendingPathComponent("b").path))
        let restored = try self.container("b")
        try load(restored)
        #expect(plan.transaction?.sequence == 1)
        #expect(try await count(restored) == 1)
        try await restored.persistentStoreCoordinator.close()
    }
}

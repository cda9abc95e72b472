import CoreData
import Foundation
import Testing

/// Stores that take no batch requests say so.
@Suite struct BatchStoreTests {
    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType])
    func aRequestThatNoStoreTakesThrows(_ type: String) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("batch-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let model = GraphModel.company()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let other = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            insert("Badge", context).setValue(1, forKey: "number")
            try context.save()
        }
        let insertion = NSBatchInsertRequest(entityName: "Badge", objects: [["number": 2]])
        let update = NSBatchUpdateRequest(entityName: "Badge")
        update.propertiesToUpdate = ["number": 3]
        let deletion = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Badge"))
        func numbers() throws -> [Int?] {
            context.reset()
            return try fetchAll(NSManagedObject.self, "Badge", context).map { $0.value(forKey: "number") as? Int }
        }
        try context.performAndWait {
            for request in [insertion, update, deletion] {
                #expect {
                    _ = try context.execute(request)
                } throws: { error in
                    (error as NSError).code == 134070 && error.localizedDescription.contains("in which Badge is")
                }
            }
            let left = try numbers()
            #expect(left == [1])
        }
        // Beside a store that takes them they go there alone.
        let memory = try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
        try context.performAndWait {
            insertion.affectedStores = [memory]
            _ = try context.execute(insertion)
            _ = try context.execute(update)
            let found = try numbers().sorted { ($0 ?? 0) < ($1 ?? 0) }
            #expect(found == [1, 3])
            deletion.affectedStores = [other]
            #expect(throws: CocoaError.self) { _ = try context.execute(deletion) }
        }
    }
}

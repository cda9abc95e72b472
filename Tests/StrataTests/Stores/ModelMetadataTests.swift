import CoreData
import Foundation
import Testing

/// What metadata tells of a store's model and of the framework, as programs read it that choose a model by it.
@Suite struct ModelMetadataTests {
    private static let types = [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType]

    private static func expect(
        _ metadata: [String: Any], _ model: NSManagedObjectModel, _ type: String,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(metadata[NSStoreTypeKey] as? String == type, sourceLocation: location)
        #expect((metadata[NSStoreUUIDKey] as? String).flatMap(UUID.init) != nil, sourceLocation: location)
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        #expect(hashes == model.entityVersionHashesByName, sourceLocation: location)
        let identifiers = metadata[NSStoreModelVersionIdentifiersKey] as? [String]
        #expect(identifiers == ["1.2", "beta"], sourceLocation: location)
        #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3, sourceLocation: location)
        let version = metadata["NSPersistenceFrameworkVersion"] as? Int
        #expect(version.map(Double.init) == NSCoreDataVersionNumber, sourceLocation: location)
        let checksum = metadata[NSPersistentStoreModelVersionChecksumKey] as? String
        #expect(checksum == model.versionChecksum, sourceLocation: location)
    }

    @Test(arguments: types) func theStoreAndItsFileTellTheSame(_ type: String) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-meta-\(UUID().uuidString)")
        defer { removeStore(at: url) }
        let model = GraphModel.company()
        model.versionIdentifiers = ["beta", "1.2"]
        let isFile = type != NSInMemoryStoreType
        for round in 0..<2 {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: isFile ? url : nil)
            Self.expect(coordinator.metadata(for: store), model, type)
            Self.expect(store.metadata, model, type)
            // What is the framework's own nobody else sets.
            var metadata = coordinator.metadata(for: store)
            metadata["own"] = "mine \(round)"
            metadata["NSStoreModelVersionHashesVersion"] = 99
            metadata["NSPersistenceFrameworkVersion"] = 1
            coordinator.setMetadata(metadata, for: store)
            Self.expect(coordinator.metadata(for: store), model, type)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                _ = insert("Department", context).set(["title": "t"])
                try context.save()
            }
            try coordinator.remove(store)
            guard isFile else { return }
            let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
            Self.expect(read, model, type)
            #expect(read["own"] as? String == "mine \(round)")
            #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
        }
    }
}

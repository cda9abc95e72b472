import CoreData
import Foundation
import Testing

@Suite struct RoundTripTests {
    private static let url = URL(string: "https://example.org/a?b=c#d")!

    /// Values of every type: ordinary, extreme, empty, large and nil.
    private static func samples() -> [[String: Any?]] {
        let large = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let text = String(repeating: "größer ", count: 15_000)
        let ordinary: [String: Any?] = [
            "bool": NSNumber(value: true), "int16": Int16(-3), "int32": Int32(70_000), "int64": Int64(1) << 40,
            "float": Float(1.25),
            "double": 0.1, "decimal": NSDecimalNumber(string: "12345678901234567890.123456789"), "string": "äöü",
            "data": Data([0, 1, 2]), "date": Date(timeIntervalSinceReferenceDate: 123.456),
            "uuid": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"), "uri": url,
            "list": ["a", "b"] as NSArray,
        ]
        let greatest: [String: Any?] = [
            "bool": NSNumber(value: false), "int16": Int16.max, "int32": Int32.max, "int64": Int64.max,
            "float": Float.greatestFiniteMagnitude,
            "double": Double.infinity, "decimal": NSDecimalNumber.maximum, "string": text, "data": large,
            "date": Date.distantFuture, "uuid": UUID(), "uri": url,
        ]
        let least: [String: Any?] = [
            "int16": Int16.min, "int32": Int32.min, "int64": Int64.min, "float": -Float.leastNonzeroMagnitude,
            "double": -Double.leastNonzeroMagnitude, "decimal": NSDecimalNumber.minimum, "string": "", "data": Data(),
            "date": Date.distantPast, "decimal2": nil,
        ]
        return [ordinary, greatest, least, [:]]
    }

    @Test(arguments: StoreKind.allCases) func everyAttributeType(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.everything())
        let samples = Self.samples()
        let context = store.context()
        try context.performAndWait {
            for sample in samples {
                let thing = insert("Thing", context)
                for (key, value) in sample where key != "decimal2" { thing.setValue(value, forKey: key) }
            }
            try context.save()
        }
        try store.reopen()
        let other = store.context()
        try other.performAndWait {
            let found = try fetchAll(NSManagedObject.self, "Thing", other)
            #expect(found.count == samples.count)
            for (thing, sample) in zip(found, samples) { expect(thing, sample) }
            // A change of one attribute copies the others, those out of line as well.
            for thing in found { thing.setValue(5, forKey: "int32") }
            try other.save()
        }
        try store.reopen()
        let third = store.context()
        try third.performAndWait {
            for (thing, sample) in zip(try fetchAll(NSManagedObject.self, "Thing", third), samples) {
                expect(thing, sample.merging(["int32": Int32(5)]) { $1 })
            }
        }
    }

    private func expect(_ thing: NSManagedObject, _ sample: [String: Any?]) {
        for name in thing.entity.attributesByName.keys {
            let value = thing.value(forKey: name) as? AnyHashable
            let wanted = sample[name].flatMap { $0 } as? AnyHashable
            #expect(value == wanted, "\(name)")
        }
    }

    @Test(arguments: StoreKind.allCases) func idsAreStable(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        var uri = URL(fileURLWithPath: "/")
        try context.performAndWait {
            let employee = Employee(context: context)
            let temporary = employee.objectID
            #expect(temporary.uriRepresentation().absoluteString.hasPrefix("x-coredata:///Employee/t"))
            #expect(context.object(with: temporary) === employee)
            try context.obtainPermanentIDs(for: [employee])
            let permanent = employee.objectID
            #expect(!permanent.isTemporaryID && permanent != temporary && employee.isInserted)
            #expect(context.object(with: permanent) === employee)
            try context.save()
            #expect(employee.objectID == permanent)
            uri = permanent.uriRepresentation()
            #expect(uri.absoluteString == "x-coredata://\(store.store.identifier ?? "")/Employee/p1")
            #expect(permanent.persistentStore === store.store && permanent.entity.name == "Employee")
        }
        try store.reopen()
        let other = store.context()
        try other.performAndWait {
            let id = try #require(store.coordinator.managedObjectID(forURIRepresentation: uri))
            let object = try other.existingObject(with: id)
            #expect(object.objectID == id && object.objectID.hash == id.hash)
            let absent = try #require(
                store.coordinator.managedObjectID(
                    forURIRepresentation: uri.deletingLastPathComponent().appendingPathComponent("p99")))
            let error = #expect(throws: CocoaError.self) { try other.existingObject(with: absent) }
            #expect(error?.code.rawValue == NSManagedObjectReferentialIntegrityError)
        }
    }

    @Test func metadataIsKept() throws {
        let store = try TestStore(.log)
        store.coordinator.setMetadata(["key": "value", NSStoreUUIDKey: "nonsense"], for: store.store)
        let context = store.context()
        try context.performAndWait { try context.save() }
        try store.reopen()
        let metadata = store.coordinator.metadata(for: store.store)
        #expect(metadata["key"] as? String == "value")
        #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(metadata[NSStoreUUIDKey] as? String == store.store.identifier)
        #expect((metadata[NSStoreModelVersionHashesKey] as? [String: Data])?["Employee"] != nil)
    }

    @Test func anotherModelIsRefused() throws {
        let store = try TestStore(.log)
        try store.coordinator.remove(store.store)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.everything())
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store.url)
        }
        #expect(error?.code.rawValue == 134100)
        let type = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(ofType: "Nonsense", configurationName: nil, at: store.url)
        }
        #expect(type?.code.rawValue == 134000)
        try coordinator.destroyPersistentStore(at: store.url, ofType: NSSQLiteStoreType)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.url.path) == [])
        try FileManager.default.removeItem(at: store.url)
    }

    @Test func containerLoadsItsStores() async throws {
        let model = GraphModel.company()
        let container = NSPersistentContainer(name: "Company", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        container.persistentStoreDescriptions = [description]
        var errors: [any Error] = []
        container.loadPersistentStores { _, error in if let error { errors.append(error) } }
        #expect(errors.isEmpty && container.persistentStoreCoordinator.persistentStores.count == 1)
        let count = try await container.performBackgroundTask { context in
            for _ in 0..<3 { _ = Employee(context: context) }
            try context.save()
            return try context.count(for: NSFetchRequest<Employee>(entityName: "Employee"))
        }
        #expect(count == 3)
    }
}

import CoreData
import Foundation
import Testing

/// Of an entity in no model.
private final class Nowhere: NSManagedObject {}

/// Takes what it has no property for.
private final class Tolerant: NSManagedObject {
    nonisolated(unsafe) static var undefined: [String] = []

    override func setValue(_ value: Any?, forUndefinedKey key: String) { Self.undefined.append("set \(key)") }
    override func value(forUndefinedKey key: String) -> Any? {
        Self.undefined.append("get \(key)")
        return nil
    }
}

@Suite(.serialized) struct SetterNameTests {
    private static func model() -> NSManagedObjectModel {
        ManagedObjectClasses.register(Tolerant.self)
        let tolerant = GraphModel.entity("Tolerant", Tolerant.self)
        let plain = GraphModel.entity("Plain")
        for entity in [tolerant, plain] {
            let other = GraphModel.relationship("other", to: entity)
            other.inverseRelationship = other
            entity.properties = [
                GraphModel.attribute("date", .dateAttributeType), GraphModel.attribute("URL", .stringAttributeType),
                GraphModel.attribute("lower", .integer16AttributeType),
                GraphModel.attribute("Lower", .integer16AttributeType), other,
            ]
        }
        let model = NSManagedObjectModel()
        model.entities = [tolerant, plain]
        return model
    }

    /// `setDate:` sets `date`, and so does the key `Date`. The getter's name is the key itself, which finds nothing.
    @Test(arguments: ["Tolerant", "Plain"]) func aKeyFindsTheSetterThatItNames(_ entity: String) throws {
        let store = try TestStore(.memory, Self.model())
        let context = store.context()
        context.performAndWait {
            Tolerant.undefined = []
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            let date = Date(timeIntervalSinceReferenceDate: 7)
            object.setValue(date, forKey: "Date")
            object.setValue("u", forKey: "URL")
            object.setValue(1, forKey: "Lower")
            object.setValue(2, forKey: "lower")
            object.setValue(object, forKeyPath: "Other")
            #expect(object.value(forKey: "date") as? Date == date && object.value(forKey: "URL") as? String == "u")
            #expect(object.value(forKey: "Lower") as? Int == 1 && object.value(forKey: "lower") as? Int == 2)
            #expect(object.value(forKey: "other") as? NSManagedObject === object)
            guard object is Tolerant else { return }
            _ = object.value(forKey: "Date")
            object.setValue("u", forKey: "uRL")
            object.setValue(nil, forKey: "DATE")
            object.setValue(nil, forKey: "")
            #expect(Tolerant.undefined == ["get Date", "set uRL", "set DATE", "set "])
        }
    }

    @Test func aClassInNoModelStandsForAnEntityWithoutAName() {
        #expect(Nowhere.entity().name == nil && Nowhere.entity().properties.isEmpty)
        #expect(throws: (any Error).self) {
            let store = try TestStore(.memory)
            let context = store.context()
            _ = try context.performAndWait { try context.fetch(Nowhere.fetchRequest()) }
        }
    }

    /// Programs for Apple's platforms take these for URLs, and name the iterator's type.
    @Test func foundationsCollectionsAreOfApplesTypes() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-bundle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data().write(to: folder.appendingPathComponent("a.mom"))
        let bundle = try #require(Bundle(url: folder))
        let urls = bundle.urls(forResourcesWithExtension: "mom", subdirectory: nil) ?? []
        #expect(urls.map { (url: URL) in url.lastPathComponent } == ["a.mom"])
        let optional: [URL]? = bundle.urls(forResourcesWithExtension: "mom", subdirectory: nil, localization: nil)
        #expect(optional != nil)
        let references: [NSURL]? = bundle.urls(forResourcesWithExtension: "mom", subdirectory: nil)
        #expect(references?.count == 1)
        #expect(Bundle.urls(forResourcesWithExtension: "mom", subdirectory: nil, in: folder)?.count == 1)
        let set = NSSet(array: [1, 2])
        var iterator: NSFastEnumerationIterator = set.makeIterator()
        var found: Set<Int> = []
        while let next = iterator.next() as? Int { found.insert(next) }
        for element in set { found.insert((element as? Int ?? 0) + 10) }
        #expect(found == [1, 2, 11, 12])
        var ordered: NSFastEnumerationIterator = NSOrderedSet(array: ["x"]).makeIterator()
        #expect(ordered.next() as? String == "x" && ordered.next() == nil)
    }
}

import CoreData
import Foundation
import StrataService
import StrataTestKit
import Synchronization

/// Things with attributes of every type that has an order, few values, many of them null or equal.
final class PagingFixture: Sendable {
    let container: NSPersistentContainer
    private let folder: URL?
    let storeName = "things-\(UUID().uuidString)"

    static let model: Result<NSManagedObjectModel, any Error> = Result {
        try NSManagedObjectModel {
            Entity("Owner") {
                Attribute("name", .string)
                Attribute("rank", .integer16)
                Attribute("weight", .double)
                Relationship("things", .toMany("Thing"), inverse: "owner")
            }
            Entity("Tag") {
                Relationship("things", .toMany("Thing"), inverse: "tags")
            }
            Entity("Thing", isAbstract: true) {
                Attribute("text", .string)
                Attribute("small", .integer16)
                Attribute("large", .integer64)
                Attribute("real", .float)
                Attribute("exact", .decimal)
                Attribute("measure", .double)
                Attribute("flag", .boolean)
                Attribute("day", .date)
                Attribute("uuid", .uuid)
                Attribute("bytes", .binaryData)
                Attribute("link", .uri)
                Attribute("shape", .transformable)
                Attribute("passing", .string, isTransient: true)
                Attribute("place") {
                    Attribute("city", .string)
                    Attribute("number", .integer32)
                }
                Relationship("owner", .toOne("Owner"), inverse: "things")
                Relationship("tags", .toMany("Tag"), inverse: "things")
                Index("byTextAndSmall", "text", .descending("small"))
                Index("byFlag", "flag")
                Entity("Plain")
                Entity("Special") { Attribute("extra", .integer16) }
            }
        }
    }

    init(onDisk: Bool = false) throws {
        container = NSPersistentContainer(name: "Paging", managedObjectModel: try Self.model.get())
        let description = NSPersistentStoreDescription()
        if onDisk {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("strata-paging-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            description.url = folder.appendingPathComponent(storeName)
            self.folder = folder
        } else {
            description.type = NSInMemoryStoreType
            folder = nil
        }
        container.persistentStoreDescriptions = [description]
        let failure = Mutex<(any Error)?>(nil)
        container.loadPersistentStores { _, error in failure.withLock { $0 = error } }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    deinit {
        for store in container.persistentStoreCoordinator.persistentStores {
            try? container.persistentStoreCoordinator.remove(store)
        }
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }

    func perform<Result: Sendable>(
        _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try await container.performBackgroundTask(body)
    }

    // MARK: Data

    /// Every key that pages can be sorted by.
    static let keys = [
        "text", "small", "large", "real", "exact", "measure", "flag", "day", "uuid", "bytes", "link", "place.city",
        "place.number", "owner.name", "owner.rank", "owner.weight", "tags.@count", "owner.things.@count",
    ]

    private static let texts = ["", "a", "A", "ab", "é", "e\u{301}", "ß", "z", "\u{10348}", "a\u{0}b"]
    private static let uuids = (0..<4).map { UUID(uuidString: "0000000\($0)-9F00-4000-8000-00000000FF0\($0)") }

    static func request(_ sorts: [NSSortDescriptor], _ predicate: NSPredicate? = nil) -> ServiceFixture.Request {
        let request = ServiceFixture.Request(entityName: "Thing")
        request.sortDescriptors = sorts
        request.predicate = predicate
        return request
    }

    static func fill(_ count: Int, _ context: NSManagedObjectContext, using random: inout SeededGenerator) throws {
        let owners = try context.fetch(ServiceFixture.Request(entityName: "Owner"))
        let tags = try context.fetch(ServiceFixture.Request(entityName: "Tag"))
        for _ in 0..<count {
            let name = Bool.random(using: &random) ? "Plain" : "Special"
            let thing = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
            change(thing, owners, tags, using: &random)
        }
    }

    static func makeRelated(_ context: NSManagedObjectContext) {
        for number in 0..<5 {
            let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
            owner.setValue(number == 0 ? nil : texts[number % 3], forKey: "name")
            owner.setValue(number == 1 ? nil : number / 2, forKey: "rank")
            owner.setValue([nil, Double.nan, 0.5][number % 3], forKey: "weight")
            _ = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        }
    }

    static func change(
        _ thing: NSManagedObject, _ owners: [NSManagedObject], _ tags: [NSManagedObject],
        using random: inout SeededGenerator
    ) {
        func set(_ key: String, _ values: [Any?]) {
            let value = Int.random(in: 0..<5, using: &random) == 0 ? nil : values.randomElement(using: &random) ?? nil
            thing.setValue(value, forKey: key)
        }
        set("text", texts)
        set("small", [-3, 0, 7, 32_767])
        set("large", [Int64.min, -1, 0, Int64(1) << 53 + 1, Int64.max])
        set("real", [Float(-0.1), Float(0), Float(0.1), Float.greatestFiniteMagnitude])
        set("exact", ["-1.5", "0", "0.1", "99999999999999999999.000000001"].map { NSDecimalNumber(string: $0) })
        set("measure", [-0.0, 0.0, 0.1 + 0.2, 0.3, Double.infinity, Double.nan])
        set("flag", [false, true])
        set("day", [0.0, 0.1, 1e9].map { Date(timeIntervalSinceReferenceDate: $0) })
        set("uuid", uuids)
        set("bytes", [Data(), Data([0]), Data([0, 1]), Data([255])])
        set("link", ["a:b", "a:c", "http://x/%20"].map { URL(string: $0) })
        set("place", [["city": "Rome", "number": 1], ["city": "Oslo"], ["number": 2]])
        set("owner", owners)
        let members = tags.filter { _ in Bool.random(using: &random) }
        thing.setValue(NSSet(array: members), forKey: "tags")
    }
}

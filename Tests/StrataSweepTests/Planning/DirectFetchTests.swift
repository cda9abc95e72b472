import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Fetches whose plans say where their constants are looked up: whatever the constants, the changes that are not saved,
/// the contexts and the stores, they find what the interpreter finds that goes from row to row.
@Suite struct DirectFetchTests {
    private typealias Request = NSFetchRequest<any NSFetchRequestResult>

    /// What a request may meet.
    enum Situation: String, CaseIterable, Sendable {
        case saved, unsaved, pinned, child, twoStores, binaryStore

        /// Whether requests may go the short way.
        var isDirect: Bool { self == .saved || self == .unsaved || self == .pinned }
    }

    // MARK: Requests

    private static let formats: [(String, [String])] = [
        ("code == %@", ["code"]), ("%@ == code", ["code"]), ("code == %@ AND isOpen == %@", ["code", "isOpen"]),
        ("code IN {%@, %@, %@}", ["code", "code", "code"]), ("code >= %@ AND code < %@", ["code", "code"]),
        ("number == %@", ["number"]), ("number == %@ AND rank == %@", ["number", "rank"]),
        ("number IN {%@, %@, %@}", ["number", "number", "number"]), ("number BETWEEN {%@, %@}", ["number", "number"]),
        ("number == %@ AND (isOpen == %@ OR note BEGINSWITH %@)", ["number", "isOpen", "note"]),
        ("rank == %@ AND date >= %@", ["rank", "date"]), ("rank == %@ AND date < %@", ["rank", "date"]),
        ("rank == %@ AND note == %@", ["rank", "note"]), ("rank == %@", ["rank"]),
        ("rank IN {%@, %@}", ["rank", "rank"]),
        ("rank == %@ AND date IN {%@, %@}", ["rank", "date", "date"]), ("rank == %@ AND rank == %@", ["rank", "rank"]),
        ("date > %@ AND date <= %@", ["date", "date"]), ("date >= %@", ["date"]),
        ("date BETWEEN {%@, %@}", ["date", "date"]),
        ("date >= %@ AND isOpen == %@", ["date", "isOpen"]), ("weight == %@", ["weight"]),
        ("weight > %@ AND rank != %@", ["weight", "rank"]), ("uid == %@", ["uid"]),
        ("uid IN {%@, %@}", ["uid", "uid"]),
        ("uid <= %@ AND isOpen == %@", ["uid", "isOpen"]), ("keeper == %@", ["keeper"]),
        ("keeper == %@ AND rank >= %@", ["keeper", "rank"]), ("keeper == %@ AND number == %@", ["keeper", "number"]),
        ("keeper == %@ AND note LIKE %@", ["keeper", "note"]), ("note == %@", ["note"]),
        ("note == %@ AND isOpen == %@", ["note", "isOpen"]), ("note > %@ AND note < %@", ["note", "note"]),
        ("code ==[c] %@", ["code"]), ("NOT code == %@", ["code"]), ("code == %@ OR number == %@", ["code", "number"]),
        ("NOT (isOpen == %@) AND number == %@", ["isOpen", "number"]),
        ("extra == %@ AND rank == %@", ["extra", "rank"]),
        ("extra == %@", ["extra"]), ("isOpen == %@", ["isOpen"]),
        ("keeper.title == %@ AND number == %@", ["note", "number"]),
    ]
    private static let orders = [
        [], [], [], ["date"], ["-date"], ["rank", "-date"], ["-rank", "date"], ["number"], ["note", "-number"],
        ["weight"],
        ["code"], ["-uid"], ["isOpen", "note"], ["keeper.title"],
    ]

    private func request(_ world: DirectFetchWorld, _ random: inout SeededGenerator) -> Request {
        let (format, names) = Self.formats[random.below(Self.formats.count)]
        let isSpecial = names.contains("extra") || random.chance(0.15)
        let request = Request(entityName: isSpecial ? "SpecialItem" : "Item")
        request.predicate = NSPredicate(
            format: format, argumentArray: names.map { DirectFetchModel.constant($0, world, &random) })
        request.sortDescriptors = Self.orders[random.below(Self.orders.count)].map { name in
            NSSortDescriptor(key: name.replacingOccurrences(of: "-", with: ""), ascending: !name.hasPrefix("-"))
        }
        request.includesSubentities = random.chance(0.85)
        request.includesPendingChanges = random.chance(0.85)
        request.returnsObjectsAsFaults = random.chance(0.7)
        request.includesPropertyValues = random.chance(0.8)
        if random.chance(0.5) { request.fetchLimit = [1, 3, 20][random.below(3)] }
        if random.chance(0.2) { request.fetchOffset = random.below(4) }
        if random.chance(0.2) { request.relationshipKeyPathsForPrefetching = ["keeper"] }
        if random.chance(0.4) { request.resultType = .managedObjectIDResultType }
        return request
    }

    // MARK: Comparing

    private static func ids(_ results: [Any]) -> [NSManagedObjectID] {
        results.compactMap { ($0 as? NSManagedObject)?.objectID ?? $0 as? NSManagedObjectID }
    }

    /// - Returns: whether the request went the short way.
    private func check(_ request: Request, _ context: NSManagedObjectContext, _ what: String) throws -> Bool {
        let interpreted = CompiledExecution.setting.withValue(false) {
            Result { Self.ids(try context.fetch(request)) }
        }
        let found = Result { Self.ids(try context.fetch(request)) }
        let text = "\(what): \(request), offset \(request.fetchOffset)"
        guard case .success(let expected) = interpreted else {
            if case .success(let ids) = found { Issue.record("\(ids.count) results and no error, \(text)") }
            return false
        }
        let ids = try found.get()
        #expect(ids == expected, "\(text)")
        let count = try context.count(for: request)
        #expect(count == expected.count, "count, \(text)")
        let explanation = try context.explain(request)
        #expect(explanation.results == expected.count, "explained, \(text)")
        if explanation.isDirect {
            #expect(explanation.path == .orderedIndex && explanation.index != nil || explanation.path == .postings)
        }
        return explanation.isDirect
    }

    private func coordinator(
        _ kind: StoreKind, _ situation: Situation, _ folder: URL
    ) throws
        -> NSPersistentStoreCoordinator
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DirectFetchModel.model())
        let type =
            situation == .binaryStore
            ? NSBinaryStoreType : kind == .memory ? NSInMemoryStoreType : NSSQLiteStoreType
        for number in 0..<(situation == .twoStores ? 2 : 1) {
            try coordinator.addPersistentStore(
                ofType: type, configurationName: nil,
                at: type == NSInMemoryStoreType ? nil : folder.appendingPathComponent("\(number)"),
                options: [StrataDurabilityOption: "os"])
        }
        return coordinator
    }

    private static let seeds = RandomRuns.seeds(from: 40, count: BuildMode.isDebug ? 1 : 2)

    @Test(arguments: StoreKind.allCases.flatMap { kind in Situation.allCases.map { (kind, $0) } }, seeds)
    func theSameIsFound(_ where: (StoreKind, Situation), _ seed: UInt64) throws {
        let (kind, situation) = `where`
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-direct-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var random = SeededGenerator(seed: seed)
        let coordinator = try coordinator(kind, situation, folder)
        let writer = NSManagedObjectContext(.privateQueue)
        writer.persistentStoreCoordinator = coordinator
        writer.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let reader = NSManagedObjectContext(.privateQueue)
        if situation == .child { reader.parent = writer } else { reader.persistentStoreCoordinator = coordinator }
        var world = try writer.performAndWait { try DirectFetchWorld(writer, 350, &random) }
        var (total, direct) = (0, 0)
        for round in 0..<RandomRuns.operations(BuildMode.isDebug ? 4 : 10) {
            if situation == .pinned, round % 3 == 0 {
                try reader.performAndWait { try reader.setQueryGenerationFrom(.current) }
            }
            try writer.performAndWait {
                world.change(1 + random.below(12), &random)
                if situation != .unsaved || random.chance(0.3) { try writer.save() }
            }
            let asked = situation == .unsaved ? writer : reader
            for _ in 0..<25 {
                let request = writer.performAndWait { self.request(world, &random) }
                try asked.performAndWait {
                    total += 1
                    direct += try check(request, asked, "\(kind), \(situation), seed \(seed)") ? 1 : 0
                }
            }
        }
        print(
            "DirectFetchTests: \(kind), \(situation), seed \(seed): \(direct) of \(total) requests went the short way")
        #expect(situation.isDirect ? direct > total / 4 : direct == 0)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    // MARK: Which way

    private func store(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind, DirectFetchModel.model())
        let context = store.context()
        try context.performAndWait {
            for number in 0..<400 {
                let item = insert("Item", context)
                item.setValue("item \(number)", forKey: "code")
                item.setValue(number, forKey: "number")
                item.setValue(number % 3, forKey: "rank")
                item.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "date")
            }
            try context.save()
        }
        return (store, context)
    }

    private func explain(
        _ format: String, _ arguments: [Any], _ context: NSManagedObjectContext, sortedBy key: String? = nil,
        limit: Int = 0
    ) throws -> FetchExplanation {
        let request = Request(entityName: "Item")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        request.fetchLimit = limit
        return try context.explain(request)
    }

    @Test(arguments: StoreKind.allCases) func explanationsNameTheIndex(_ kind: StoreKind) throws {
        let (store, context) = try store(kind)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait {
            let byCode = try explain("code == %@", ["item 7"], context)
            #expect(byCode.isDirect && byCode.index == "Item.code" && byCode.path == .orderedIndex)
            #expect(byCode.rowsEstimated == 1 && byCode.results == 1 && byCode.rowsTested == 0)
            #expect("\(byCode)".contains("direct, ordered index Item.code, 1 rows expected"))
            let tested = try explain("code == %@ AND rank == %@", ["item 7", 1], context)
            #expect(tested.isDirect && tested.index == "Item.code" && tested.rowsTested == 1 && tested.results == 1)
            let page = try explain(
                "rank == %@ AND date >= %@", [1, Date(timeIntervalSinceReferenceDate: 30)], context, sortedBy: "date",
                limit: 20)
            #expect(page.isDirect && page.index == "Item.rank_-date" && page.results == 20 && page.rowsTested == 0)
        }
    }

    @Test(arguments: StoreKind.allCases) func manyRowsWithAConstantGoTheLongWay(_ kind: StoreKind) throws {
        let (store, context) = try store(kind)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait {
            for number in 0..<400 {
                let item = insert("Item", context)
                item.setValue("more \(number)", forKey: "code")
                item.setValue(400 + number, forKey: "number")
                item.setValue("often", forKey: "note")
            }
            insert("Item", context).setValue("seldom", forKey: "note")
            try context.save()
            let many = try explain("note == %@", ["often"], context)
            #expect(!many.isDirect && many.results == 400)
            let one = try explain("note == %@", ["seldom"], context)
            #expect(one.isDirect && one.results == 1 && one.index == "Item.note")
            // The first ones of many are few, if they come in the order that is wanted.
            let first = try explain("note == %@", ["often"], context, limit: 5)
            #expect(first.isDirect && first.results == 5)
        }
    }

    @Test func anotherStoreInTheSamePlaceHasAWayOfItsOwn() throws {
        let store = try TestStore(.log, DirectFetchModel.model())
        let other = FileManager.default.temporaryDirectory.appendingPathComponent("strata-direct-\(UUID().uuidString)")
        defer { removeStore(at: other) }
        let earlier = NSPersistentStoreCoordinator(managedObjectModel: DirectFetchModel.earlierModel())
        try earlier.remove(
            try earlier.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: other, options: [StrataDurabilityOption: "os"]))
        let coordinator = store.coordinator
        for number in 0..<3 {
            if number > 0 {
                try coordinator.remove(try #require(coordinator.persistentStores.first))
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: number == 1 ? other : store.url,
                    options: [
                        StrataDurabilityOption: "os", NSMigratePersistentStoresAutomaticallyOption: true,
                        NSInferMappingModelAutomaticallyOption: true,
                    ])
            }
            let context = store.context()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "code == %@", "item 50")
            try context.performAndWait {
                if number < 2 {
                    for code in 0..<(300 + number) {
                        insert("Item", context).setValue("item \(code + number * 10)", forKey: "code")
                    }
                    try context.save()
                }
                let found = try context.fetch(request).compactMap { $0.value(forKey: "code") as? String }
                #expect(found == ["item 50"])
                // The plan of the store before is thrown away with the first request.
                let shown = try (0..<2).map { _ in try explain("code == %@", ["item 5"], context) }
                #expect(shown.allSatisfy { $0.results == (number == 1 ? 0 : 1) })
                #expect(shown[1].isDirect)
            }
        }
    }
}

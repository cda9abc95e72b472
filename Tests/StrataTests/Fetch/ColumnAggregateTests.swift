import CoreData
import Foundation
import Testing

/// `max:` and its kin of the fetched entity's own attributes in a predicate: one value of all objects, as the
/// sub-select `(SELECT MAX(t.ZDATE) FROM …)` that Core Data makes of it.
@Suite struct ColumnAggregateTests {
    enum Place: String, CaseIterable, Sendable { case saved, unsaved, changed, child, childOfUnsaved, grandchild }

    private static func model() -> NSManagedObjectModel {
        let (reading, special, station) = (
            GraphModel.entity("Reading"), GraphModel.entity("Special"), GraphModel.entity("Station")
        )
        let readings = GraphModel.relationship("readings", to: reading, toMany: true)
        let stationOf = GraphModel.relationship("station", to: station)
        GraphModel.link(readings, stationOf)
        reading.properties = [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("date", .dateAttributeType),
            GraphModel.attribute("level", .integer32AttributeType), GraphModel.attribute("value", .doubleAttributeType),
            GraphModel.attribute("weight", .floatAttributeType), GraphModel.attribute("price", .decimalAttributeType),
            GraphModel.attribute("nothing", .dateAttributeType), stationOf,
        ]
        reading.subentities = [special]
        station.properties = [GraphModel.attribute("height", .integer64AttributeType), readings]
        let model = NSManagedObjectModel()
        model.entities = [reading, special, station]
        return model
    }

    /// Three readings, one of them special, and one without values.
    @discardableResult
    private static func fill(_ context: NSManagedObjectContext) -> [NSManagedObject] {
        let stations = [100, 200].map { make("Station", context, ["height": $0]) }
        func reading(_ entity: String, _ name: String, _ number: Int, _ station: Int) -> NSManagedObject {
            make(
                entity, context,
                [
                    "name": name, "date": Date(timeIntervalSinceReferenceDate: Double(number)), "level": number,
                    "value": Double(number) / 3, "weight": Float(number) / 3,
                    "price": NSDecimalNumber(decimal: Decimal(number) / 10), "station": stations[station],
                ])
        }
        return [
            reading("Reading", "a", 1, 0), reading("Reading", "b", 2, 1), reading("Special", "c", 6, 0),
            make("Reading", context, ["name": "d"]),
        ]
    }

    /// The names of what a predicate finds, which count and IDs agree with.
    private static func found(
        _ format: String, _ context: NSManagedObjectContext,
        _ change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
    ) throws -> String {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Reading")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        change(request)
        let objects = try context.fetch(request)
        #expect(try context.count(for: request) == objects.count, "\(format)")
        return objects.map { $0.value(forKey: "name") as? String ?? "-" }.joined()
    }

    private static let cases: [(String, String)] = [
        ("date == max(date)", "c"), ("date == min(date)", "a"), ("max(date) == date", "c"),
        ("date == date.@max", "c"), ("date == @min.date", "a"), ("date < max(date)", "ab"),
        ("level == max:(level)", "c"), ("level > average(level)", "c"), ("level < average(level)", "ab"),
        ("level < level.@avg", "ab"), ("level * 9 == sum(level)", "a"), ("level + 2 > level.@sum", ""),
        ("level == count(level) - 1", "b"), ("level + 1 == level.@count", "b"), ("value == max(value)", "c"),
        ("weight == max(weight)", "c"), ("price == max(price)", "c"), ("price == min(price)", "a"),
        ("name == max(name)", "d"), ("name == min(name)", "a"), ("NOT (date == max(date))", "ab"),
        ("date != max(date)", "ab"), ("name == 'a' AND date == max(date)", ""),
        ("name == 'a' OR date == max(date)", "ac"), ("station.height == max(station.height)", "b"),
        ("station.height == station.height.@min", "ac"), ("nothing == max(nothing)", ""),
        ("nothing == nothing.@max", ""), ("NOT (nothing == max(nothing))", ""), ("nothing != min(nothing)", ""),
        ("date BETWEEN {min(date), max(date)}", "abc"), ("date IN {min(date), max(date)}", "ac"),
        ("level == max(level) - 4", "b"), ("TERNARY(level == max(level), 1, 0) == 1", "c"),
    ]

    /// Calls the body with a context in which the readings are, wherever they are kept.
    private static func with(
        _ kind: StoreKind, _ place: Place, _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let store = try TestStore(kind, model())
        let root = store.context()
        try root.performAndWait {
            let readings = fill(root)
            if place != .unsaved && place != .childOfUnsaved { try root.save() }
            guard place == .changed || place == .grandchild else { return }
            // What is stored is not what the context has.
            readings[2].setValue(Date(timeIntervalSinceReferenceDate: 0), forKey: "date")
            let other = make("Reading", root, ["name": "z", "date": Date(timeIntervalSinceReferenceDate: 90)])
            try root.save()
            readings[2].setValue(Date(timeIntervalSinceReferenceDate: 6), forKey: "date")
            root.delete(other)
        }
        if [.saved, .unsaved, .changed].contains(place) { return try root.performAndWait { try body(root) } }
        let child = ContextLine.child(of: root)
        if place != .grandchild { return try child.performAndWait { try body(child) } }
        let grandchild = ContextLine.child(of: child)
        try grandchild.performAndWait { try body(grandchild) }
    }

    @Test(arguments: StoreKind.allCases, Place.allCases)
    func oneValueOfAllObjectsIsCompared(_ kind: StoreKind, _ place: Place) throws {
        try Self.with(kind, place) { context throws in
            for (format, names) in Self.cases {
                #expect(try Self.found(format, context) == names, "\(format)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func theRequestSaysOfWhichObjects(_ kind: StoreKind) throws {
        try Self.with(kind, .saved) { context throws in
            #expect(try Self.found("date == max(date)", context) { $0.includesSubentities = false } == "b")
            #expect(try Self.found("date == max(date)", context) { $0.fetchLimit = 1 } == "c")
            let special = try Self.found("date == min(date)", context) { request in
                request.entity = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Special"]
            }
            #expect(special == "c")
            let new = make("Reading", context, ["name": "e", "date": Date(timeIntervalSinceReferenceDate: 9)])
            #expect(try Self.found("date == max(date)", context) == "e")
            #expect(try Self.found("date == max(date)", context) { $0.includesPendingChanges = false } == "c")
            context.delete(new)
            #expect(try Self.found("date == max(date)", context) == "c")
        }
    }

    /// The plan that was made while there was no value was used again: each object was compared with its own.
    @Test(arguments: StoreKind.allCases) func aValueThatWasNullIsThatOfEachFetch(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        try context.performAndWait {
            #expect(try Self.found("date == date.@max", context) == "")
            Self.fill(context)
            try context.save()
            #expect(try Self.found("date == date.@max", context) == "c")
        }
    }

    /// A plan that is used again finds the value anew.
    @Test(arguments: StoreKind.allCases) func theValueIsThatOfEachFetch(_ kind: StoreKind) throws {
        try Self.with(kind, .saved) { context throws in
            for number in 10..<13 {
                for format in ["date == max(date)", "date == date.@max"] {
                    let date = Date(timeIntervalSinceReferenceDate: Double(number))
                    let new = make("Reading", context, ["name": "n\(number)", "date": date])
                    try context.save()
                    #expect(try Self.found(format, context) == "n\(number)", "\(format)")
                    context.delete(new)
                    try context.save()
                }
            }
        }
    }

    /// Neither looks at what the context has not saved.
    @Test(arguments: StoreKind.allCases, [Place.saved, .child])
    func dictionariesAndBatchesKnowItToo(_ kind: StoreKind, _ place: Place) throws {
        try Self.with(kind, place) { context throws in
            for level in [-1, 99] { _ = make("Reading", context, ["name": "new", "level": level]) }
            let request = NSFetchRequest<NSDictionary>(entityName: "Reading")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["name"]
            request.predicate = NSPredicate(format: "level == max(level)")
            #expect(try context.fetch(request).compactMap { $0["name"] as? String } == ["c"])
            let update = NSBatchUpdateRequest(entityName: "Reading")
            update.predicate = NSPredicate(format: "level == min(level)")
            update.propertiesToUpdate = ["name": "least"]
            update.resultType = .updatedObjectsCountResultType
            let result = try context.execute(update) as? NSBatchUpdateResult
            #expect(result?.result as? Int == 1)
            context.reset()
            context.parent?.performAndWait { context.parent?.reset() }
            #expect(try Self.found("name == 'least'", context) == "least")
        }
    }

    /// A controller does not fetch again: changed objects are compared with the value that its fetch found.
    @Test(arguments: StoreKind.allCases) func aControllerKeepsTheValueOfItsFetch(_ kind: StoreKind) throws {
        try Self.with(kind, .saved) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Reading")
            request.predicate = NSPredicate(format: "level == max(level)")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            // It hears of changes as long as somebody does.
            let delegate = Listener()
            controller.delegate = delegate
            try controller.performFetch()
            func names() -> String {
                (controller.fetchedObjects ?? []).map { $0.value(forKey: "name") as? String ?? "-" }.joined()
            }
            #expect(names() == "c")
            for (name, level) in [("e", 3), ("f", 6), ("g", 9)] {
                _ = make("Reading", context, ["name": name, "level": level])
            }
            context.processPendingChanges()
            #expect(names() == "cf")
            try controller.performFetch()
            #expect(names() == "g")
            withExtendedLifetime(delegate) {}
        }
    }

    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {}

    /// Over a to-many relationship each object has its own value, and so it has when it is evaluated by itself.
    @Test(arguments: StoreKind.allCases) func membersAndObjectsKeepTheirOwnValue(_ kind: StoreKind) throws {
        try Self.with(kind, .saved) { context throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Station")
            request.predicate = NSPredicate(format: "readings.@max.level == 2 AND max(readings.level) == 2")
            #expect(try context.fetch(request).map { $0.value(forKey: "height") as? Int } == [200])
            request.predicate = NSPredicate(format: "SUBQUERY(readings, $r, $r.level == 2).@count == 1")
            #expect(try context.fetch(request).map { $0.value(forKey: "height") as? Int } == [200])
            let readings = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Reading"))
            #expect(readings.filter { NSPredicate(format: "max(level) == level").evaluate(with: $0) }.count >= 3)
        }
    }
}

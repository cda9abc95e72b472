import CoreData
import Foundation
import Strata
import Testing

/// Insertions, updates and deletions that are not saved, under every option and result type of a fetch: what must come
/// out is worked out from two small arrays, of what is stored and of what the context has.
@Suite struct PendingChangesTests {
    enum Pending: String, CaseIterable, Sendable {
        case nothing
        case inserted
        case updated
        case deleted
        case everything
    }

    struct Row: Equatable {
        var name: String
        var age: Int
        var team: String
        var isSenior = false
    }

    /// What a request asks for.
    struct Options: CustomStringConvertible {
        var predicate: String?
        var sort: Bool?
        var limit = 0
        var offset = 0
        var batchSize = 0
        var includesPending = true
        var includesSubentities = true
        var asFaults = true

        var description: String {
            "\(predicate ?? "all"), sorted \(sort.map { $0 ? "up" : "down" } ?? "-"), limit \(limit), offset \(offset), "
                + "batches of \(batchSize), pending \(includesPending), subentities \(includesSubentities), "
                + "faults \(asFaults)"
        }

        /// Every combination, with one of two batch sizes in turn.
        static let all: [Options] = {
            var all: [Options] = []
            for predicate in [nil, "age > 18", "team.title == 'y'", "name IN {'a', 'd', 'g', 'h'} AND age < 45"] {
                for sort in [nil, true, false] {
                    for (limit, offset) in [(0, 0), (2, 0), (0, 1), (2, 1), (3, 4), (0, 50)] {
                        for flags in 0..<8 {
                            all.append(
                                Options(
                                    predicate: predicate, sort: sort, limit: limit, offset: offset,
                                    batchSize: all.count % 2 * 2, includesPending: flags & 1 == 0,
                                    includesSubentities: flags & 2 == 0, asFaults: flags & 4 == 0))
                        }
                    }
                }
            }
            return all
        }()

        func apply<T>(to request: NSFetchRequest<T>) -> NSFetchRequest<T> {
            request.predicate = predicate.map { NSPredicate(format: $0) }
            request.sortDescriptors = sort.map { [NSSortDescriptor(key: "age", ascending: $0)] }
            request.fetchLimit = limit
            request.fetchOffset = offset
            request.fetchBatchSize = batchSize
            request.includesSubentities = includesSubentities
            request.returnsObjectsAsFaults = asFaults
            return request
        }

        func expected(_ rows: [Row]) -> [Row] {
            var rows = rows.filter { row in
                switch predicate {
                case "age > 18": row.age > 18
                case "team.title == 'y'": row.team == "y"
                case nil: true
                default: "adgh".contains(row.name) && row.age < 45
                }
            }
            if !includesSubentities { rows.removeAll(where: \.isSenior) }
            if let sort { rows.sort { ($0.age < $1.age) == sort } }
            rows.removeFirst(min(offset, rows.count))
            return limit == 0 ? rows : Array(rows.prefix(limit))
        }
    }

    static let stored = [
        Row(name: "a", age: 10, team: "x"), Row(name: "b", age: 20, team: "y"), Row(name: "c", age: 30, team: "x"),
        Row(name: "d", age: 40, team: "y", isSenior: true), Row(name: "e", age: 50, team: "y"),
        Row(name: "f", age: 60, team: "x", isSenior: true),
    ]

    /// What the context has after the changes.
    static func current(_ pending: Pending) -> [Row] {
        var rows = stored
        if pending == .updated || pending == .everything {
            rows[0].age = 45
            rows[3] = Row(name: "d", age: 15, team: "x", isSenior: true)
            rows[4].team = "x"
        }
        if pending == .deleted || pending == .everything { rows.removeAll { $0.name == "b" || $0.name == "f" } }
        if pending == .inserted || pending == .everything {
            rows += [Row(name: "g", age: 35, team: "y"), Row(name: "h", age: 5, team: "y", isSenior: true)]
        }
        return rows
    }

    private static func model() throws -> NSManagedObjectModel {
        let member = GraphModel.entity("Member")
        let senior = GraphModel.entity("Senior")
        let team = GraphModel.entity("Team")
        let teamOf = GraphModel.relationship("team", to: team)
        let members = GraphModel.relationship("members", to: member, toMany: true)
        GraphModel.link(teamOf, members)
        member.properties = [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("age", .integer32AttributeType),
            teamOf,
        ]
        member.subentities = [senior]
        let age = try #require(member.attributesByName["age"])
        member.indexes = [
            NSFetchIndexDescription(
                name: "byAge", elements: [NSFetchIndexElementDescription(property: age, collationType: .binary)])
        ]
        team.properties = [GraphModel.attribute("title", .stringAttributeType), members]
        let model = NSManagedObjectModel()
        model.entities = [member, senior, team]
        return model
    }

    /// A store with the stored rows, and a context with the changes.
    private static func filled(_ kind: StoreKind, _ pending: Pending) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind, try model())
        let context = store.context()
        try context.performAndWait {
            var teams: [String: NSManagedObject] = [:]
            for title in ["x", "y"] {
                let team = insert("Team", context)
                team.setValue(title, forKey: "title")
                teams[title] = team
            }
            func set(_ object: NSManagedObject, _ row: Row) {
                object.setValue(row.name, forKey: "name")
                object.setValue(row.age, forKey: "age")
                object.setValue(teams[row.team], forKey: "team")
            }
            var objects: [String: NSManagedObject] = [:]
            for row in stored {
                let object = insert(row.isSenior ? "Senior" : "Member", context)
                set(object, row)
                objects[row.name] = object
            }
            try context.save()
            context.refreshAllObjects()
            let current = current(pending)
            for (name, object) in objects {
                guard let row = current.first(where: { $0.name == name }) else {
                    context.delete(object)
                    continue
                }
                if row != stored.first(where: { $0.name == name }) { set(object, row) }
            }
            for row in current where objects[row.name] == nil {
                set(insert(row.isSenior ? "Senior" : "Member", context), row)
            }
        }
        return (store, context)
    }

    private func names(_ objects: [NSManagedObject]) -> [String] {
        objects.map { $0.value(forKey: "name") as? String ?? "?" }
    }

    private func changes(_ context: NSManagedObjectContext) -> [Int] {
        [context.insertedObjects.count, context.updatedObjects.count, context.deletedObjects.count]
    }

    // MARK: The three forms that see changes

    @Test(arguments: StoreKind.allCases, Pending.allCases)
    func objectsIDsAndCounts(_ kind: StoreKind, _ pending: Pending) throws {
        let (store, context) = try Self.filled(kind, pending)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait {
            let before = changes(context)
            for options in Options.all {
                let rows = options.expected(options.includesPending ? Self.current(pending) : Self.stored)
                let objects = options.apply(to: NSFetchRequest<NSManagedObject>(entityName: "Member"))
                objects.includesPendingChanges = options.includesPending
                let found = try context.fetch(objects)
                #expect(names(found) == rows.map(\.name), "\(options)")
                let ids = options.apply(to: NSFetchRequest<NSManagedObjectID>(entityName: "Member"))
                ids.resultType = .managedObjectIDResultType
                ids.includesPendingChanges = options.includesPending
                #expect(try context.fetch(ids) == found.map(\.objectID), "\(options)")
                let count = options.apply(to: NSFetchRequest<NSNumber>(entityName: "Member"))
                count.resultType = .countResultType
                count.includesPendingChanges = options.includesPending
                #expect(try context.fetch(count) == [NSNumber(value: rows.count)], "\(options)")
                #expect(try context.count(for: objects) == rows.count, "\(options)")
                // Whatever is asked for, objects have what the context made of them.
                let current = Self.current(pending)
                for object in found {
                    guard let row = current.first(where: { $0.name == object.value(forKey: "name") as? String }) else {
                        #expect(object.isDeleted && !options.includesPending)
                        continue
                    }
                    #expect(object.value(forKey: "age") as? Int == row.age, "\(options)")
                }
            }
            #expect(changes(context) == before)
        }
    }

    @Test(arguments: StoreKind.allCases, Pending.allCases)
    func seniorsAlone(_ kind: StoreKind, _ pending: Pending) throws {
        let (store, context) = try Self.filled(kind, pending)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Senior")
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
            let expected = Self.current(pending).filter(\.isSenior).sorted { $0.age < $1.age }.map(\.name)
            #expect(names(try context.fetch(request)) == expected)
            request.predicate = NSPredicate(format: "age < 30")
            let young = Self.current(pending).filter { $0.isSenior && $0.age < 30 }.sorted { $0.age < $1.age }.map(
                \.name)
            #expect(names(try context.fetch(request)) == young)
            #expect(try context.count(for: request) == young.count)
        }
    }

    // MARK: Dictionaries show what is stored

    @Test(arguments: StoreKind.allCases, Pending.allCases)
    func dictionariesAreOfWhatIsStored(_ kind: StoreKind, _ pending: Pending) throws {
        let (store, context) = try Self.filled(kind, pending)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait {
            for options in Options.all {
                let request = options.apply(to: NSFetchRequest<NSDictionary>(entityName: "Member"))
                request.resultType = .dictionaryResultType
                request.includesPendingChanges = false
                request.propertiesToFetch = ["name", "age", "team.title"]
                let rows = options.expected(Self.stored)
                let found = try context.fetch(request)
                #expect(found.map { $0["name"] as? String } == rows.map(\.name), "\(options)")
                #expect(found.map { $0["age"] as? Int } == rows.map(\.age), "\(options)")
                #expect(found.map { $0["team.title"] as? String } == rows.map(\.team), "\(options)")
            }
            let groups = NSFetchRequest<NSDictionary>(entityName: "Member")
            groups.resultType = .dictionaryResultType
            let sum = NSExpressionDescription()
            sum.name = "sum"
            sum.expression = NSExpression(format: "sum:(age)")
            groups.propertiesToFetch = ["team.title", sum]
            groups.propertiesToGroupBy = ["team.title"]
            groups.sortDescriptors = [NSSortDescriptor(key: "team.title", ascending: true)]
            let found = try context.fetch(groups)
            #expect(found.map { $0["team.title"] as? String } == ["x", "y"])
            #expect(found.map { $0["sum"] as? Int } == [100, 110])
            groups.propertiesToFetch = ["team.title"]
            groups.propertiesToGroupBy = nil
            groups.returnsDistinctResults = true
            #expect(try context.fetch(groups).map { $0["team.title"] as? String } == ["x", "y"])
        }
    }

    // MARK: Other options and other ways to fetch

    @Test(arguments: StoreKind.allCases, Pending.allCases)
    func refreshingAndPrefetchingKeepChanges(_ kind: StoreKind, _ pending: Pending) throws {
        let (store, context) = try Self.filled(kind, pending)
        let other = store.context()
        try other.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Member")
            request.predicate = NSPredicate(format: "name == 'c'")
            try #require(try other.fetch(request).first).setValue(31, forKey: "age")
            try other.save()
        }
        try context.performAndWait {
            let before = changes(context)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Member")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.shouldRefreshRefetchedObjects = true
            request.relationshipKeyPathsForPrefetching = ["team", "team.members"]
            request.returnsObjectsAsFaults = false
            var expected = Self.current(pending).sorted { $0.name < $1.name }
            if let index = expected.firstIndex(where: { $0.name == "c" }) { expected[index].age = 31 }
            let found = try context.fetch(request)
            #expect(found.map { $0.value(forKey: "age") as? Int } == expected.map(\.age))
            #expect(found.map { $0.value(forKeyPath: "team.title") as? String } == expected.map(\.team))
            for object in found {
                let members = object.value(forKeyPath: "team.members") as? Set<NSManagedObject> ?? []
                let team = object.value(forKeyPath: "team.title") as? String
                #expect(Set(names(Array(members))) == Set(expected.filter { $0.team == team }.map(\.name)))
            }
            #expect(changes(context) == before)
        }
    }

    @Test(arguments: StoreKind.allCases, Pending.allCases)
    func relationshipsInMemoryAndInPredicates(_ kind: StoreKind, _ pending: Pending) throws {
        let (store, context) = try Self.filled(kind, pending)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait {
            let teams = NSFetchRequest<NSManagedObject>(entityName: "Team")
            teams.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let current = Self.current(pending)
            for team in try context.fetch(teams) {
                let title = team.value(forKey: "title") as? String ?? ""
                let own = current.filter { $0.team == title }.map(\.name)
                let request = NSFetchRequest<NSManagedObject>(entityName: "Member")
                request.predicate = NSPredicate(format: "team == %@", team)
                #expect(names(try context.fetch(request)) == own)
                #expect(try context.count(for: request) == own.count)
                request.predicate = NSPredicate(format: "team == %@ AND age > 18", team)
                request.fetchLimit = 1
                let first = current.first { $0.team == title && $0.age > 18 }
                #expect(names(try context.fetch(request)) == (first.map { [$0.name] } ?? []))
                request.predicate = NSPredicate(
                    format: "SELF IN %@", team.value(forKey: "members") as? NSSet ?? NSSet())
                request.fetchLimit = 0
                #expect(Set(names(try context.fetch(request))) == Set(own))
            }
        }
    }

    @Test(arguments: StoreKind.allCases, Pending.allCases)
    func otherWaysToFetch(_ kind: StoreKind, _ pending: Pending) async throws {
        let (store, context) = try Self.filled(kind, pending)
        let finished = LockedBox<[String]?>(nil)
        try await context.perform { () throws in
            for options in Options.all where options.includesPending {
                let request = options.apply(to: NSFetchRequest<NSManagedObject>(entityName: "Member"))
                let rows = options.expected(Self.current(pending)).map(\.name)
                #expect(names(try request.execute()) == rows, "\(options)")
                #expect(names(Array(try context.fetchLazily(request))) == rows, "lazily: \(options)")
            }
            let request = Options(predicate: "age > 18", sort: true, limit: 3)
                .apply(to: NSFetchRequest<NSManagedObject>(entityName: "Member"))
            request.affectedStores = [store.store]
            let rows = Options(predicate: "age > 18", sort: true, limit: 3).expected(Self.current(pending)).map(\.name)
            #expect(names(try context.fetch(request)) == rows)
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            try controller.performFetch()
            #expect(names(controller.fetchedObjects ?? []) == rows)
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                let names = (result.finalResult ?? []).map { $0.value(forKey: "name") as? String ?? "?" }
                finished.change { $0 = names }
            }
            try context.execute(asynchronous)
        }
        while finished.value == nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(
            finished.value
                == Options(predicate: "age > 18", sort: true, limit: 3).expected(Self.current(pending)).map(\.name))
        // A child's parent is what is stored for the child.
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        try await child.perform { () throws in
            for options in Options.all where options.includesPending {
                let request = options.apply(to: NSFetchRequest<NSManagedObject>(entityName: "Member"))
                let rows = options.expected(Self.current(pending)).map(\.name)
                #expect(names(try child.fetch(request)) == rows, "child: \(options)")
                #expect(try child.count(for: request) == rows.count, "child: \(options)")
            }
        }
    }
}

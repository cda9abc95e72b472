import CoreData
import Foundation
import Testing

/// Statements of Core Data's reference on requests, results controllers and stores: a second reading, where the first
/// left no test.
@Suite struct FetchStatementTests {
    private func filled(
        _ kind: StoreKind, inChild: Bool = false
    ) throws -> (TestStore, NSManagedObjectContext, [Probe]) {
        let store = try TestStore(kind, Probe.model())
        let parent = store.context()
        let context = inChild ? ContextLine.child(of: parent) : parent
        let probes = try context.performAndWait { () throws in
            let probes = (0..<6).map { number in
                let probe = Probe(context: context)
                probe.name = "p\(number)"
                probe.count = Int32(number)
                return probe
            }
            try context.save()
            return probes
        }
        if inChild { try parent.performAndWait { () throws in try parent.save() } }
        return (store, context, probes)
    }

    private func request<T>(_ type: T.Type) -> NSFetchRequest<T> {
        let request = NSFetchRequest<T>(entityName: "Probe")
        request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
        return request
    }

    /// IDs of unsaved objects are temporary; objects that are deleted have none.
    @Test(arguments: StoreKind.allCases, [false, true])
    func idsComeOfUnsavedObjectsToo(_ kind: StoreKind, inChild: Bool) throws {
        let (store, context, probes) = try filled(kind, inChild: inChild)
        try context.performAndWait { () throws in
            let new = Probe(context: context)
            new.count = -1
            context.delete(probes[0])
            probes[1].count = 99
            let ids = request(NSManagedObjectID.self)
            ids.resultType = .managedObjectIDResultType
            let all = try context.fetch(ids)
            #expect(all == [new.objectID] + probes[2...5].map(\.objectID) + [probes[1].objectID])
            #expect(all[0].isTemporaryID)
            ids.includesPendingChanges = false
            #expect(try context.fetch(ids) == probes.map(\.objectID))
            let objects = request(Probe.self)
            objects.includesPendingChanges = false
            objects.predicate = NSPredicate(format: "count == 1")
            // What the store has decides; the object is the changed one.
            #expect(try context.fetch(objects) == [probes[1]] && probes[1].count == 99)
            #expect(try context.count(for: objects) == 1)
        }
        withExtendedLifetime(store) {}
    }

    /// Dictionaries say what is stored.
    @Test(arguments: StoreKind.allCases, [false, true])
    func dictionariesDoNotKnowOfUnsavedChanges(_ kind: StoreKind, inChild: Bool) throws {
        let (store, context, probes) = try filled(kind, inChild: inChild)
        try context.performAndWait { () throws in
            Probe(context: context).count = 50
            probes[5].count = 60
            context.delete(probes[0])
            let rows = request(NSDictionary.self)
            rows.resultType = .dictionaryResultType
            rows.propertiesToFetch = ["count"]
            rows.includesPendingChanges = false
            #expect(try context.fetch(rows).map { $0["count"] as? Int } == [0, 1, 2, 3, 4, 5])
        }
        withExtendedLifetime(store) {}
    }

    /// Without `propertiesToFetch` a dictionary has what the row has: attributes, and IDs of to-one relationships.
    @Test(arguments: StoreKind.allCases, [false, true])
    func dictionariesHaveWholeRows(_ kind: StoreKind, inChild: Bool) throws {
        let (store, context, probes) = try filled(kind, inChild: inChild)
        try context.performAndWait { () throws in
            probes[0].parent = probes[1]
            probes[0].peers = [probes[2]]
            probes[0].note = "transient"
            try context.save()
            if let parent = context.parent { try parent.performAndWait { () throws in try parent.save() } }
            let rows = request(NSDictionary.self)
            rows.resultType = .dictionaryResultType
            rows.fetchLimit = 1
            let row = try #require(try context.fetch(rows).first as? [String: Any])
            #expect(Set(row.keys) == ["name", "count", "parent"])
            #expect(row["name"] as? String == "p0" && row["parent"] as? NSManagedObjectID == probes[1].objectID)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func offsetsLimitsAndBatchesCut(_ kind: StoreKind, inChild: Bool) throws {
        let (store, context, probes) = try filled(kind, inChild: inChild)
        try context.performAndWait { () throws in
            let objects = request(Probe.self)
            for (offset, limit, batch) in [(0, 0, 2), (4, 0, 0), (4, 9, 3), (1, 2, 1), (6, 0, 0), (60, 5, 2)] {
                (objects.fetchOffset, objects.fetchLimit, objects.fetchBatchSize) = (offset, limit, batch)
                let expected = probes.dropFirst(offset).prefix(limit == 0 ? 6 : limit)
                #expect(try context.fetch(objects) == Array(expected))
                objects.fetchBatchSize = 0
                #expect(try context.count(for: objects) == expected.count)
            }
        }
        withExtendedLifetime(store) {}
    }

    /// Objects without values are faults that read the store when they are asked.
    @Test(arguments: StoreKind.allCases) func propertyValuesMayComeLater(_ kind: StoreKind) throws {
        let (store, context, _) = try filled(kind)
        let reader = store.context()
        try reader.performAndWait { () throws in
            let objects = request(Probe.self)
            objects.includesPropertyValues = false
            objects.returnsObjectsAsFaults = true
            let found = try reader.fetch(objects)
            #expect(found.allSatisfy(\.isFault) && found.count == 6)
            #expect(found[3].name == "p3" && !found[3].isFault && found[4].isFault)
            let whole = request(Probe.self)
            whole.returnsObjectsAsFaults = false
            #expect(try reader.fetch(whole).allSatisfy { !$0.isFault } && found[5].takeCalls() == ["awakeFromFetch"])
        }
        withExtendedLifetime(context) {}
    }

    /// Refetched objects get what others saved; what is unsaved here stays.
    @Test(arguments: StoreKind.allCases) func refetchedObjectsAreRefreshedOnlyIfAsked(_ kind: StoreKind) throws {
        let (store, context, probes) = try filled(kind)
        let other = store.context()
        try context.performAndWait { () throws in
            _ = probes.map(\.name)
            probes[1].name = "mine"
            try other.performAndWait { () throws in
                for probe in try other.fetch(request(Probe.self)) { probe.name = "theirs" }
                try other.save()
            }
            let objects = request(Probe.self)
            #expect(try context.fetch(objects)[0].name == "p0")
            objects.shouldRefreshRefetchedObjects = true
            #expect(try context.fetch(objects).prefix(3).map(\.name) == ["theirs", "mine", "theirs"])
            #expect(context.updatedObjects == [probes[1]])
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func contradictionsInRequestsAreErrors(_ kind: StoreKind, inChild: Bool) throws {
        let (store, context, _) = try filled(kind, inChild: inChild)
        let changes: [(String, (NSFetchRequest<NSDictionary>) -> Void)] = [
            ("to-many", { $0.propertiesToFetch = ["peers"] }), ("unknown", { $0.propertiesToFetch = ["nothing"] }),
            ("not grouped", { ($0.propertiesToFetch, $0.propertiesToGroupBy) = (["name", "count"], ["name"]) }),
            ("grouped objects", { ($0.resultType, $0.propertiesToGroupBy) = (.managedObjectResultType, ["name"]) }),
            ("prefetching", { $0.relationshipKeyPathsForPrefetching = ["nobody"] }),
            ("no entity", { $0.entity = NSEntityDescription() }),
            ("transient", { $0.propertiesToFetch = ["note"] }),
            ("sorted by to-many", { $0.sortDescriptors = [NSSortDescriptor(key: "peers", ascending: true)] }),
            ("having without groups", { $0.havingPredicate = NSPredicate(format: "count > 1") }),
        ]
        context.performAndWait {
            for (name, change) in changes {
                let rows = NSFetchRequest<NSDictionary>(entityName: "Probe")
                rows.resultType = .dictionaryResultType
                change(rows)
                #expect(throws: (any Error).self, "\(name)") { _ = try context.fetch(rows) }
            }
        }
        withExtendedLifetime(store) {}
    }

    /// A controller finds its objects by index paths and back, and sections by their titles.
    @Test(arguments: StoreKind.allCases, [false, true])
    func aControllerFindsObjectsAndSections(_ kind: StoreKind, inChild: Bool) throws {
        let (store, context, probes) = try filled(kind, inChild: inChild)
        try context.performAndWait { () throws in
            for (probe, name) in zip(probes, ["ape", "bee", "bee", "cat", "cat", "cat"]) { probe.name = name }
            try context.save()
            let named = NSFetchRequest<Probe>(entityName: "Probe")
            named.sortDescriptors = ["name", "count"].map { NSSortDescriptor(key: $0, ascending: true) }
            let results = NSFetchedResultsController(
                fetchRequest: named, managedObjectContext: context, sectionNameKeyPath: "name", cacheName: nil)
            try results.performFetch()
            #expect(results.sections?.map(\.name) == ["ape", "bee", "cat"])
            #expect(results.sections?.map(\.numberOfObjects) == [1, 2, 3])
            #expect(results.sectionIndexTitles == ["A", "B", "C"])
            #expect((0..<3).map { results.section(forSectionIndexTitle: ["A", "B", "C"][$0], at: $0) } == [0, 1, 2])
            #expect(results.object(at: IndexPath(indexes: [2, 1])) === probes[4])
            #expect(results.indexPath(forObject: probes[2]) == IndexPath(indexes: [1, 1]))
            let stranger = Probe(context: context)
            #expect(results.indexPath(forObject: stranger) == nil)
            context.delete(stranger)
            #expect(results.fetchRequest === named && results.sectionNameKeyPath == "name" && results.cacheName == nil)
            named.fetchLimit = 3
            named.fetchOffset = 2
            // What the request says counts from the next fetch on.
            #expect(results.fetchedObjects?.count == 6)
            try results.performFetch()
            #expect(results.fetchedObjects == Array(probes[2...4]) && results.sections?.map(\.name) == ["bee", "cat"])
            (named.fetchLimit, named.fetchOffset) = (0, 0)
            // Sections in another order than the objects are an error.
            named.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
            probes[0].name = "cat"
            #expect(throws: (any Error).self) { try results.performFetch() }
        }
        withExtendedLifetime(store) {}
    }
}

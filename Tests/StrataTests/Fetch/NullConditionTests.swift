import CoreData
import Foundation
import Testing

/// What fetches find where values are null: what SQL finds. The table is in `docs/fetching.md`.
@Suite struct NullConditionTests {
    /// A condition, and the names of the objects it is true of; "-" has no name.
    struct Condition: CustomTestStringConvertible, Sendable {
        let format: String
        let found: String

        init(_ format: String, _ found: String) {
            (self.format, self.found) = (format, found)
        }

        var testDescription: String { format }
    }

    /// Of x (1), y (2, child of x), z (1, child of -) and - (no number, child of z).
    static let conditions = [
        Condition("name == 'x'", "x"), Condition("name != 'x'", "yz"), Condition("NOT (name == 'x')", "yz"),
        Condition("NOT (name != 'x')", "x"), Condition("NOT NOT (name != 'x')", "yz"),
        Condition("name == nil", "-"), Condition("name != nil", "xyz"), Condition("NOT (name == nil)", "xyz"),
        Condition("NOT (name != nil)", "-"), Condition("name < nil", ""), Condition("NOT (name < nil)", ""),
        Condition("name < 'y'", "x"), Condition("NOT (name < 'y')", "yz"), Condition("NOT (name >= 'y')", "x"),
        Condition("'x' != name", "yz"), Condition("NOT ('x' == name)", "yz"),
        Condition("name BEGINSWITH 'x'", "x"), Condition("NOT (name BEGINSWITH 'x')", "yz"),
        Condition("NOT (name ENDSWITH 'x')", "yz"), Condition("NOT (name CONTAINS 'x')", "yz"),
        Condition("NOT (name LIKE 'x*')", "yz"), Condition("NOT (name MATCHES 'x.*')", "yz"),
        Condition("name !=[c] 'X'", "yz"), Condition("NOT (name ==[cd] 'X')", "yz"),
        Condition("name IN {'x', 'y'}", "xy"), Condition("NOT (name IN {'x', 'y'})", "z"),
        Condition("count BETWEEN {1, 1}", "xz"), Condition("NOT (count BETWEEN {1, 1})", "y"),
        Condition("NOT (count BETWEEN {parent.count, 0})", "xyz"), Condition("count BETWEEN {parent.count, 1}", ""),
        Condition("NOT (count BETWEEN {3, parent.count})", "xyz"),
        Condition("count != 1", "y"), Condition("NOT (count == 1)", "y"), Condition("NOT (count > 1)", "xz"),
        Condition("count + 1 != 2", "y"), Condition("NOT (count + 1 == 2)", "y"),
        Condition("NOT (name == 'x' AND count == 1)", "yz"), Condition("NOT (name == 'x' OR count == 1)", "y"),
        Condition("NOT (name == 'x' AND parent == nil)", "yz-"), Condition("name != 'x' OR count == nil", "yz-"),
        Condition("parent.name == 'x'", "y"), Condition("parent.name != 'y'", "y-"),
        Condition("NOT (parent.name == 'y')", "y-"), Condition("parent.name == nil", "xz"),
        Condition("parent.name != nil", "y-"), Condition("parent.parent.name != 'q'", "z"),
        Condition("parent == nil", "x"), Condition("parent != nil", "yz-"),
        Condition("name == parent.name", ""), Condition("name != parent.name", "y"),
        Condition("NOT (name == parent.name)", "y"), Condition("count == count", "xyz"),
        Condition("ANY children.name == 'y'", "x"), Condition("ANY children.name != 'q'", "x-"),
        Condition("NOT (ANY children.name == 'y')", "yz-"), Condition("NONE children.name == 'y'", "yz-"),
        Condition("NONE children.name != 'q'", "yz"), Condition("ANY children.name == nil", "z"),
        Condition("ALL children.name != 'q'", "xy-"), Condition("NOT (ALL children.name != 'q')", "z"),
        Condition("ALL children.name == nil", "yz"), Condition("ANY parent.children.name != 'y'", "z"),
        Condition("SUBQUERY(children, $c, $c.name != 'q').@count == 0", "yz"),
        Condition("SUBQUERY(children, $c, NOT ($c.name == 'q')).@count > 0", "x-"),
        Condition("children.@count != 1", "y"), Condition("NOT (children.@count == 1)", "y"),
        Condition("parent.children.@count != 7", "yz-"), Condition("NOT (parent.children.@count == 7)", "yz-"),
        Condition("SUBQUERY(parent.children, $c, TRUEPREDICATE).@count != 0", "yz-"),
        Condition("SUBQUERY(parent.children, $c, TRUEPREDICATE).@count == 0", ""),
        Condition("0 != SUBQUERY(parent.children, $c, TRUEPREDICATE).@count", "yz-"),
        Condition("SUBQUERY(parent.children, $c, $c.name == 'q').@count < 2", "yz-"),
        Condition("NOT (SUBQUERY(parent.children, $c, TRUEPREDICATE).@count < 2)", ""),
        Condition("NOT (SUBQUERY(parent.children, $c, TRUEPREDICATE).@count == 0)", "yz-"),
        Condition("NOT (SUBQUERY(parent.children, $c, TRUEPREDICATE).@count IN {1, 2})", ""),
        Condition("SUBQUERY(SUBQUERY(parent.children, $c, TRUEPREDICATE), $d, TRUEPREDICATE).@count != 0", "yz-"),
        Condition(
            "SUBQUERY(children, $c, SUBQUERY($c.parent.children, $d, TRUEPREDICATE).@count != 0).@count > 0", "xz-"),
        Condition(
            "SUBQUERY(children, $c, SUBQUERY($c.parent.parent.children, $d, TRUEPREDICATE).@count != 0).@count > 0",
            "z-"),
        Condition("children.@max.count != 1", "x"), Condition("NOT (children.@max.count == 1)", "x"),
        Condition("TERNARY(name != 'x', 1, 0) == 1", "yz"),
    ]

    /// The objects, not saved yet.
    private static func family(_ context: NSManagedObjectContext) -> [Probe] {
        let probes = (0..<4).map { _ in Probe(context: context) }
        for (probe, name) in zip(probes, ["x", "y", "z"]) { probe.name = name }
        (probes[0].count, probes[1].count, probes[2].count) = (1, 2, 1)
        probes[3].setValue(nil, forKey: "count")
        (probes[1].parent, probes[2].parent, probes[3].parent) = (probes[0], probes[3], probes[2])
        return probes
    }

    private static func found(_ predicate: NSPredicate, _ context: NSManagedObjectContext) throws -> String {
        let request = NSFetchRequest<Probe>(entityName: "Probe")
        request.predicate = predicate
        let names = try context.fetch(request).map { $0.name ?? "-" }
        #expect(try context.count(for: request) == names.count, "\(predicate.formatString)")
        return ["x", "y", "z", "-"].filter(names.contains).joined()
    }

    @Test(arguments: StoreKind.allCases) func fetchesFindWhatSQLFinds(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        func check(_ context: NSManagedObjectContext, _ where: String) throws {
            for condition in Self.conditions {
                let found = try Self.found(NSPredicate(format: condition.format), context)
                #expect(found == condition.found, "\(`where`): \(condition.format)")
            }
        }
        try context.performAndWait {
            _ = Self.family(context)
            try check(context, "unsaved")
            try context.save()
            try check(context, "saved")
        }
        let fresh = store.shortLivedContext()
        try fresh.performAndWait { try check(fresh, "fresh") }
        try child.performAndWait { try check(child, "child") }
    }

    /// Rows of many blocks, scanned by columns and by an index, and objects in the way.
    @Test(arguments: StoreKind.allCases) func scansLeaveNullOut(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        try context.performAndWait {
            let probes = (0..<2_000).map { number in
                let probe = Probe(context: context)
                probe.name = number % 4 == 0 ? nil : "n\(number % 4)"
                if number > 0 { probe.setValue(number % 3 == 0 ? nil : number % 3, forKey: "count") }
                return probe
            }
            for (number, probe) in probes.enumerated() where number % 5 == 0 { probe.parent = probes[number / 5] }
            try context.save()
            func count(_ format: String, _ isFound: (Int) -> Bool) throws {
                let request = NSFetchRequest<Probe>(entityName: "Probe")
                request.predicate = NSPredicate(format: format)
                #expect(try context.count(for: request) == (0..<2_000).count(where: isFound), "\(format)")
            }
            try count("name != 'n1'") { $0 % 4 > 1 }
            try count("NOT (name == 'n1')") { $0 % 4 > 1 }
            try count("NOT (name BEGINSWITH 'n1') AND count != 1") { $0 % 4 > 1 && $0 % 3 == 2 }
            try count("parent.name != 'n1'") { $0 % 5 == 0 && $0 / 5 % 4 > 1 }
            probes[2].name = nil
            try count("name != 'n1'") { $0 % 4 > 1 && $0 != 2 }
        }
    }

    @Test(arguments: StoreKind.allCases) func comparisonsWithObjectsLeaveNullOut(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        try context.performAndWait {
            let probes = Self.family(context)
            try context.save()
            #expect(try Self.found(NSPredicate(format: "parent != %@", probes[0]), context) == "z-")
            #expect(try Self.found(NSPredicate(format: "NOT (parent == %@)", probes[0]), context) == "z-")
            #expect(try Self.found(NSPredicate(format: "NOT (parent IN %@)", [probes[0], probes[2]]), context) == "z")
            #expect(try Self.found(NSPredicate(format: "SELF != %@", probes[3]), context) == "xyz")
            #expect(try Self.found(NSPredicate(format: "NOT (name IN %@)", [String]()), context) == "xyz-")
            #expect(try Self.found(NSPredicate(format: "NOT (children CONTAINS %@)", probes[1]), context) == "yz-")
            #expect(try Self.found(NSPredicate(format: "NOT (%@ IN parent.children)", probes[1]), context) == "xz-")
        }
    }

    /// Filtering and evaluating know no third value, as on Apple's platforms.
    @Test func evaluatingKnowsTwoValues() throws {
        let store = try TestStore(.memory, Probe.model())
        let context = store.context()
        context.performAndWait {
            let probes = Self.family(context)
            for format in ["name != 'x'", "NOT (name == 'x')", "count != 1"] {
                let predicate = NSPredicate(format: format)
                #expect(predicate.evaluate(with: probes[3]), "\(format)")
                #expect((probes as NSArray).filtered(using: predicate).contains { $0 as? Probe === probes[3] })
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func controllersGoByWhatTheirFetchFinds(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        try context.performAndWait {
            let probes = Self.family(context)
            try context.save()
            let request = NSFetchRequest<Probe>(entityName: "Probe")
            request.predicate = NSPredicate(format: "name != 'x'")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            // Without a delegate nothing is followed.
            let follower = Follower()
            controller.delegate = follower
            try controller.performFetch()
            #expect(controller.fetchedObjects == [probes[1], probes[2]])
            probes[1].name = nil
            context.processPendingChanges()
            #expect(controller.fetchedObjects == [probes[2]])
            probes[3].name = "a"
            context.processPendingChanges()
            #expect(controller.fetchedObjects == [probes[3], probes[2]])
            withExtendedLifetime(follower) {}
        }
    }

    private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    }

    @Test(arguments: StoreKind.allCases) func batchesAndGroupsGoByThem(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let context = store.context()
        try context.performAndWait {
            _ = Self.family(context)
            try context.save()
            let groups = NSFetchRequest<NSDictionary>(entityName: "Probe")
            groups.resultType = .dictionaryResultType
            groups.propertiesToFetch = ["name"]
            groups.propertiesToGroupBy = ["name"]
            groups.havingPredicate = NSPredicate(format: "NOT (max:(count) == 1)")
            #expect(try context.fetch(groups).map { $0["name"] as? String } == ["y"])
            let update = NSBatchUpdateRequest(entityName: "Probe")
            update.predicate = NSPredicate(format: "name != 'x'")
            update.propertiesToUpdate = ["count": 9]
            update.resultType = .updatedObjectsCountResultType
            let result = try context.execute(update) as? NSBatchUpdateResult
            #expect(result?.result as? Int == 2)
        }
    }
}

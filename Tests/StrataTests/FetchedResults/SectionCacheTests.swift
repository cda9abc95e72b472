import CoreData
import Foundation
import Testing

/// Controllers whose caches have one name and whose requests are not the same. One got the sections of the other where
/// they differed in nothing but the stores that they ask, or the code that they sort by.
@Suite struct SectionCacheTests {
    /// Two stores of three employees each, one of them a manager.
    private final class Fixture {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let stores: [NSPersistentStore]
        let context = NSManagedObjectContext(.privateQueue)
        let cache = UUID().uuidString

        init(_ kind: StoreKind) throws {
            stores = try (0..<2).map { [coordinator] _ in
                let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-test-\(UUID())")
                return try coordinator.addPersistentStore(
                    ofType: kind == .memory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil,
                    at: kind == .memory ? nil : url, options: [StrataDurabilityOption: "os"])
            }
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait { try fill() }
        }

        deinit {
            NSFetchedResultsController<Employee>.deleteCache(withName: cache)
            for store in stores {
                try? coordinator.remove(store)
                if let url = store.url, store.type == NSSQLiteStoreType { removeStore(at: url) }
            }
        }

        private func fill() throws {
            for (index, people) in [[("a", 1), ("B", 1), ("c", 2)], [("a", 1), ("b", 2), ("C", 2)]].enumerated() {
                for title in ["one", "two"] {
                    let department = Department(context: context)
                    department.title = title
                    context.assign(department, to: stores[index])
                    for (name, age) in people {
                        let employee = name == "a" ? Manager(context: context) : Employee(context: context)
                        (employee.name, employee.age) = (name, Int16(age + (title == "one" ? 0 : 10)))
                        employee.department = department
                        context.assign(employee, to: stores[index])
                    }
                }
            }
            try context.save()
            context.reset()
        }

        func sections(_ variant: Variant, cache: String?) throws -> [String] {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.sortDescriptors = [
                NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "name", ascending: true),
            ]
            let key = try variant.change(request, self) ?? "age"
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: key, cacheName: cache)
            try results.performFetch()
            let sections = results.sections ?? []
            #expect(sections.reduce(0) { $0 + $1.numberOfObjects } == results.fetchedObjects?.count)
            return sections.map { "\($0.name): \($0.numberOfObjects)" }
        }
    }

    /// A request; the function returns the key of its sections.
    private struct Variant {
        let name: String
        let change: (NSFetchRequest<Employee>, Fixture) throws -> String?

        init(_ name: String, _ change: @escaping (NSFetchRequest<Employee>, Fixture) throws -> String?) {
            (self.name, self.change) = (name, change)
        }

        static func sorted(_ name: String, _ key: String, _ first: NSSortDescriptor) -> Variant {
            Variant(name) { request, _ in
                request.sortDescriptors = [first, NSSortDescriptor(key: "name", ascending: true)]
                return key
            }
        }

        static func filtered(_ name: String, _ predicate: @escaping (Fixture) throws -> NSPredicate) -> Variant {
            Variant(name) { request, fixture in
                request.predicate = try predicate(fixture)
                return nil
            }
        }
    }

    private static func order(_ left: Any, _ right: Any) -> ComparisonResult {
        (left as? NSNumber ?? 0).compare(right as? NSNumber ?? 0)
    }

    private static func departments(_ fixture: Fixture) throws -> [Department] {
        try fetchAll(Department.self, "Department", fixture.context, NSPredicate(format: "title == 'one'"))
    }

    private static var variants: [Variant] {
        [
            Variant("plain") { _, _ in nil },
            Variant("first store") { request, fixture in
                request.affectedStores = [fixture.stores[0]]
                return nil
            },
            Variant("second store") { request, fixture in
                request.affectedStores = [fixture.stores[1]]
                return nil
            },
            .sorted("descending", "age", NSSortDescriptor(key: "age", ascending: false)),
            .sorted("by department", "department.title", NSSortDescriptor(key: "department.title", ascending: true)),
            .sorted("by name", "name", NSSortDescriptor(key: "name", ascending: true)),
            .sorted(
                "by name without case", "name",
                NSSortDescriptor(key: "name", ascending: true, selector: Selector("caseInsensitiveCompare:"))),
            .sorted(
                "by name as the Finder does", "name",
                NSSortDescriptor(key: "name", ascending: true, selector: Selector("localizedStandardCompare:"))),
            .sorted("comparator", "age", NSSortDescriptor(key: "age", ascending: true, comparator: order)),
            .sorted(
                "comparator from above", "age",
                NSSortDescriptor(key: "age", ascending: true, comparator: { order($1, $0) })),
            Variant("limit") { request, _ in
                request.fetchLimit = 4
                return nil
            },
            Variant("offset") { request, _ in
                (request.fetchLimit, request.fetchOffset) = (4, 3)
                return nil
            },
            Variant("without managers") { request, _ in
                request.includesSubentities = false
                return nil
            },
            Variant("managers") { request, _ in
                request.entity = GraphModel.company().entitiesByName["Manager"]
                return nil
            },
            .filtered("no b") { _ in NSPredicate(format: "name != 'b'") },
            .filtered("no c") { _ in NSPredicate(format: "name != 'c'") },
            .filtered("first department") { NSPredicate(format: "department == %@", try departments($0)[0]) },
            .filtered("second department") { NSPredicate(format: "department IN %@", [try departments($0)[1]]) },
            .filtered("block") { _ in NSPredicate { object, _ in (object as? Employee)?.name == "a" } },
            .filtered("another block") { _ in NSPredicate { object, _ in (object as? Employee)?.name != "a" } },
        ]
    }

    @Test(arguments: StoreKind.allCases) func noRequestGetsTheSectionsOfAnother(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        try fixture.context.performAndWait {
            let variants = Self.variants
            let right = try variants.map { try fixture.sections($0, cache: nil) }
            // Otherwise one in the place of another could not be told.
            #expect(Set(right).count > variants.count / 2)
            for (first, one) in zip(variants, right) {
                for (second, other) in zip(variants, right) {
                    // The second time from the cache, if there is one.
                    for _ in 0..<2 {
                        #expect(try fixture.sections(first, cache: fixture.cache) == one, "\(first.name)")
                    }
                    let found = try fixture.sections(second, cache: fixture.cache)
                    #expect(found == other, "\(second.name) after \(first.name)")
                }
            }
        }
    }

    /// Transient values are each context's own.
    @Test(arguments: StoreKind.allCases) func whatIsComputedIsComputedInEachContext(_ kind: StoreKind) throws {
        let fixture = try Fixture(kind)
        func sections(_ context: NSManagedObjectContext) throws -> [String]? {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
            request.fetchLimit = 1
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "nickname",
                cacheName: fixture.cache)
            try results.performFetch()
            return results.sections?.map(\.name)
        }
        let context = fixture.context
        try context.performAndWait {
            let employee = try #require(try fetchAll(Employee.self, "Employee", context, sort: "age").first)
            employee.setValue("nick", forKey: "nickname")
            employee.name = "changed"
            try context.save()
            #expect(try sections(context) == ["nick"])
            let other = NSManagedObjectContext(.privateQueue)
            other.persistentStoreCoordinator = fixture.coordinator
            try other.performAndWait { () throws in #expect(try sections(other) == [""]) }
            #expect(try sections(context) == ["nick"])
        }
    }
}

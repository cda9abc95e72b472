import CoreData
import StrataTestKit
import Testing

/// Batch requests are given objects that others have deleted, or delete while the request runs.
///
/// The rows were saved all the same, and led to nothing.
@Suite struct BatchMissingObjectTests {
    enum Way: CaseIterable, Sendable {
        case rows, dictionaries, objects
    }

    private final class World {
        let store: TestStore
        let context: NSManagedObjectContext
        let department: NSManagedObject
        private let other: NSManagedObjectContext

        init(_ kind: StoreKind, isUnique: Bool = false) throws {
            let model = GraphModel.company()
            if isUnique { model.entitiesByName["Employee"]?.uniquenessConstraints = [["name"]] }
            store = try TestStore(kind, model)
            (context, other) = (store.context(), store.context())
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let context = context
            department = try context.performAndWait {
                let department = insert("Department", context)
                insert("Employee", context).setValue("Ann", forKey: "name")
                insert("Manager", context).setValue("Max", forKey: "name")
                try context.save()
                return department
            }
        }

        func deleteElsewhere() throws {
            try other.performAndWait {
                other.delete(other.object(with: department.objectID))
                try other.save()
            }
        }

        /// Whether the request fails as it does for other values that cannot be stored.
        func isRefused(_ request: NSPersistentStoreRequest, _ key: String = "Employee.department") throws {
            let error = #expect(throws: CocoaError.self) {
                try context.performAndWait { _ = try context.execute(request) }
            }
            #expect(error?.code == .persistentStoreOperation)
            let text = error?.localizedDescription ?? ""
            #expect(text.contains(key) && text.contains("Department/p1"))
            let fresh = store.context()
            try fresh.performAndWait {
                let employees = try fetchAll(NSManagedObject.self, "Employee", fresh, sort: "name")
                #expect(employees.map { $0.text("name") } == ["Ann", "Max"])
                #expect(employees.allSatisfy { $0.objectIDs(forRelationshipNamed: "department").isEmpty })
            }
        }
    }

    private static func insertion(
        _ way: Way, _ world: World, beforeTheEnd: @escaping @Sendable () -> Void = {}
    ) -> NSBatchInsertRequest {
        nonisolated(unsafe) let department = world.department
        let names = ["Eve", "Joe", "Zoe"]
        let count = LockedBox(0)
        func next() -> String? {
            var index = 0
            count.change {
                index = $0
                $0 += 1
            }
            if index == names.count { beforeTheEnd() }
            return index < names.count ? names[index] : nil
        }
        switch way {
        case .rows:
            return NSBatchInsertRequest(
                entityName: "Employee", objects: names.map { ["name": $0, "department": department.objectID] })
        case .dictionaries:
            return NSBatchInsertRequest(entityName: "Employee") { (row: NSMutableDictionary) in
                guard let name = next() else { return true }
                row["name"] = name
                row["department"] = department.objectID
                return false
            }
        case .objects:
            return NSBatchInsertRequest(entityName: "Employee") { (object: NSManagedObject) in
                guard let name = next() else { return true }
                object.setValue(name, forKey: "name")
                object.setValue(department, forKey: "department")
                return false
            }
        }
    }

    @Test(arguments: StoreKind.allCases, Way.allCases) func inserts(_ kind: StoreKind, _ way: Way) throws {
        for isUnique in [false, true] {
            let world = try World(kind, isUnique: isUnique)
            try world.deleteElsewhere()
            try world.isRefused(Self.insertion(way, world))
        }
    }

    /// All rows have been written to the transaction, or kept for it, when the object is deleted.
    @Test(arguments: StoreKind.allCases, [Way.dictionaries, .objects]) func insertsThatAreOvertaken(
        _ kind: StoreKind, _ way: Way
    ) throws {
        for isUnique in [false, true] {
            let world = try World(kind, isUnique: isUnique)
            nonisolated(unsafe) let unsafeWorld = world
            let request = Self.insertion(way, world) {
                #expect(throws: Never.self) { try unsafeWorld.deleteElsewhere() }
            }
            try world.isRefused(request)
        }
    }

    /// The merge policy turns the inserted rows into updates of those that have their names.
    @Test(arguments: StoreKind.allCases) func insertsThatBecomeUpdates(_ kind: StoreKind) throws {
        let world = try World(kind, isUnique: true)
        try world.deleteElsewhere()
        let rows = ["Ann", "Max"].map { ["name": $0, "department": world.department.objectID] }
        try world.isRefused(NSBatchInsertRequest(entityName: "Employee", objects: rows))
    }

    @Test(arguments: StoreKind.allCases) func updates(_ kind: StoreKind) throws {
        let world = try World(kind)
        try world.deleteElsewhere()
        let request = NSBatchUpdateRequest(entityName: "Employee")
        request.propertiesToUpdate = ["department": world.department.objectID]
        try world.isRefused(request)
        request.propertiesToUpdate = ["department": NSExpression(forConstantValue: world.department.objectID)]
        try world.isRefused(request)
    }

    /// The rows have been found when the object is deleted.
    @Test(arguments: StoreKind.allCases) func updatesThatAreOvertaken(_ kind: StoreKind) throws {
        let world = try World(kind)
        nonisolated(unsafe) let unsafeWorld = world
        let calls = LockedBox(0)
        let request = NSBatchUpdateRequest(entityName: "Employee")
        request.predicate = NSPredicate { _, _ in
            var isFirst = false
            calls.change {
                isFirst = $0 == 0
                $0 += 1
            }
            if isFirst { #expect(throws: Never.self) { try unsafeWorld.deleteElsewhere() } }
            return true
        }
        request.propertiesToUpdate = ["department": world.department.objectID]
        try world.isRefused(request)
    }

    @Test(arguments: StoreKind.allCases) func whatIsThereIsTaken(_ kind: StoreKind) throws {
        for isUnique in [false, true] {
            for way in Way.allCases {
                let world = try World(kind, isUnique: isUnique)
                let insertion = Self.insertion(way, world)
                let update = NSBatchUpdateRequest(entityName: "Employee")
                update.propertiesToUpdate = ["department": world.department.objectID]
                try world.context.performAndWait {
                    for request in [insertion, update] as [NSPersistentStoreRequest] {
                        _ = try world.context.execute(request)
                    }
                    let fresh = world.store.context()
                    let count = fresh.performAndWait {
                        fresh.object(with: world.department.objectID).objectIDs(forRelationshipNamed: "employees").count
                    }
                    #expect(count == 5)
                }
            }
        }
    }
}

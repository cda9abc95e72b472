import CoreData
import Foundation
import StrataTestKit
import Testing

@Suite struct DifferenceTests {
    private func save(
        _ store: TestStore, _ body: (NSManagedObjectContext) throws -> Void
    ) throws -> NSQueryGenerationToken {
        let context = store.shortLivedContext()
        return try context.performAndWait {
            try body(context)
            try context.save()
            let token = try #require(store.coordinator.currentPersistentHistoryToken(fromStores: nil))
            return try store.coordinator.queryGeneration(at: token)
        }
    }

    private func employee(_ name: String, _ context: NSManagedObjectContext) throws -> Employee {
        try #require(
            try fetchAll(Employee.self, "Employee", context, NSPredicate(format: "name == %@", name)).first)
    }

    @Test(arguments: StoreKind.allCases) func itTellsWhatCameWentAndChanged(_ kind: StoreKind) async throws {
        let store = try TestStore(kind)
        let first = try save(store) { context in
            let department = Department(context: context)
            department.title = "Research"
            for name in ["a", "b"] { Employee(context: context).name = name }
        }
        _ = try save(store) { context in
            let a = try employee("a", context)
            a.age = 50
            a.department = try fetchAll(Department.self, "Department", context).first
            Employee(context: context).name = "passing"
        }
        let last = try save(store) { context in
            try employee("a", context).age = 51
            context.delete(try employee("b", context))
            context.delete(try employee("passing", context))
            Employee(context: context).name = "c"
        }
        var found: [String: ObjectDifference] = [:]
        for try await difference in try store.coordinator.diff(from: first, to: last) {
            let name = difference.values.first { $0.property == "name" }
            let key = (name?.after ?? name?.before) as? String ?? "a"
            #expect(found.updateValue(difference, forKey: key) == nil)
        }
        #expect(found.keys.sorted() == ["a", "b", "c"])
        #expect(found["c"]?.kind == .insert)
        #expect(found["b"]?.kind == .delete)
        let a = try #require(found["a"])
        #expect(a.kind == .update)
        #expect(a.values.map(\.property).sorted() == ["age", "department"])
        let age = try #require(a.values.first { $0.property == "age" })
        #expect(age.before as? Int16 == 18 && age.after as? Int16 == 51)
        let department = try #require(a.values.first { $0.property == "department" })
        #expect(department.before == nil)
        #expect((department.after as? NSManagedObjectID)?.entity.name == "Department")
        var kinds: [NSPersistentHistoryChangeType] = []
        try store.coordinator.diff(from: last, to: first).forEach { kinds.append($0.kind) }
        #expect(kinds.sorted { $0.rawValue < $1.rawValue } == [.insert, .update, .delete])
        try store.coordinator.diff(from: last).forEach { Issue.record("nothing differs, but \($0)") }
    }

    /// A value that was changed and changed back is no difference.
    @Test func whatIsTheSameAgainIsNotTold() throws {
        let store = try TestStore(.memory)
        let first = try save(store) { Employee(context: $0).name = "a" }
        _ = try save(store) { try employee("a", $0).age = 40 }
        let last = try save(store) { try employee("a", $0).age = 18 }
        try store.coordinator.diff(from: first, to: last).forEach { Issue.record("\($0)") }
    }
}

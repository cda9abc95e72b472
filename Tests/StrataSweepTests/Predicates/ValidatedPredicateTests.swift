import CoreData
import Foundation
import StrataTestKit
import Testing

/// Whatever `NSPredicate(validating:)` lets through evaluates, on saved and unsaved objects, or throws where it can.
@Suite struct ValidatedPredicateTests {
    /// Employees with and without a department, a badge, projects and friends; some are saved, others are not.
    private static func fill(_ context: NSManagedObjectContext, _ count: Int) {
        var before: NSManagedObject?
        for index in 0..<count {
            let employee = insert(index % 5 == 4 ? "Manager" : "Employee", context)
            employee.setValue("n\(index)", forKey: "name")
            employee.setValue(index, forKey: "age")
            if index % 3 == 0 {
                let department = insert("Department", context)
                department.setValue(index == 0 ? nil : "d\(index)", forKey: "title")
                employee.setValue(department, forKey: "department")
            }
            if index % 2 == 0 {
                let (badge, project) = (insert("Badge", context), insert("Project", context))
                badge.setValue(index, forKey: "number")
                employee.setValue(badge, forKey: "badge")
                employee.setValue(NSSet(object: project), forKey: "projects")
                let task = insert("Task", context)
                task.setValue("t", forKey: "text")
                project.setValue(NSOrderedSet(object: task), forKey: "tasks")
                project.setValue(NSSet(object: badge), forKey: "tags")
            }
            if let before { employee.setValue(NSSet(object: before), forKey: "friends") }
            before = employee
        }
    }

    @Test(arguments: RandomRuns.seeds(from: 4_000, count: 4))
    func whateverIsValidatedEvaluatesOrThrows(_ seed: UInt64) throws {
        print("ValidatedPredicateTests: seed \(seed)")
        let store = try TestStore(.memory)
        let context = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        let entity = try #require(store.model.entitiesByName["Employee"])
        try context.performAndWait {
            Self.fill(context, 5)
            try context.save()
            Self.fill(context, 5)
        }
        var texts = RandomPredicateText(seed: seed)
        var accepted = 0
        for _ in 0..<RandomRuns.operations(BuildMode.isDebug ? 250 : 1_000) {
            let text = texts.next()
            guard let predicate = try? NSPredicate(validating: text, for: entity, allowing: [.casts]) else { continue }
            accepted += 1
            context.performAndWait { Self.use(predicate, context) }
            child.performAndWait {
                Self.fill(child, 1)
                Self.use(predicate, child)
                child.rollback()
            }
        }
        #expect(accepted > 50, "only \(accepted) predicates were accepted")
    }

    private static func use(_ predicate: NSPredicate, _ context: NSManagedObjectContext) {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        for object in (try? context.fetch(request)) ?? [] { _ = predicate.evaluate(with: object) }
        request.predicate = predicate
        _ = try? context.count(for: request)
        _ = try? context.fetch(request)
        request.includesPendingChanges = false
        _ = try? context.fetch(request)
    }

    @Test(arguments: [
        ("name == SELF.SELF", 0), ("name == SELF.name", 2), ("department.SELF.title == 'a'", 1), ("@count == 1", 0),
        ("@max.age == 1", 0), ("department.@count == 1", 0), ("SELF.SELF.self.name == 'x'", 1),
    ])
    func oddKeysAreReadAlikeSavedOrNot(_ text: String, _ expected: Int) throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let entity = try #require(store.model.entitiesByName["Employee"])
        try context.performAndWait {
            let employee = insert("Employee", context)
            employee.setValue("x", forKey: "name")
            let department = insert("Department", context)
            department.setValue("a", forKey: "title")
            insert("Employee", context).setValue(department, forKey: "department")
            let predicate = try NSPredicate(validating: text, for: entity)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.predicate = predicate
            #expect(try context.fetch(request).count == expected)
            let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee"))
            #expect(all.count { predicate.evaluate(with: $0) } == expected)
            try context.save()
            #expect(try context.fetch(request).count == expected)
            #expect(try context.count(for: request) == expected)
        }
    }

    /// A key behind something that is computed is not known before it is read.
    @Test func keysThatOnlyObjectsMissAreErrors() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let entity = try #require(store.model.entitiesByName["Employee"])
        try context.performAndWait {
            _ = insert("Employee", context)
            let text = "TERNARY(age > 0, SELF, department).nothing == 1"
            let predicate = try NSPredicate(validating: text, for: entity)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.predicate = predicate
            for _ in 0..<2 {
                let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee"))
                #expect(all.allSatisfy { !predicate.evaluate(with: $0) })
                #expect { try context.fetch(request) } throws: { Self.isRefused($0, "nothing not found") }
                #expect { try context.count(for: request) } throws: { Self.isRefused($0, "nothing not found") }
                try context.save()
            }
        }
    }

    private static func isRefused(_ error: any Error, _ text: String) -> Bool {
        (error as NSError).code == 134070 && error.localizedDescription.contains(text)
    }

    // MARK: Budgets

    private static let friendsOfFriends = "friends." + (0..<90).map { _ in "friends" }.joined(separator: ".")

    /// Thirty-six employees who are all friends of each other.
    private static func circle(_ context: NSManagedObjectContext) {
        let all = (0..<36).map { index in
            let employee = insert("Employee", context)
            employee.setValue("n\(index)", forKey: "name")
            return employee
        }
        for employee in all { employee.setValue(NSSet(array: all), forKey: "friends") }
    }

    @Test(arguments: [StoreKind.memory], [true, false])
    func whatIsTooMuchWorkIsRefused(_ kind: StoreKind, _ isSaved: Bool) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let entity = try #require(store.model.entitiesByName["Employee"])
        var nested = "$v7.age == 77"
        for level in (0..<8).reversed() {
            let owner = level == 0 ? "friends" : "$v\(level - 1).friends"
            nested = "SUBQUERY(\(owner), $v\(level), \(nested)).@count > 0 AND SELF.age < 1000"
        }
        try context.performAndWait {
            Self.circle(context)
            if isSaved { try context.save() }
            let predicate = try NSPredicate(validating: nested, for: entity)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
            request.predicate = predicate
            let one = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee")).first)
            #expect(!predicate.evaluate(with: one))
            #expect { try context.fetch(request) } throws: { Self.isRefused($0, "validated predicate") }
            #expect { try context.count(for: request) } throws: { Self.isRefused($0, "validated predicate") }
            // Ways that come together again are gone once.
            request.predicate = try NSPredicate(validating: "ANY \(Self.friendsOfFriends).age == 18", for: entity)
            #expect(try context.count(for: request) == 36)
        }
    }

    @Test func templatesKeepTheirBudget() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let entity = try #require(store.model.entitiesByName["Employee"])
        context.performAndWait { _ = insert("Employee", context) }
        let template = try NSPredicate(
            validating: "TERNARY(age > 0, SELF, SELF).nothing == $x", for: entity, allowing: .variables)
        let predicate = template.withSubstitutionVariables(["x": 1])
        try context.performAndWait {
            let object = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee")).first)
            #expect(!predicate.evaluate(with: object))
        }
    }

    // MARK: Depth

    @Test func stepsOfKeyPathsCountAsLevels() throws {
        let long = Array(repeating: "a", count: 129).joined(separator: ".")
        #expect(throws: PredicateFormatError.self) { try NSPredicate(validating: long + " == 1") }
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("%K == 1", arguments: [long]) }
        #expect(throws: Never.self) { try NSPredicate.parse(String(long.dropLast(6)) + " == 1") }
    }
}

import CoreData
import Foundation
import StrataTestKit
import Testing

/// Random edits in a stack of contexts, against a model that copies dictionaries.
@Suite struct ParentStackModelTests {
    /// What one context should have: employees with their names, ages, departments and projects.
    private struct Level: Equatable {
        struct Person: Equatable {
            var name: String
            var age: Int16
            var department: Int?
            var projects: Set<Int> = []
        }

        var people: [Int: Person] = [:]
        var departments: [Int: String] = [:]
        /// With the numbers of their tasks, in order.
        var projects: [Int: [Int]] = [:]
        var tasks: Set<Int> = []
    }

    /// A stack with its model: objects have a number of their own in an attribute, so that they can be found anywhere.
    private final class Stack {
        let contexts: [NSManagedObjectContext]
        let store: TestStore
        var levels: [Level]
        var saved = Level()
        var nextNumber = 1
        var random: SeededGenerator

        init(_ kind: StoreKind, seed: UInt64) throws {
            let line = try ContextLine(kind, depth: 3)
            contexts = line.contexts
            store = line.store
            levels = Array(repeating: Level(), count: 3)
            random = SeededGenerator(seed: seed)
        }

        func pick<C: Collection>(_ from: C) -> C.Element? { from.randomElement(using: &random) }
    }

    // Every object carries its number: departments in budget, employees in nickname's place (the badge is not used),
    // projects in code, tasks in text.

    private static func find(
        _ entity: String, _ key: String, _ value: Any, _ context: NSManagedObjectContext
    ) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: key), rightExpression: NSExpression(forConstantValue: value),
            modifier: .direct, type: .equalTo)
        let found = try context.fetch(request)
        try #require(found.count == 1, "\(entity) \(key) \(value)")
        return found[0]
    }

    private static func person(_ number: Int, _ level: Level, _ context: NSManagedObjectContext) throws -> Employee {
        let name = try #require(level.people[number]?.name)
        return try #require(try find("Employee", "name", name, context) as? Employee)
    }

    private func edit(_ stack: Stack, _ depth: Int) throws {
        let context = stack.contexts[depth]
        var level = stack.levels[depth]
        let number = stack.nextNumber
        stack.nextNumber += 1
        func anyone() -> Int? { stack.pick(level.people.keys.sorted()) }
        func department(_ number: Int) throws -> Department {
            try #require(try Self.find("Department", "budget", number, context) as? Department)
        }
        func project(_ number: Int) throws -> NSManagedObject { try Self.find("Project", "code", "\(number)", context) }
        switch Int.random(in: 0..<12, using: &stack.random) {
        case 0, 1:
            let employee = Employee(context: context)
            employee.name = "\(number)"
            level.people[number] = Level.Person(name: "\(number)", age: 18, department: nil)
        case 2:
            let new = Department(context: context)
            new.budget = Int64(number)
            new.title = "d"
            level.departments[number] = "d"
        case 3:
            insert("Project", context).setValue("\(number)", forKey: "code")
            level.projects[number] = []
        case 4, 5:
            guard let who = anyone() else { break }
            let employee = try Self.person(who, level, context)
            employee.age = Int16(number % 1_000)
            employee.name = "\(who) as \(number)"
            level.people[who]?.age = Int16(number % 1_000)
            level.people[who]?.name = "\(who) as \(number)"
        case 6, 7:
            guard let who = anyone() else { break }
            let target = Bool.random(using: &stack.random) ? stack.pick(level.departments.keys.sorted()) : nil
            try Self.person(who, level, context).department = target.map { try department($0) }
            level.people[who]?.department = target
        case 8:
            guard let who = anyone(), let which = stack.pick(level.projects.keys.sorted()) else { break }
            let employee = try Self.person(who, level, context)
            if level.people[who]?.projects.contains(which) == true {
                employee.remove(try project(which), from: Employee.projectsSlot)
                level.people[who]?.projects.remove(which)
            } else {
                employee.add(try project(which), to: Employee.projectsSlot)
                level.people[who]?.projects.insert(which)
            }
        case 9:
            guard let which = stack.pick(level.projects.keys.sorted()) else { break }
            let owner = try project(which)
            var tasks =
                (owner.value(forKey: "tasks") as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject } ?? []
            let task = insert("Task", context)
            task.setValue("\(number)", forKey: "text")
            level.tasks.insert(number)
            tasks.insert(task, at: 0)
            owner.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
            level.projects[which]?.insert(number, at: 0)
        case 10:
            guard let who = anyone() else { break }
            context.delete(try Self.person(who, level, context))
            level.people[who] = nil
        default:
            if let which = stack.pick(level.projects.keys.sorted()), Bool.random(using: &stack.random) {
                context.delete(try project(which))
                level.tasks.subtract(level.projects[which] ?? [])
                level.projects[which] = nil
                for who in level.people.keys { level.people[who]?.projects.remove(which) }
            } else if let which = stack.pick(level.departments.keys.sorted()) {
                context.delete(try department(which))
                level.departments[which] = nil
                for (who, person) in level.people where person.department == which {
                    level.people[who]?.department = nil
                }
            }
        }
        context.processPendingChanges()
        stack.levels[depth] = level
    }

    /// What a context has, read by fetching.
    private func read(_ context: NSManagedObjectContext) throws -> Level {
        var level = Level()
        for department in try fetchAll(Department.self, "Department", context) {
            level.departments[Int(department.budget)] = department.title
        }
        func number(_ object: NSManagedObject, _ key: String) -> Int {
            Int((object.value(forKey: key) as? String ?? "").prefix { $0 != " " }) ?? 0
        }
        for task in try fetchAll(NSManagedObject.self, "Task", context) { level.tasks.insert(number(task, "text")) }
        for project in try fetchAll(NSManagedObject.self, "Project", context) {
            let tasks = (project.value(forKey: "tasks") as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject }
            level.projects[number(project, "code")] = tasks?.map { number($0, "text") }
            for task in tasks ?? [] { #expect(task.value(forKey: "project") as? NSManagedObject === project) }
        }
        for employee in try fetchAll(Employee.self, "Employee", context) {
            let projects = employee.value(forKey: "projects") as? Set<NSManagedObject> ?? []
            level.people[number(employee, "name")] = Level.Person(
                name: employee.name, age: employee.age, department: employee.department.map { Int($0.budget) },
                projects: Set(projects.map { number($0, "code") }))
            #expect(employee.department?.employees.contains(employee) ?? true)
            #expect(
                projects.allSatisfy { ($0.value(forKey: "staff") as? Set<NSManagedObject>)?.contains(employee) == true }
            )
        }
        return level
    }

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 1, count: 12)) func aStackAgreesWithItsModel(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        let stack = try Stack(kind, seed: seed)
        try stack.contexts[0].performAndWait {
            try stack.contexts[1].performAndWait {
                try stack.contexts[2].performAndWait { try run(stack, seed) }
            }
        }
    }

    private func run(_ stack: Stack, _ seed: UInt64) throws {
        for step in 0..<RandomRuns.operations(300) {
            // Mostly the last context is edited, as in a program that edits in a scratch context. Another one is when
            // those that descend from it have no changes that could get in each other's way.
            switch Int.random(in: 0..<23, using: &stack.random) {
            case 0..<13:
                try edit(stack, 2)
            case 13, 14:
                try stack.contexts[2].save()
                stack.levels[1] = stack.levels[2]
            case 15:
                try stack.contexts[1].save()
                stack.levels[0] = stack.levels[1]
            case 16:
                try stack.contexts[0].save()
                stack.saved = stack.levels[0]
            case 17:
                stack.contexts[2].rollback()
                stack.levels[2] = stack.levels[1]
                stack.contexts[2].refreshAllObjects()
            case 18:
                stack.contexts[2].reset()
                stack.levels[2] = stack.levels[1]
            case 20...:
                let depth = Int.random(in: 0...1, using: &stack.random)
                let descendants = (depth + 1)...2
                if descendants.contains(where: { stack.contexts[$0].hasChanges }) { continue }
                try edit(stack, depth)
                for descendant in descendants {
                    stack.contexts[descendant].refreshAllObjects()
                    stack.levels[descendant] = stack.levels[depth]
                }
            default:
                let depth = Int.random(in: 1...2, using: &stack.random)
                stack.contexts[depth].refreshAllObjects()
            }
            guard step % 4 == 0 else { continue }
            for depth in 0..<3 {
                let found = try read(stack.contexts[depth])
                try #require(found == stack.levels[depth], "seed \(seed), step \(step), context \(depth)")
            }
            let fresh = stack.store.shortLivedContext()
            let stored = try fresh.performAndWait { try read(fresh) }
            try #require(stored == stack.saved, "seed \(seed), step \(step), store")
        }
    }
}

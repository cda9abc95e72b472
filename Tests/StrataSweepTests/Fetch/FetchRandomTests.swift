import CoreData
import Foundation
import StrataTestKit
import Testing

/// Random fetch requests against plain Swift over an array.
@Suite struct FetchRandomTests {
    /// What the array holds of an employee.
    private struct Person: Equatable {
        var object: Employee
        var name: String
        var age: Int16
        var department: String?
        var isManager: Bool
        /// As long as it has not been saved, null.
        var stored: Stored?

        struct Stored: Equatable {
            var name: String
            var age: Int16
            var department: String?
        }
    }

    private struct Condition {
        var predicate: NSPredicate
        /// Nil for unknown: what is compared is null.
        var answer: (Person) -> Bool?

        func holds(_ person: Person) -> Bool { answer(person) == true }
    }

    private let titles = ["A", "B", "C", nil]

    private func condition(_ random: inout SeededGenerator, depth: Int = 0) -> Condition {
        let age = Int16.random(in: 18..<30, using: &random)
        switch Int.random(in: 0..<(depth < 2 ? 9 : 6), using: &random) {
        case 0: return Condition(predicate: NSPredicate(format: "age > %d", age)) { $0.age > age }
        case 1:
            return Condition(predicate: NSPredicate(format: "age BETWEEN {%d, %d}", age, age + 3)) {
                ($0.age...$0.age).overlaps(age...(age + 3))
            }
        case 2:
            return Condition(predicate: NSPredicate(format: "department.title == 'B'")) {
                $0.department.map { $0 == "B" }
            }
        case 3: return Condition(predicate: NSPredicate(format: "department.title == nil")) { $0.department == nil }
        case 4: return Condition(predicate: NSPredicate(format: "name CONTAINS '1'")) { $0.name.contains("1") }
        case 5:
            return Condition(predicate: NSPredicate(format: "age IN %@", [age, age + 5])) {
                $0.age == age || $0.age == age + 5
            }
        case 6:
            let inner = condition(&random, depth: depth + 1)
            return Condition(predicate: NSCompoundPredicate(notPredicateWithSubpredicate: inner.predicate)) {
                inner.answer($0).map { !$0 }
            }
        case 7:
            let (a, b) = (condition(&random, depth: depth + 1), condition(&random, depth: depth + 1))
            return Condition(predicate: NSCompoundPredicate(andPredicateWithSubpredicates: [a.predicate, b.predicate]))
            {
                let answers = [a.answer($0), b.answer($0)]
                return answers.contains(false) ? false : answers.contains(nil) ? nil : true
            }
        default:
            let (a, b) = (condition(&random, depth: depth + 1), condition(&random, depth: depth + 1))
            return Condition(predicate: NSCompoundPredicate(orPredicateWithSubpredicates: [a.predicate, b.predicate])) {
                let answers = [a.answer($0), b.answer($0)]
                return answers.contains(true) ? true : answers.contains(nil) ? nil : false
            }
        }
    }

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 1, count: 3)) func randomRequests(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        print("FetchRandomTests: \(kind), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            let departments = titles.map { title in
                let department = Department(context: context)
                department.title = title
                return department
            }
            var people: [Person] = []
            var names = 0
            for round in 0..<RandomRuns.operations(12) {
                change(&people, &names, departments, context, &random)
                if round % 3 == 0 {
                    try context.save()
                    for index in people.indices {
                        let person = people[index]
                        people[index].stored = .init(name: person.name, age: person.age, department: person.department)
                    }
                    gone = []
                }
                for _ in 0..<30 {
                    try objects(people, context, &random)
                    try dictionaries(people + gone, context, &random)
                }
            }
        }
    }

    /// Deleted since the last save, still stored.
    private var gone: [Person] {
        get { Thread.current.threadDictionary["FetchRandomTests.gone"] as? [Person] ?? [] }
        nonmutating set { Thread.current.threadDictionary["FetchRandomTests.gone"] = newValue }
    }

    private func change(
        _ people: inout [Person], _ names: inout Int, _ departments: [Department], _ context: NSManagedObjectContext,
        _ random: inout SeededGenerator
    ) {
        for _ in 0..<20 {
            let place = Int.random(in: 0..<departments.count, using: &random)
            let age = Int16.random(in: 18..<30, using: &random)
            switch Int.random(in: 0..<(people.count < 10 ? 1 : 4), using: &random) {
            case 0, 1:
                let isManager = Bool.random(using: &random)
                let object = isManager ? Manager(context: context) : Employee(context: context)
                names += 1
                object.name = "P\(names % 50)"
                object.age = age
                object.department = departments[place]
                people.append(
                    Person(
                        object: object, name: object.name, age: age, department: titles[place], isManager: isManager))
            case 2:
                let index = Int.random(in: 0..<people.count, using: &random)
                people[index].object.age = age
                people[index].object.department = departments[place]
                people[index].age = age
                people[index].department = titles[place]
            default:
                let person = people.remove(at: Int.random(in: 0..<people.count, using: &random))
                context.delete(person.object)
                if person.stored != nil { gone.append(person) }
            }
        }
    }

    private func objects(
        _ people: [Person], _ context: NSManagedObjectContext, _ random: inout SeededGenerator
    ) throws {
        let condition = condition(&random)
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.predicate = condition.predicate
        request.includesSubentities = Bool.random(using: &random)
        var expected = people.filter(condition.holds)
        if !request.includesSubentities { expected.removeAll { $0.isManager } }
        let (byAge, byTitle) = (Bool.random(using: &random), Bool.random(using: &random))
        let text = condition.predicate.formatString
        #expect(Set(try context.fetch(request)) == Set(expected.map(\.object)), "\(text)")
        request.sortDescriptors = [
            NSSortDescriptor(key: "age", ascending: byAge),
            NSSortDescriptor(key: "department.title", ascending: byTitle),
        ]
        // Equal ones may come in any order, so what is sorted by is compared.
        func key(_ person: Person) -> [String] { ["\(person.age)", person.department ?? "nil"] }
        expected.sort { a, b in
            if a.age != b.age { return (a.age < b.age) == byAge }
            if a.department == b.department { return false }
            return (a.department ?? "" < b.department ?? "") == byTitle
        }
        let byObject = Dictionary(uniqueKeysWithValues: people.map { (ObjectIdentifier($0.object), $0) })
        request.fetchOffset = Int.random(in: 0..<5, using: &random)
        request.fetchLimit = Int.random(in: 0..<12, using: &random)
        request.fetchBatchSize = Int.random(in: 0..<4, using: &random)
        let window = expected.dropFirst(request.fetchOffset)
            .prefix(request.fetchLimit == 0 ? Int.max : request.fetchLimit)
        let found = try context.fetch(request)
        #expect(found.compactMap { byObject[ObjectIdentifier($0)].map(key) } == window.map(key), "\(text)")
        #expect(try context.count(for: request) == window.count, "\(text)")
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
        ids.resultType = .managedObjectIDResultType
        ids.predicate = request.predicate
        ids.includesSubentities = request.includesSubentities
        ids.sortDescriptors = request.sortDescriptors
        ids.fetchLimit = request.fetchLimit
        ids.fetchOffset = request.fetchOffset
        #expect(try context.fetch(ids) == found.map(\.objectID), "\(text)")
    }

    /// Groups of what is stored.
    private func dictionaries(
        _ people: [Person], _ context: NSManagedObjectContext, _ random: inout SeededGenerator
    ) throws {
        let condition = condition(&random)
        let stored = people.compactMap { person -> Person? in
            guard let values = person.stored else { return nil }
            var copy = person
            (copy.name, copy.age, copy.department) = (values.name, values.age, values.department)
            return condition.holds(copy) ? copy : nil
        }
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        request.predicate = condition.predicate
        let sum = NSExpressionDescription()
        sum.name = "sum"
        sum.expression = NSExpression(format: "sum:(age)")
        sum.expressionResultType = .integer64AttributeType
        let mean = NSExpressionDescription()
        mean.name = "mean"
        mean.expression = NSExpression(format: "average:(age)")
        request.propertiesToFetch = ["department.title", sum, mean]
        request.propertiesToGroupBy = ["department.title"]
        let minimum = Int.random(in: 0..<100, using: &random)
        request.havingPredicate = NSPredicate(format: "sum:(age) >= %d", minimum)
        // With its types said: the compiler takes eleven seconds to find them.
        let ages: [String?: [Int]] = Dictionary(grouping: stored, by: \.department)
            .mapValues { people in people.map { person in Int(person.age) } }
        let groups: [(title: String?, ages: [Int], sum: Int)] =
            ages
            .map { title, ages in (title, ages, ages.reduce(0, +)) }
            .filter { group in group.sum >= minimum }
            .sorted { ($0.title ?? "") < ($1.title ?? "") }
        let rows = try context.fetch(request)
        #expect(rows.map { $0["department.title"] as? String } == groups.map(\.title))
        #expect(rows.map { $0["sum"] as? Int } == groups.map(\.sum))
        for (row, group) in zip(rows, groups) {
            let mean = Double(group.sum) / Double(group.ages.count)
            #expect(abs((row["mean"] as? Double ?? -1) - mean) < 1e-9)
        }
    }
}

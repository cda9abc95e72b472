import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Results of more dictionaries than one thread makes together, against those that the interpreter makes row by row.
@Suite struct LongDictionaryTests {
    /// More than all processors make at a time, as far as there are not very many.
    private static let rowCount = min(40_000, 3_000 + 4_096 * ProcessInfo.processInfo.activeProcessorCount)

    private static func fill(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let departments = (0..<40).map { number in
                let department = Department(context: context)
                department.title = "Department \(number % 30)"
                return department
            }
            for number in 0..<rowCount {
                let employee = Employee(context: context)
                employee.age = Int16(number % 90)
                // Some lie out of line, some are missing.
                employee.name = number % 500 == 7 ? String(repeating: "long \(number) ", count: 8_000) : "E\(number)"
                if number % 11 > 0 { employee.department = departments[number * 7 % 40] }
            }
            try context.save()
        }
    }

    private static func computed(_ name: String, _ format: String) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        return description
    }

    private static func columns(_ random: inout SeededGenerator) -> [Any] {
        let all: [Any] = [
            "name", "age", "department", "department.title", computed("doubled", "age * 2"),
            computed("sum", "age + length(name)"), computed("upper", "uppercase(department.title)"),
            computed("colleagues", "department.employees.@count"),
            // What the interpreter computes in both.
            computed("words", "FUNCTION(name, 'componentsSeparatedByString:', ' ')"),
        ]
        return (0..<1 + random.below(4)).map { _ in all[random.below(all.count - (random.chance(0.8) ? 1 : 0))] }
    }

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 3, count: 1))
    func dictionariesOfManyThreadsAreThoseOfOne(_ kind: StoreKind, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind)
        let context = store.context()
        try Self.fill(context)
        try context.performAndWait {
            for round in 0..<(BuildMode.isDebug ? 6 : 10) {
                let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = Self.columns(&random)
                if random.chance(0.5) { request.predicate = NSPredicate(format: "age > %d", random.below(60)) }
                if random.chance(0.5) {
                    let keys = ["name", "age", "department.title"]
                    request.sortDescriptors = [
                        NSSortDescriptor(key: keys[random.below(3)], ascending: random.chance(0.5))
                    ]
                }
                if random.chance(0.3) { request.fetchOffset = random.below(3_000) }
                if random.chance(0.3) { request.fetchLimit = 2_000 + random.below(Self.rowCount) }
                let found = try context.fetch(request)
                let expected = try CompiledExecution.setting.withValue(false) { try context.fetch(request) }
                #expect(found.count > 0)
                #expect(found == expected, "seed \(seed), round \(round): \(request.propertiesToFetch ?? [])")
            }
        }
    }

    private static var groups: [[Any]] {
        [
            ["name"], ["age"], ["department.title", "age"], ["name", "age"], [computed("sum", "age + length(name)")],
            [computed("half", "age / 2.0"), "department.title"],
        ]
    }
    private static let aggregates = [
        "count(SELF)", "count(department)", "sum(age)", "average(age)", "min(age)", "max(age)", "min(name)",
        "max(department.title)", "sum(age / 4.0)", "average(age / 4.0)", "min(age / 4.0)", "count:(distinct:(age))",
    ]
    private static let conditions = [
        "count(SELF) > 1", "max(age) > 40 AND min(age) < 80", "NOT (sum(age) < 100)", "average(age) BETWEEN {20, 60}",
        "count(department) == 0 OR max(age) == nil", "max(department.title) == nil", "min(name) BEGINSWITH 'E1'",
        "age > 30", "sum(age) > max(age)", "TRUEPREDICATE",
    ]

    /// Thousands of groups and distinct rows, and conditions on groups.
    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 30, count: 1))
    func groupsOfManyThreadsAreThoseOfOne(_ kind: StoreKind, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind)
        let context = store.context()
        try Self.fill(context)
        try context.performAndWait {
            for round in 0..<(BuildMode.isDebug ? 6 : 10) {
                let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
                request.resultType = .dictionaryResultType
                let wanted = Self.groups[random.below(Self.groups.count)]
                if random.chance(0.25) {
                    request.propertiesToFetch = wanted
                    request.returnsDistinctResults = true
                } else {
                    let values = (0..<1 + random.below(3)).map {
                        Self.computed("value\($0)", Self.aggregates[random.below(Self.aggregates.count)])
                    }
                    request.propertiesToGroupBy = wanted
                    request.propertiesToFetch = Array(wanted.dropFirst(random.below(2))) + values
                    if random.chance(0.5) {
                        let condition = Self.conditions[random.below(Self.conditions.count)]
                        request.havingPredicate = NSPredicate(format: condition)
                    }
                    request.returnsDistinctResults = random.chance(0.2)
                }
                if random.chance(0.5) { request.predicate = NSPredicate(format: "age > %d", random.below(60)) }
                if random.chance(0.3) { request.fetchOffset = random.below(3_000) }
                if random.chance(0.3) { request.fetchLimit = 1 + random.below(Self.rowCount) }
                let found = try context.fetch(request)
                let expected = try CompiledExecution.setting.withValue(false) { try context.fetch(request) }
                #expect(
                    found == expected,
                    "seed \(seed), round \(round): \(request.propertiesToFetch ?? []), \(having(request))")
            }
        }
    }

    private func having(_ request: NSFetchRequest<NSDictionary>) -> String {
        request.havingPredicate.map { "\($0)" } ?? "all groups"
    }
}

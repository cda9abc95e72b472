import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// The same rows in a store and in a database of SQLite, the same questions to both, the same answers in the same
/// order.
@Suite(.enabled(if: SQLiteReference.isAvailable, "this machine has no SQLite"))
struct SQLiteComparisonTests {
    private static let seeds = RandomRuns.seeds(from: 1, count: BuildMode.isDebug ? 1 : 4)
    private static let requests = RandomRuns.operations(BuildMode.isDebug ? 400 : 1_500)

    @Test(arguments: seeds) func bothFindTheSame(_ seed: UInt64) throws {
        let kind = StoreKind.allCases[Int(seed % 2)]
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind, try SQLiteWorld.model())
        let context = store.context()
        var compared = 0
        try context.performAndWait {
            var world = try SQLiteWorld(context)
            for number in 0..<Self.requests {
                if number % 200 == 0 { try world.grow(&random) }
                let condition = world.conditions.condition(&random)
                let end = [SemiJoinUse.automatic, .members, .owners][random.below(3)]
                try SemiJoinUse.setting.withValue(end) {
                    switch random.below(6) {
                    case 0: try world.compareGroups(condition, &random)
                    case 1: try world.compareColumns(condition, &random)
                    default: try world.compareObjects(condition, &random)
                    }
                }
                compared += 1
            }
        }
        print("SQLiteComparisonTests: \(kind), seed \(seed): \(compared) requests")
    }
}

/// Persons, departments and tags, twice.
struct SQLiteWorld {
    private let context: NSManagedObjectContext
    private let database: SQLiteReference
    private var departments: [NSManagedObject] = []
    private var tags: [NSManagedObject] = []
    private var persons: [NSManagedObject] = []
    private var keys: [NSManagedObjectID: Int64] = [:]

    var conditions: SQLiteConditions { SQLiteConditions(departments: departments, tags: tags) }

    static func model() throws -> NSManagedObjectModel {
        let person = GraphModel.entity("Person")
        let manager = GraphModel.entity("Manager")
        let department = GraphModel.entity("Department")
        let tag = GraphModel.entity("Tag")
        let departmentOf = GraphModel.relationship("department", to: department)
        let members = GraphModel.relationship("members", to: person, toMany: true)
        GraphModel.link(departmentOf, members)
        let parent = GraphModel.relationship("parent", to: department)
        let children = GraphModel.relationship("children", to: department, toMany: true)
        GraphModel.link(parent, children)
        let tags = GraphModel.relationship("tags", to: tag, toMany: true)
        let persons = GraphModel.relationship("persons", to: person, toMany: true)
        GraphModel.link(tags, persons)
        person.properties = [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("nick", .stringAttributeType),
            GraphModel.attribute("age", .integer32AttributeType), GraphModel.attribute("score", .doubleAttributeType),
            GraphModel.attribute("active", .booleanAttributeType), departmentOf, tags,
        ]
        manager.properties = [GraphModel.attribute("bonus", .doubleAttributeType)]
        person.subentities = [manager]
        department.properties = [
            GraphModel.attribute("title", .stringAttributeType), GraphModel.attribute("rank", .integer32AttributeType),
            parent, children, members,
        ]
        tag.properties = [
            GraphModel.attribute("label", .stringAttributeType),
            GraphModel.attribute("weight", .integer32AttributeType),
            persons,
        ]
        for names in [["age", "name"], ["-name"], ["score"], ["active", "-age"]] {
            let elements = try names.map { name in
                let property = try #require(person.propertiesByName[name.replacingOccurrences(of: "-", with: "")])
                let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
                element.isAscending = !name.hasPrefix("-")
                return element
            }
            person.indexes.append(NSFetchIndexDescription(name: names.joined(separator: "_"), elements: elements))
        }
        let model = NSManagedObjectModel()
        model.entities = [person, manager, department, tag]
        return model
    }

    init(_ context: NSManagedObjectContext) throws {
        self.context = context
        database = try SQLiteReference()
        for statement in [
            "CREATE TABLE person (pk INTEGER PRIMARY KEY, kind INTEGER, name TEXT, nick TEXT, age INTEGER, score REAL, "
                + "active INTEGER, department INTEGER)",
            "CREATE TABLE department (pk INTEGER PRIMARY KEY, title TEXT, rank INTEGER, parent INTEGER)",
            "CREATE TABLE tag (pk INTEGER PRIMARY KEY, label TEXT, weight INTEGER)",
            "CREATE TABLE person_tag (person INTEGER, tag INTEGER)", "CREATE INDEX pairs ON person_tag (person)",
        ] {
            try database.rows(statement)
        }
    }

    // MARK: Rows

    private func literal(_ value: Any?) -> String {
        switch value {
        case let text as String: SQLiteReference.Value.text(text).literal
        case let flag as Bool: flag ? "1" : "0"
        case let number?: "\(number)"
        case nil: "NULL"
        }
    }

    private func set(_ object: NSManagedObject, _ table: String, _ key: Int64, _ values: [(String, Any?)]) throws {
        for (name, value) in values { object.setValue(value, forKey: name) }
        let assignments = values.map { "\($0.0) = \(literal($0.1))" }.joined(separator: ", ")
        try database.rows("UPDATE \(table) SET \(assignments) WHERE pk = \(key)")
    }

    private mutating func add(_ entity: String, _ table: String, kind: Int? = nil, key: Int) throws -> NSManagedObject {
        let columns = kind == nil ? "(pk)" : "(pk, kind)"
        let values = kind.map { "(\(key), \($0))" } ?? "(\(key))"
        try database.rows("INSERT INTO \(table) \(columns) VALUES \(values)")
        return insert(entity, context)
    }

    /// More persons, changes of some, deletions; all is saved.
    mutating func grow(_ random: inout SeededGenerator) throws {
        if departments.isEmpty { try addTargets(&random) }
        for _ in 0..<(persons.isEmpty ? 60 : 10) {
            let isManager = random.chance(0.2)
            let key = persons.count + 1
            let person = try add(isManager ? "Manager" : "Person", "person", kind: isManager ? 1 : 0, key: key)
            persons.append(person)
            try change(person, Int64(key), &random)
        }
        for _ in 0..<10 {
            let index = random.below(persons.count)
            if persons[index].managedObjectContext == nil || persons[index].isDeleted { continue }
            if random.chance(0.3) {
                context.delete(persons[index])
                try database.rows("DELETE FROM person WHERE pk = \(index + 1)")
                try database.rows("DELETE FROM person_tag WHERE person = \(index + 1)")
            } else {
                try change(persons[index], Int64(index + 1), &random)
            }
        }
        try context.save()
        for (index, person) in persons.enumerated() { keys[person.objectID] = Int64(index + 1) }
    }

    private mutating func addTargets(_ random: inout SeededGenerator) throws {
        for key in 1...5 {
            let department = try add("Department", "department", key: key)
            departments.append(department)
            let parent = random.below(key)
            try set(
                department, "department", Int64(key),
                [("title", word(&random)), ("rank", random.chance(0.2) ? nil : random.below(6) - 2)])
            if parent == 0 { continue }
            department.setValue(departments[parent - 1], forKey: "parent")
            try database.rows("UPDATE department SET parent = \(parent) WHERE pk = \(key)")
        }
        for key in 1...6 {
            let tag = try add("Tag", "tag", key: key)
            tags.append(tag)
            try set(
                tag, "tag", Int64(key),
                [("label", word(&random)), ("weight", random.chance(0.2) ? nil : random.below(6) - 2)])
        }
    }

    private func word(_ random: inout SeededGenerator) -> String? {
        if random.chance(0.15) { return nil }
        let words = SQLiteConditions.words
        let word = words[random.below(words.count)]
        return random.chance(0.3) ? word + words[random.below(words.count)] : word
    }

    private func change(_ person: NSManagedObject, _ key: Int64, _ random: inout SeededGenerator) throws {
        try set(
            person, "person", key,
            [
                ("name", word(&random)), ("nick", word(&random)),
                ("age", random.chance(0.15) ? nil : random.below(8) - 2),
                ("score", random.chance(0.15) ? nil : Double(random.below(16)) / 2 - 2),
                ("active", random.chance(0.15) ? nil : random.chance(0.5)),
            ])
        let department = random.below(departments.count + 1)
        person.setValue(department == 0 ? nil : departments[department - 1], forKey: "department")
        try database.rows(
            "UPDATE person SET department = \(department == 0 ? "NULL" : "\(department)") WHERE pk = \(key)")
        let chosen = tags.indices.filter { _ in random.chance(0.3) }
        person.setValue(Set(chosen.map { tags[$0] }), forKey: "tags")
        try database.rows("DELETE FROM person_tag WHERE person = \(key)")
        for index in chosen { try database.rows("INSERT INTO person_tag VALUES (\(key), \(index + 1))") }
    }

    // MARK: Questions

    /// Asked as the planner has it, by indexes wherever one can be used, and of the interpreter.
    private func ask<Result>(_ body: () throws -> Result) rethrows -> [Result] {
        [
            try body(), try IndexUse.setting.withValue(.always) { try body() },
            try CompiledExecution.setting.withValue(false) { try body() },
        ]
    }

    private func source(_ condition: SQLiteCondition, _ request: NSFetchRequest<some Any>) -> String {
        request.predicate = condition.predicate
        return "FROM person p WHERE (\(condition.sql))" + (request.includesSubentities ? "" : " AND p.kind = 0")
    }

    func compareObjects(_ condition: SQLiteCondition, _ random: inout SeededGenerator) throws {
        let isManager = random.chance(0.1)
        let request = NSFetchRequest<NSManagedObjectID>(entityName: isManager ? "Manager" : "Person")
        request.resultType = .managedObjectIDResultType
        request.includesSubentities = isManager || random.chance(0.8)
        var sql = "SELECT p.pk " + source(condition, request) + (isManager ? " AND p.kind = 1" : "")
        let total = try database.rows(sql).count
        let department = "(SELECT d.title FROM department d WHERE d.pk = p.department)"
        let columns = [
            ("name", "p.name"), ("age", "p.age"), ("score", "p.score"), ("active", "p.active"), ("nick", "p.nick"),
            ("department.title", department),
        ]
        var order: [String] = []
        var sorts: [NSSortDescriptor] = []
        for _ in 0..<random.below(4) {
            let (key, column) = columns[random.below(columns.count)]
            let isAscending = random.chance(0.5)
            sorts.append(NSSortDescriptor(key: key, ascending: isAscending))
            order.append(column + (isAscending ? " ASC" : " DESC"))
        }
        request.sortDescriptors = sorts
        let counts = try ask { try context.count(for: request) }
        #expect(counts.allSatisfy { $0 == total }, "\(counts), not \(total): \(condition)")
        if random.chance(0.5) { request.fetchLimit = 1 + random.below(15) }
        if random.chance(0.3) { request.fetchOffset = random.below(8) }
        sql += " ORDER BY " + (order + ["p.pk"]).joined(separator: ", ")
        sql += " LIMIT \(request.fetchLimit == 0 ? -1 : request.fetchLimit) OFFSET \(request.fetchOffset)"
        let expected = try database.rows(sql).map { $0[0] }
        for ids in try ask({ try context.fetch(request) }) {
            #expect(ids.map { .integer(keys[$0] ?? 0) } == expected, "\(sql)\n\(condition.predicate.formatString)")
        }
    }

    private func value(_ any: Any?) -> SQLiteReference.Value {
        switch any {
        case let text as String: .text(text)
        case let number as NSNumber: .real(number.doubleValue)
        default: .null
        }
    }

    /// Numbers as numbers, so that 2 is 2.0, to the digits that do not depend on the order of adding.
    private func rounded(_ value: SQLiteReference.Value) -> SQLiteReference.Value {
        switch value {
        case .integer(let number): .real(Double(number))
        case .real(let number): .real((number * 1e9).rounded() / 1e9)
        default: value
        }
    }

    private func dictionaries(_ names: [String]) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = names
        return request
    }

    func compareGroups(_ condition: SQLiteCondition, _ random: inout SeededGenerator) throws {
        let department = "(SELECT d.title FROM department d WHERE d.pk = p.department)"
        let keys = [("age", "p.age"), ("active", "p.active"), ("name", "p.name"), ("department.title", department)]
        let first = random.below(keys.count)
        var groups = [keys[first]]
        if random.chance(0.4) { groups.append(keys[(first + 1) % keys.count]) }
        let aggregates = [
            ("sum:(age)", "COALESCE(SUM(p.age), 0)"), ("count:(SELF)", "COUNT(*)"), ("average:(score)", "AVG(p.score)"),
            ("min:(name)", "MIN(p.name)"), ("max:(score)", "MAX(p.score)"), ("count:(nick)", "COUNT(p.nick)"),
            ("sum:(age * 2)", "COALESCE(SUM(p.age * 2), 0)"), ("min:(age)", "MIN(p.age)"),
            ("sum:(nick)", "COALESCE(SUM(p.nick), 0)"), ("average:(name)", "AVG(p.name)"),
        ]
        let chosen = (0..<1 + random.below(3)).map { _ in aggregates[random.below(aggregates.count)] }
        let request = dictionaries([])
        request.propertiesToFetch =
            groups.map(\.0)
            + chosen.enumerated().map { index, aggregate in
                let description = NSExpressionDescription()
                description.name = "value\(index)"
                description.expression = NSExpression(format: aggregate.0)
                return description
            }
        request.propertiesToGroupBy = groups.map(\.0)
        let group = groups.map(\.1).joined(separator: ", ")
        var sql =
            "SELECT \((groups + chosen).map(\.1).joined(separator: ", ")) \(source(condition, request)) GROUP BY \(group)"
        if random.chance(0.3) {
            request.havingPredicate = NSPredicate(format: "count:(SELF) > 1")
            sql += " HAVING COUNT(*) > 1"
        }
        sql += " ORDER BY \(group)"
        let names = groups.map(\.0) + chosen.indices.map { "value\($0)" }
        let expected = try database.rows(sql).map { $0.map(rounded) }
        for rows in try ask({ try context.fetch(request) }) {
            let found = rows.map { row in names.map { rounded(value(row[$0])) } }
            #expect(found == expected, "\(sql)\n\(condition.predicate.formatString)")
        }
    }

    func compareColumns(_ condition: SQLiteCondition, _ random: inout SeededGenerator) throws {
        let all = ["name", "age", "score", "active", "nick"]
        let names = (0..<1 + random.below(2)).map { _ in all[random.below(all.count)] }
        let request = dictionaries(names)
        request.returnsDistinctResults = random.chance(0.6)
        let columns = names.map { "p.\($0)" }.joined(separator: ", ")
        let sql = "SELECT \(request.returnsDistinctResults ? "DISTINCT " : "")\(columns) \(source(condition, request))"
        // Nobody asked for an order.
        func sorted(_ rows: [[SQLiteReference.Value]]) -> [String] { rows.map { "\($0.map(rounded))" }.sorted() }
        let expected = sorted(try database.rows(sql))
        for rows in try ask({ try context.fetch(request) }) {
            #expect(sorted(rows.map { row in names.map { value(row[$0]) } }) == expected, "\(sql)")
        }
    }
}

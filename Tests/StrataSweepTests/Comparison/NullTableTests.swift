import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// Every cell of the table of nulls in `docs/fetching.md`: each form of a value with each operator, plain and under
/// NOT, asked of a plan, an index, the interpreter and SQLite.
///
/// `SUBQUERY(toOne.toMany, …).@count != 0` found objects without the to-one, and batch updates changed them.
@Suite(.enabled(if: SQLiteReference.isAvailable, "this machine has no SQLite"))
struct NullTableTests {
    private static let seeds = RandomRuns.seeds(from: 40, count: BuildMode.isDebug ? 1 : 5)

    /// In debug, which takes long, a part of the cells with a value, other ones with another seed.
    private static let isSampled = BuildMode.isDebug

    @Test(arguments: seeds) func everyCellIsWhatSQLSays(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(StoreKind.allCases[Int(seed % 2)], NullTable.model())
        let context = store.context()
        try context.performAndWait {
            let table = try NullTable(context, &random)
            var compared = 0
            for value in NullTable.numbers + NullTable.texts {
                for condition in table.conditions(of: value, &random) {
                    for (format, sql) in NullTable.wrapped(condition) where !Self.isSampled || random.chance(0.25) {
                        try table.compare(format, sql, "seed \(seed)")
                        compared += 1
                    }
                }
            }
            for condition in NullTable.ofMembers {
                for (format, sql) in NullTable.wrapped(condition) {
                    try table.compare(format, sql, "seed \(seed)")
                    compared += 1
                }
            }
            print("NullTableTests: seed \(seed), \(compared) cells")
        }
    }

    /// What a batch changes and deletes is what a fetch finds.
    @Test(arguments: StoreKind.allCases) func batchesLeaveAloneWhatIsUnknown(_ kind: StoreKind) throws {
        let store = try TestStore(kind, NullTable.model())
        let context = store.context()
        try context.performAndWait {
            _ = context.insert("Node", ["n": 1])
            try context.save()
            for format in [
                "SUBQUERY(up.down, $x, TRUEPREDICATE).@count != 0", "up.down.@count != 0",
                "NOT (SUBQUERY(up.down, $x, TRUEPREDICATE).@count < 2)", "up.down.@max.n != 3", "up.n != 3",
            ] {
                let update = NSBatchUpdateRequest(entityName: "Node")
                update.predicate = NSPredicate(format: format)
                update.propertiesToUpdate = ["n": 9]
                update.resultType = .updatedObjectsCountResultType
                #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 0, "\(format)")
                let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Node"))
                delete.fetchRequest.predicate = NSPredicate(format: format)
                delete.resultType = .resultTypeCount
                #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 0, "\(format)")
            }
        }
    }
}

/// Nodes with a number, a text, a node above and nodes below, in a store and in SQLite.
struct NullTable {
    typealias Condition = (format: String, sql: String)

    private let context: NSManagedObjectContext
    private let database: SQLiteReference
    private let keys: [NSManagedObjectID: Int64]

    static func model() -> NSManagedObjectModel {
        let node = GraphModel.entity("Node")
        let up = GraphModel.relationship("up", to: node)
        let down = GraphModel.relationship("down", to: node, toMany: true)
        GraphModel.link(up, down)
        let number = GraphModel.attribute("n", .integer32AttributeType)
        node.properties = [
            number, GraphModel.attribute("m", .integer32AttributeType),
            GraphModel.attribute("t", .stringAttributeType), up, down,
        ]
        let element = NSFetchIndexElementDescription(property: number, collationType: .binary)
        node.indexes = [NSFetchIndexDescription(name: "byNumber", elements: [element])]
        return makeModel([node])
    }

    init(_ context: NSManagedObjectContext, _ random: inout SeededGenerator) throws {
        self.context = context
        database = try SQLiteReference()
        try database.rows("CREATE TABLE node (pk INTEGER PRIMARY KEY, n INTEGER, m INTEGER, t TEXT, up INTEGER)")
        var nodes: [NSManagedObject] = []
        for key in 1...40 {
            let (n, m) = (random.chance(0.3) ? nil : random.below(4), random.chance(0.3) ? nil : random.below(4))
            let text = random.chance(0.3) ? nil : ["a", "ab", "b", "ba"][random.below(4)]
            let node = context.insert("Node", ["n": n, "m": m, "t": text])
            let up = nodes.isEmpty || random.chance(0.35) ? nil : random.below(nodes.count)
            if let up { node.setValue(nodes[up], forKey: "up") }
            nodes.append(node)
            func literal(_ number: Int?) -> String { number.map { "\($0)" } ?? "NULL" }
            try database.rows(
                "INSERT INTO node VALUES (\(key), \(literal(n)), \(literal(m)), \(text.map { "'\($0)'" } ?? "NULL"), "
                    + "\(literal(up.map { $0 + 1 })))")
        }
        try context.save()
        keys = Dictionary(uniqueKeysWithValues: nodes.enumerated().map { ($1.objectID, Int64($0 + 1)) })
    }

    // MARK: Cells

    private static let up = "(SELECT u.%@ FROM node u WHERE u.pk = p.up)"

    /// Of the nodes below the one above, as far as there is one above.
    private static func above(_ aggregate: String) -> String {
        "(CASE WHEN p.up IS NULL THEN NULL ELSE (SELECT \(aggregate) FROM node c WHERE c.up = p.up) END)"
    }

    private static func below(_ aggregate: String) -> String { "(SELECT \(aggregate) FROM node c WHERE c.up = p.pk)" }

    /// Forms of values, in both languages.
    static let numbers: [Condition] = [
        ("n", "p.n"), ("n + 1", "(p.n + 1)"), ("up.n", up.replacingOccurrences(of: "%@", with: "n")),
        ("up.up.n", "(SELECT v.n FROM node u JOIN node v ON v.pk = u.up WHERE u.pk = p.up)"),
        ("down.@count", below("COUNT(*)")), ("down.@sum.n", below("COALESCE(SUM(c.n), 0)")),
        ("down.@max.n", below("MAX(c.n)")), ("down.@min.n", below("MIN(c.n)")),
        ("SUBQUERY(down, $x, $x.n > 1).@count", below("COUNT(CASE WHEN c.n > 1 THEN 1 END)")),
        ("SUBQUERY(down, $x, NOT ($x.n > 1)).@count", below("COUNT(CASE WHEN NOT (c.n > 1) THEN 1 END)")),
        ("up.down.@count", above("COUNT(*)")), ("up.down.@sum.n", above("COALESCE(SUM(c.n), 0)")),
        ("up.down.@max.n", above("MAX(c.n)")), ("up.down.@min.n", above("MIN(c.n)")),
        ("SUBQUERY(up.down, $x, $x.n > 1).@count", above("COUNT(CASE WHEN c.n > 1 THEN 1 END)")),
        ("SUBQUERY(up.down, $x, TRUEPREDICATE).@count", above("COUNT(*)")),
        (
            "SUBQUERY(up.up.down, $x, $x.n != 1).@count",
            "(SELECT (SELECT COUNT(CASE WHEN c.n <> 1 THEN 1 END) FROM node c WHERE c.up = u.up) FROM node u "
                + "WHERE u.pk = p.up AND u.up IS NOT NULL)"
        ),
        (
            "SUBQUERY(SUBQUERY(up.down, $x, $x.n > 0), $y, $y.m != nil).@count",
            above("COUNT(CASE WHEN c.n > 0 AND c.m IS NOT NULL THEN 1 END)")
        ),
    ]

    static let texts: [Condition] = [("t", "p.t"), ("up.t", up.replacingOccurrences(of: "%@", with: "t"))]

    /// Conditions on members, which are never unknown.
    static let ofMembers: [Condition] = [
        ("ANY down.n == 1", "EXISTS (SELECT 1 FROM node c WHERE c.up = p.pk AND c.n = 1)"),
        ("ANY down.n != 1", "EXISTS (SELECT 1 FROM node c WHERE c.up = p.pk AND c.n <> 1)"),
        ("NONE down.n != 1", "NOT EXISTS (SELECT 1 FROM node c WHERE c.up = p.pk AND c.n <> 1)"),
        ("ALL down.n != 1", "NOT EXISTS (SELECT 1 FROM node c WHERE c.up = p.pk AND (c.n <> 1) IS NOT TRUE)"),
        ("ANY up.down.n == 1", "EXISTS (SELECT 1 FROM node c WHERE c.up = p.up AND c.n = 1)"),
        ("ANY up.down.n != 1", "EXISTS (SELECT 1 FROM node c WHERE c.up = p.up AND c.n <> 1)"),
        ("NONE up.down.n != 1", "NOT EXISTS (SELECT 1 FROM node c WHERE c.up = p.up AND c.n <> 1)"),
        ("n == m", "p.n = p.m"), ("n != m", "p.n <> p.m"), ("n < m", "p.n < p.m"),
        ("n != up.n", "p.n <> \(up.replacingOccurrences(of: "%@", with: "n"))"),
        ("up == nil", "p.up IS NULL"), ("up != nil", "p.up IS NOT NULL"), ("up.up == nil", "\(upUp) IS NULL"),
        ("up.up != nil", "\(upUp) IS NOT NULL"),
    ]

    private static let upUp = "(SELECT u.up FROM node u WHERE u.pk = p.up)"

    /// A value with every operator.
    func conditions(of value: Condition, _ random: inout SeededGenerator) -> [Condition] {
        let isText = Self.texts.contains { $0 == value }
        func constant() -> String { isText ? "'\(["a", "ab", "b"][random.below(3)])'" : "\(random.below(4))" }
        var conditions: [Condition] = [
            ("\(value.format) == nil", "\(value.sql) IS NULL"), ("\(value.format) != nil", "\(value.sql) IS NOT NULL"),
            ("\(value.format) < nil", "\(value.sql) < NULL"), ("\(value.format) IN {}", "0"),
        ]
        for (sign, sql) in [("==", "="), ("!=", "<>"), ("<", "<"), ("<=", "<="), (">", ">"), (">=", ">=")] {
            let constant = constant()
            conditions.append(("\(value.format) \(sign) \(constant)", "\(value.sql) \(sql) \(constant)"))
        }
        let (low, high) = (constant(), constant())
        conditions.append(("\(value.format) IN {\(low), \(high)}", "\(value.sql) IN (\(low), \(high))"))
        if !isText {
            conditions.append(("0 != \(value.format)", "0 <> \(value.sql)"))
            conditions.append(("\(value.format) BETWEEN {\(low), \(high)}", "\(value.sql) BETWEEN \(low) AND \(high)"))
            return conditions
        }
        for (word, pattern) in [("BEGINSWITH", "a*"), ("ENDSWITH", "*a"), ("CONTAINS", "*a*"), ("BEGINSWITH[c]", "a*")]
        {
            conditions.append(("\(value.format) \(word) 'a'", "\(value.sql) GLOB '\(pattern)'"))
        }
        conditions.append(("\(value.format) LIKE 'a*'", "\(value.sql) GLOB 'a*'"))
        conditions.append(("\(value.format) MATCHES 'a.*'", "\(value.sql) GLOB 'a*'"))
        return conditions
    }

    static func wrapped(_ condition: Condition) -> [Condition] {
        [
            condition, ("NOT (\(condition.format))", "NOT (\(condition.sql))"),
            ("NOT NOT (\(condition.format))", "NOT NOT (\(condition.sql))"),
            ("NOT (\(condition.format) AND n == 1)", "NOT (\(condition.sql) AND p.n = 1)"),
            ("\(condition.format) OR m == 2", "\(condition.sql) OR p.m = 2"),
        ]
    }

    // MARK: Comparing

    func compare(_ format: String, _ sql: String, _ text: String) throws {
        let expected = try database.rows("SELECT p.pk FROM node p WHERE \(sql) ORDER BY p.pk").map { $0[0] }
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Node")
        request.resultType = .managedObjectIDResultType
        request.predicate = NSPredicate(format: format)
        func found() throws -> [SQLiteReference.Value] {
            try context.fetch(request).map { .integer(keys[$0] ?? 0) }
        }
        #expect(try found() == expected, "planned, \(text): \(format)")
        #expect(try IndexUse.setting.withValue(.always) { try found() } == expected, "index, \(text): \(format)")
        for end in [SemiJoinUse.members, .owners] {
            #expect(try SemiJoinUse.setting.withValue(end) { try found() } == expected, "\(end), \(text): \(format)")
        }
        #expect(
            try CompiledExecution.setting.withValue(false) { try found() } == expected,
            "interpreted, \(text): \(format)")
        #expect(try context.count(for: request) == expected.count, "counted, \(text): \(format)")
    }
}

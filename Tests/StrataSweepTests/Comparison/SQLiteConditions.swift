import CoreData
import Foundation
import StrataTestKit

/// A condition in both languages. What is compared with null is unknown in both.
struct SQLiteCondition {
    var predicate: NSPredicate
    var sql: String
}

/// Random conditions on persons, as predicates and as SQL over the table `person p`.
struct SQLiteConditions {
    static let words = ["", "a", "A", "ab", "Ab", "abc", "b", "B", "delta", "Delta", "x", "é", "日本", "🙂", "Zz", "it's"]
    private static let plainWords = words.filter { word in word.utf8.allSatisfy { $0 < 128 } }
    private static let comparisons: [(format: String, sql: String)] = [
        ("==", "="), ("!=", "<>"), ("<", "<"), ("<=", "<="), (">", ">"), (">=", ">="),
    ]
    private static let departments = "(SELECT %@ FROM department d WHERE d.pk = p.department)"
    private static let chiefs =
        "(SELECT c.%@ FROM department d JOIN department c ON c.pk = d.parent WHERE d.pk = p.department)"

    let departments: [NSManagedObject]
    let tags: [NSManagedObject]

    func condition(_ random: inout SeededGenerator, depth: Int = 0) -> SQLiteCondition {
        switch random.below(depth < 3 ? 12 : 8) {
        case 0: return number("age", "p.age", &random)
        case 1: return number("score", "p.score", &random)
        case 2: return text("name", "p.name", &random)
        case 3: return text("nick", "p.nick", &random)
        case 4: return department(&random)
        case 5, 6: return toMany(&random)
        case 7: return arithmetic(&random)
        case 8:
            let inner = condition(&random, depth: depth + 1)
            return SQLiteCondition(
                predicate: NSCompoundPredicate(notPredicateWithSubpredicate: inner.predicate), sql: "NOT (\(inner.sql))"
            )
        case 9:
            let parts = (0..<2 + random.below(2)).map { _ in condition(&random, depth: depth + 1) }
            return SQLiteCondition(
                predicate: NSCompoundPredicate(orPredicateWithSubpredicates: parts.map(\.predicate)),
                sql: parts.map { "(\($0.sql))" }.joined(separator: " OR "))
        default:
            let parts = (0..<2 + random.below(2)).map { _ in condition(&random, depth: depth + 1) }
            return SQLiteCondition(
                predicate: NSCompoundPredicate(andPredicateWithSubpredicates: parts.map(\.predicate)),
                sql: parts.map { "(\($0.sql))" }.joined(separator: " AND "))
        }
    }

    // MARK: Values

    private func pair(_ format: String, _ arguments: [Any], _ sql: String) -> SQLiteCondition {
        SQLiteCondition(predicate: NSPredicate(format: format, argumentArray: arguments), sql: sql)
    }

    private func compared(_ left: String, _ sign: String, _ right: String) -> String { "\(left) \(sign) \(right)" }

    private func comparison(_ random: inout SeededGenerator) -> (format: String, sql: String) {
        Self.comparisons[random.below(Self.comparisons.count)]
    }

    private func small(_ random: inout SeededGenerator) -> Int { random.below(8) - 2 }

    private func word(_ random: inout SeededGenerator) -> String { Self.words[random.below(Self.words.count)] }

    private func literal(_ word: String) -> String { SQLiteReference.Value.text(word).literal }

    private func number(_ path: String, _ column: String, _ random: inout SeededGenerator) -> SQLiteCondition {
        switch random.below(8) {
        case 0: return pair("%K == nil", [path], "\(column) IS NULL")
        case 1: return pair("%K != nil", [path], "\(column) IS NOT NULL")
        case 2:
            let values = (0...random.below(3)).map { _ in small(&random) }
            let list = values.map(String.init).joined(separator: ", ")
            return pair("%K IN %@", [path, values], "\(column) IN (\(list))")
        case 3:
            let (low, high) = (small(&random), small(&random))
            return pair("%K BETWEEN {%@, %@}", [path, low, high], "\(column) BETWEEN \(low) AND \(high)")
        case 4:
            let (sign, value) = (comparison(&random), Double(small(&random)) + 0.5)
            return pair("%K \(sign.format) %@", [path, value], compared(column, sign.sql, "\(value)"))
        default:
            let (sign, value) = (comparison(&random), small(&random))
            return pair("%K \(sign.format) %@", [path, value], compared(column, sign.sql, "\(value)"))
        }
    }

    private func text(_ path: String, _ column: String, _ random: inout SeededGenerator) -> SQLiteCondition {
        let folds = random.chance(0.4)
        // SQLite knows capital letters of ASCII only.
        let word = folds ? Self.plainWords[random.below(Self.plainWords.count)] : word(&random)
        let modifier = folds ? "[c]" : ""
        let isPlain = "COALESCE(\(column) NOT GLOB '*[^ -~]*', 1)"
        let value = folds ? "lower(\(literal(word)))" : literal(word)
        let own = folds ? "lower(\(column))" : column
        func condition(_ sign: String, _ sql: String) -> SQLiteCondition {
            let condition = pair("%K \(sign)\(modifier) %@", [path, word], sql)
            guard folds else { return condition }
            // Only where both mean the same by a letter.
            return SQLiteCondition(
                predicate: NSCompoundPredicate(andPredicateWithSubpredicates: [
                    condition.predicate,
                    NSPredicate(format: "%K == nil OR %K MATCHES '[ -~]*'", argumentArray: [path, path]),
                ]), sql: "(\(condition.sql)) AND \(isPlain)")
        }
        switch random.below(9) {
        case 0: return pair("%K == nil", [path], "\(column) IS NULL")
        case 1:
            let values = (0...random.below(3)).map { _ in self.word(&random) }
            let list = values.map(literal).joined(separator: ", ")
            return pair("%K IN %@", [path, values], "\(column) IN (\(list))")
        case 2 where !word.isEmpty:
            return condition("BEGINSWITH", "substr(\(own), 1, length(\(value))) = \(value)")
        case 3 where !word.isEmpty:
            return condition("ENDSWITH", "substr(\(own), -length(\(value))) = \(value)")
        case 4 where !word.isEmpty, 5 where !word.isEmpty:
            return condition("CONTAINS", "instr(\(own), \(value)) > 0")
        case 6:
            let pattern =
                ["*", "?", ""][random.below(3)] + word.replacingOccurrences(of: "'", with: "")
                + ["*", ""][random.below(2)]
            return pair("%K LIKE %@", [path, pattern], "\(column) GLOB \(literal(pattern))")
        default:
            let sign = Self.comparisons[random.below(folds ? 2 : Self.comparisons.count)]
            return condition(" \(sign.format)", compared(own, sign.sql, value))
        }
    }

    // MARK: Relationships

    private func department(_ random: inout SeededGenerator) -> SQLiteCondition {
        func column(_ format: String, _ name: String) -> String { format.replacingOccurrences(of: "%@", with: name) }
        let place = random.below(departments.count)
        if random.chance(0.3) { return ofDepartment(&random) }
        switch random.below(9) {
        case 0: return pair("department == nil", [], "p.department IS NULL")
        case 1: return pair("department == %@", [departments[place]], "p.department = \(place + 1)")
        case 2: return pair("department != %@", [departments[place]], "p.department <> \(place + 1)")
        case 3:
            return pair(
                "department IN %@", [[departments[place], departments[0]]],
                "p.department IN (\(place + 1), 1)")
        case 4: return number("department.rank", column(Self.departments, "d.rank"), &random)
        case 5: return text("department.title", column(Self.departments, "d.title"), &random)
        case 6: return number("department.parent.rank", column(Self.chiefs, "rank"), &random)
        case 7: return text("department.parent.title", column(Self.chiefs, "title"), &random)
        default: return pair("department.parent != nil", [], "\(column(Self.departments, "d.parent")) IS NOT NULL")
        }
    }

    /// What is computed of the department, and of the one above it.
    private func ofDepartment(_ random: inout SeededGenerator) -> SQLiteCondition {
        let (sign, value) = (comparison(&random), small(&random))
        func own(_ name: String) -> String { Self.departments.replacingOccurrences(of: "%@", with: "d.\(name)") }
        func chief(_ name: String) -> String { Self.chiefs.replacingOccurrences(of: "%@", with: name) }
        switch random.below(7) {
        case 0:
            return pair(
                "department.rank \(sign.format) department.parent.rank", [],
                compared(own("rank"), sign.sql, chief("rank")))
        case 1:
            return pair(
                "department.title \(sign.format) department.parent.title", [],
                compared(own("title"), sign.sql, chief("title")))
        case 2:
            return pair(
                "%@ \(sign.format) department.rank * 2", [value], compared("\(value)", sign.sql, "\(own("rank")) * 2"))
        case 3:
            let (low, high) = (small(&random), small(&random))
            return pair(
                "abs(department.rank - department.parent.rank) BETWEEN {%@, %@}", [low, high],
                "abs(\(own("rank")) - \(chief("rank"))) BETWEEN \(low) AND \(high)")
        case 4:
            return pair(
                "length(department.title) \(sign.format) %@", [value],
                compared("length(replace(\(own("title")), '🙂', 'xx'))", sign.sql, "\(value)"))
        case 5:
            return pair(
                "department.rank \(sign.format) age", [], compared(own("rank"), sign.sql, "p.age"))
        default:
            return pair(
                "department.parent.rank + 1 \(sign.format) %@ OR department.rank == %@", [value, value],
                "\(compared("\(chief("rank")) + 1", sign.sql, "\(value)")) OR \(own("rank")) = \(value)")
        }
    }

    private static func exists(_ condition: String) -> String {
        "EXISTS (SELECT 1 FROM person_tag j JOIN tag t ON t.pk = j.tag WHERE j.person = p.pk AND \(condition))"
    }

    private static func total(_ what: String) -> String {
        "(SELECT \(what) FROM person_tag j JOIN tag t ON t.pk = j.tag WHERE j.person = p.pk)"
    }

    private func toMany(_ random: inout SeededGenerator) -> SQLiteCondition {
        let (sign, value) = (comparison(&random), small(&random))
        let weighs = compared("t.weight", sign.sql, "\(value)")
        let place = random.below(tags.count)
        let text = word(&random)
        let named = compared("t.label", sign.sql, literal(text))
        if random.chance(0.35) { return colleagues(&random) }
        switch random.below(14) {
        case 12:
            return pair("ANY tags.weight \(sign.format) age", [], Self.exists(compared("t.weight", sign.sql, "p.age")))
        case 13:
            return pair(
                "NONE tags.weight \(sign.format) score", [],
                "NOT " + Self.exists(compared("t.weight", sign.sql, "p.score")))
        case 0: return pair("ANY tags.weight \(sign.format) %@", [value], Self.exists(weighs))
        case 1: return pair("NONE tags.weight \(sign.format) %@", [value], "NOT " + Self.exists(weighs))
        case 2:
            return pair(
                "ALL tags.weight \(sign.format) %@", [value], "NOT " + Self.exists("(\(weighs)) IS NOT TRUE"))
        case 3: return pair("ANY tags.label \(sign.format) %@", [text], Self.exists(named))
        case 4:
            return pair(
                "tags.@count \(sign.format) %@", [value], compared(Self.total("COUNT(*)"), sign.sql, "\(value)"))
        case 5:
            return pair(
                "tags.@sum.weight \(sign.format) %@", [value],
                compared(Self.total("COALESCE(SUM(t.weight), 0)"), sign.sql, "\(value)"))
        case 6:
            return pair(
                "tags.@max.weight \(sign.format) %@", [value],
                compared(Self.total("MAX(t.weight)"), sign.sql, "\(value)"))
        case 7:
            return pair(
                "tags.@min.weight \(sign.format) %@", [value],
                compared(Self.total("MIN(t.weight)"), sign.sql, "\(value)"))
        case 8: return pair("%@ IN tags", [tags[place]], Self.exists("t.pk = \(place + 1)"))
        case 9: return pair("ANY tags IN %@", [[tags[0], tags[place]]], Self.exists("t.pk IN (1, \(place + 1))"))
        case 10:
            return pair(
                "SUBQUERY(tags, $t, $t.weight \(sign.format) %@ AND $t.label BEGINSWITH 'a').@count > 0", [value],
                Self.exists("\(weighs) AND substr(t.label, 1, 1) = 'a'"))
        default:
            return pair(
                "SUBQUERY(tags, $t, $t.weight \(sign.format) %@).@count == 1", [value],
                "(SELECT COUNT(*) FROM person_tag j JOIN tag t ON t.pk = j.tag WHERE j.person = p.pk AND \(weighs)) = 1"
            )
        }
    }

    /// Members of one's own department, and of one's own tags.
    private func colleagues(_ random: inout SeededGenerator) -> SQLiteCondition {
        let (sign, value) = (comparison(&random), small(&random))
        let aged = compared("m.age", sign.sql, "\(value)")
        let colleagues = "FROM person m WHERE m.department = p.department AND \(aged)"
        switch random.below(7) {
        case 0:
            return pair("ANY department.members.age \(sign.format) %@", [value], "EXISTS (SELECT 1 \(colleagues))")
        case 1:
            return pair(
                "SUBQUERY(department.members, $m, $m.age \(sign.format) %@).@count == 2", [value],
                "CASE WHEN p.department IS NULL THEN NULL ELSE (SELECT COUNT(*) \(colleagues)) = 2 END")
        case 2:
            return pair(
                "ANY tags.persons.age \(sign.format) %@", [value],
                "EXISTS (SELECT 1 FROM person_tag j JOIN person_tag k ON k.tag = j.tag "
                    + "JOIN person m ON m.pk = k.person WHERE j.person = p.pk AND \(aged))")
        case 3:
            let mean = Self.total("COALESCE(SUM(t.weight), 0) * 1.0 / COUNT(*)")
            return pair(
                "tags.@avg.weight \(sign.format) %@", [value],
                compared("COALESCE(\(mean), 0)", sign.sql, "\(value)"))
        case 4:
            let place = random.below(tags.count)
            return pair(
                "tags CONTAINS %@ AND age \(sign.format) %@", [tags[place], value],
                "\(Self.exists("t.pk = \(place + 1)")) AND \(compared("p.age", sign.sql, "\(value)"))")
        case 5:
            return pair(
                "department.members.@count \(sign.format) %@", [value],
                "CASE WHEN p.department IS NOT NULL THEN "
                    + compared(
                        "(SELECT COUNT(*) FROM person m WHERE m.department = p.department)", sign.sql, "\(value)")
                    + " END")
        default:
            return pair(
                "ALL tags.persons.age \(sign.format) %@", [value],
                "NOT EXISTS (SELECT 1 FROM person_tag j JOIN person_tag k ON k.tag = j.tag "
                    + "JOIN person m ON m.pk = k.person WHERE j.person = p.pk AND (\(aged)) IS NOT TRUE)")
        }
    }

    // MARK: Functions

    private func arithmetic(_ random: inout SeededGenerator) -> SQLiteCondition {
        let (sign, value) = (comparison(&random), small(&random))
        let choices: [(format: String, sql: String)] = [
            ("age + 1", "p.age + 1"), ("age * 2 - 3", "p.age * 2 - 3"), ("score * 2", "p.score * 2"),
            ("-age", "-p.age"),
            ("abs:(age)", "abs(p.age)"),
            ("age + department.rank", "p.age + \(Self.departments.replacingOccurrences(of: "%@", with: "d.rank"))"),
            ("length(name)", "length(replace(p.name, '🙂', 'xx'))"), ("age + score", "p.age + p.score"),
            ("TERNARY(age > 2, 1, 0)", "(CASE WHEN p.age > 2 THEN 1 ELSE 0 END)"),
        ]
        let choice = choices[random.below(choices.count)]
        if random.chance(0.2) { return pair("name \(sign.format) nick", [], compared("p.name", sign.sql, "p.nick")) }
        if random.chance(0.2) {
            return pair("age \(sign.format) score", [], compared("p.age", sign.sql, "p.score"))
        }
        return pair("\(choice.format) \(sign.format) %@", [value], compared(choice.sql, sign.sql, "\(value)"))
    }
}

import Foundation
import StrataTestKit

/// Random predicate strings about employees, in the words of the grammar: many pass validation.
struct RandomPredicateText {
    private var random: SeededGenerator
    private var variables: [String] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    private static let attributes = ["name", "age", "title", "budget", "number", "code", "text", "bonus", "nickname"]
    private static let toOne = ["department", "badge", "owner", "project"]
    private static let toMany = ["employees", "projects", "friends", "staff", "tasks", "tags"]
    private static let odd = [
        "self", "SELF", "objectID", "entity", "description", "length", "@count", "@max", "@min", "@sum", "@avg",
        "@first", "@last", "@unionOfObjects", "@distinctUnionOfObjects", "@unionOfArrays", "@distinctUnionOfSets",
        "@nothing", "hash", "isFault", "name.length", "uriRepresentation",
    ]
    /// What leads on from the entities, so that long paths pass.
    private static let ways: [String: [(String, String)]] = [
        "Employee": [
            ("department", "Department"), ("badge", "Badge"), ("projects", "Project"), ("friends", "Employee"),
        ],
        "Department": [("employees", "Employee")], "Badge": [("owner", "Employee")],
        "Project": [("staff", "Employee"), ("tasks", "Task"), ("tags", "Badge")], "Task": [("project", "Project")],
    ]
    private static let ends: [String: [String]] = [
        "Employee": ["name", "age"], "Department": ["title", "budget"], "Badge": ["number"], "Project": ["code"],
        "Task": ["text"],
    ]
    private static let functions = [
        "sum", "count", "min", "max", "average", "median", "mode", "stddev", "distinct", "sqrt", "log", "ln", "exp",
        "floor", "ceiling", "trunc", "abs", "uppercase", "lowercase", "canonical", "length", "noindex", "random",
        "onesComplement:",
    ]
    private static let binaries = [
        "+", "-", "*", "/", "**", "&", "|", "^", "<<", ">>", "UNION", "INTERSECT", "MINUS",
    ]
    private static let comparisons = [
        "==", "!=", "<", "<=", ">", ">=", "IN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "==[c]", "CONTAINS[cd]",
        "LIKE[c]", "IN[c]", "<[l]", "==[n]",
    ]

    mutating func next() -> String { predicate(Int.random(in: 0...3, using: &random)) }

    private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func predicate(_ depth: Int) -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where depth > 0: "(" + predicate(depth - 1) + ") AND (" + predicate(depth - 1) + ")"
        case 1 where depth > 0: "(" + predicate(depth - 1) + ") OR (" + predicate(depth - 1) + ")"
        case 2 where depth > 0: "NOT (" + predicate(depth - 1) + ")"
        case 3: pick(["ANY ", "ALL ", "NONE "]) + comparison(depth)
        case 4: path() + " BETWEEN {" + expression(depth) + ", " + expression(0) + "}"
        case 5: pick(["TRUEPREDICATE", path() + " == nil", path() + " != nil", "SELF == " + path()])
        default: comparison(depth)
        }
    }

    private mutating func comparison(_ depth: Int) -> String {
        let left = chance(70) ? path() : expression(depth)
        return left + " " + pick(Self.comparisons) + " " + (chance(50) ? constant() : expression(depth))
    }

    private mutating func expression(_ depth: Int) -> String {
        guard depth > 0 else { return chance(50) ? path() : constant() }
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return pick(Self.functions) + "(" + expression(depth - 1) + ")"
        case 1: return "(" + expression(depth - 1) + " " + pick(Self.binaries) + " " + expression(depth - 1) + ")"
        case 2: return "{" + expression(depth - 1) + ", " + expression(depth - 1) + "}"
        case 3:
            return "TERNARY(" + predicate(depth - 1) + ", " + expression(depth - 1) + ", " + expression(depth - 1)
                + ")" + (chance(40) ? "." + step() : "")
        case 4:
            let collection = chance(70) ? way(toMany: true) : expression(depth - 1)
            let name = pick(["x", "y"])
            variables.append(name)
            defer { variables.removeLast() }
            return "SUBQUERY(" + collection + ", $" + name + ", " + predicate(depth - 1) + ")"
                + pick(["", ".@count", "." + step(), "[0]", "[SIZE]"])
        case 5: return path() + pick(["[0]", "[FIRST]", "[LAST]", "[SIZE]", "['name']", "[-1]"])
        case 6:
            return "CAST(" + expression(depth - 1) + ", '" + pick(["NSNumber", "NSString", "NSDate", "bool"]) + "')"
        case 7: return pick(["now()", "add:to:(1, 2)", "modulus:by:(age, 0)", "raise:toPower:(age, 400)"])
        default: return path()
        }
    }

    private mutating func path() -> String {
        if let name = variables.last, chance(40) { return "$" + name + (chance(80) ? "." + step() : "") }
        if chance(60) { return way(toMany: chance(50)) + (chance(20) ? "." + step() : "") }
        return (0..<Int.random(in: 1...3, using: &random)).map { _ in step() }.joined(separator: ".")
    }

    private mutating func step() -> String {
        chance(40) ? pick(Self.odd) : pick(Self.attributes + Self.toOne + Self.toMany)
    }

    /// A path that the model has.
    private mutating func way(toMany: Bool) -> String {
        var (entity, steps) = ("Employee", [String]())
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            guard let ways = Self.ways[entity] else { break }
            let (name, target) = pick(ways)
            steps.append(name)
            entity = target
            if chance(15) { steps.append(pick(Self.odd)) }
        }
        if !toMany || steps.isEmpty { steps.append(pick(Self.ends[entity] ?? ["name"])) }
        if chance(20) { steps.insert(pick(["@count", "@max", "@sum", "SELF"]), at: steps.count - 1) }
        return steps.joined(separator: ".")
    }

    private mutating func constant() -> String {
        pick([
            "1", "0", "-3", "2.5", "1e300", "9223372036854775807", "'a'", "'n*1'", "''", "'é'", "nil", "YES", "{}",
            "{1, 2}", "{'a', nil}", "SELF", "{1, {2}}", "'30'",
        ])
    }
}

import CoreData
import Foundation
import StrataTestKit
import Testing

/// Random predicates over ``PlanModel``: whatever the format language has, in random combination.
struct PlanPredicates {
    let world: PlanWorld

    /// A predicate for one of the entities.
    func predicate(_ entity: String, _ random: inout SeededGenerator, depth: Int = 0) -> NSPredicate {
        switch random.below(depth < 3 ? 9 : 5) {
        case 5: return NSCompoundPredicate(notPredicateWithSubpredicate: predicate(entity, &random, depth: depth + 1))
        case 6, 7:
            return NSCompoundPredicate(andPredicateWithSubpredicates: parts(entity, &random, depth: depth + 1))
        case 8: return NSCompoundPredicate(orPredicateWithSubpredicates: parts(entity, &random, depth: depth + 1))
        default: return leaf(entity, &random)
        }
    }

    /// What indexes are for: a few conditions, all of which must hold.
    func conjunction(_ random: inout SeededGenerator) -> NSPredicate {
        let own = (0...random.below(3)).map { _ in
            CompiledFetchModel.predicate(world.owners, world.things, &random, depth: 3)
        }
        let extra = [
            "int16 >= 1", "bool == YES AND string != nil", "int16 IN {1, 2, 3}", "NOT (int32 == 3)", "serial > 20",
            "serial == 7", "serial BETWEEN {10, 30}", "ANY tags.weight == 2", "int16 == 1 AND string >= 'a'",
        ]
        let more = random.chance(0.4) ? [NSPredicate(format: extra[random.below(extra.count)])] : []
        return NSCompoundPredicate(andPredicateWithSubpredicates: own + more)
    }

    private func parts(_ entity: String, _ random: inout SeededGenerator, depth: Int) -> [NSPredicate] {
        (0..<2 + random.below(2)).map { _ in predicate(entity, &random, depth: depth) }
    }

    private func leaf(_ entity: String, _ random: inout SeededGenerator) -> NSPredicate {
        switch entity {
        case "Owner": return format(Self.owners, &random)
        case "Tag": return format(Self.tags, &random)
        default:
            switch random.below(10) {
            case 0, 1: return format(Self.toMany, &random)
            case 2: return format(Self.toOne, &random)
            case 3: return format(Self.functions, &random)
            default: return CompiledFetchModel.predicate(world.owners, world.things, &random, depth: 3)
            }
        }
    }

    // MARK: Formats

    /// #n a small number, #w a word, #t the name of a tag, #o a comparison, #s a string operator, #m modifiers, #a ANY
    /// and its kin, $T a tag, $L two tags, $O an owner, $X a thing.
    private func format(_ formats: [String], _ random: inout SeededGenerator) -> NSPredicate {
        var text = ""
        var arguments: [Any] = []
        var rest = formats[random.below(formats.count)][...]
        while let character = rest.popFirst() {
            guard character == "#" || character == "$", let kind = rest.first else {
                text.append(character)
                continue
            }
            if character == "$" {
                guard let argument = argument(kind, &random) else {
                    text.append(character)
                    continue
                }
                text += "%@"
                arguments.append(argument)
            } else if kind == "w" || kind == "t" {
                text += "%@"
                arguments.append(kind == "w" ? CompiledFetchModel.text(&random) : tagName(&random))
            } else {
                text += piece(kind, &random)
            }
            rest.removeFirst()
        }
        // What is no regular expression makes the fetch throw.
        if text.contains("MATCHES") {
            arguments = arguments.map { argument in
                guard let pattern = argument as? String, (try? NSRegularExpression(pattern: pattern)) == nil else {
                    return argument
                }
                return pattern.isEmpty ? "a?" : NSRegularExpression.escapedPattern(for: pattern)
            }
        }
        return NSPredicate(format: text, argumentArray: arguments)
    }

    private func tagName(_ random: inout SeededGenerator) -> String {
        PlanModel.tagNames[random.below(PlanModel.tagNames.count)]
    }

    private func argument(_ kind: Character, _ random: inout SeededGenerator) -> Any? {
        switch kind {
        case "T": return world.tags[random.below(world.tags.count)]
        case "L": return [world.tags[0], world.tags[random.below(world.tags.count)]]
        case "O": return world.owners[random.below(world.owners.count)]
        case "X": return world.things[random.below(world.things.count)]
        case "D": return Date(timeIntervalSinceReferenceDate: Double(random.below(4)))
        default: return nil
        }
    }

    private func piece(_ kind: Character, _ random: inout SeededGenerator) -> String {
        func one(_ choices: [String]) -> String { choices[random.below(choices.count)] }
        switch kind {
        case "n": return String(random.below(6) - 1)
        case "o": return one(["==", "!=", "<", "<=", ">", ">=", "=", "<>"])
        case "s":
            return one(["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "==", "!=", "<", ">="])
                + modifiers(&random)
        case "m": return modifiers(&random)
        case "a": return one(["ANY", "ALL", "NONE", "SOME", "ANY", "NOT ANY"])
        case "i":
            return one([
                "int16", "int32", "int64", "int32Twin", "serial", "bool", "int16Twin", "parent.int16", "owner.rank",
            ])
        case "f": return one(["float", "double", "decimal", "doubleTwin", "floatTwin"])
        case "g": return one(["@sum", "@max", "@min", "@avg"])
        default: return String(kind)
        }
    }

    private func modifiers(_ random: inout SeededGenerator) -> String {
        ["", "", "[c]", "[d]", "[cd]", "[n]", "[l]"][random.below(7)]
    }

    private static let toMany = [
        "#a tags.name #s #t", "#a tags.weight #o #n", "#a tags.name == nil", "tags.@count #o #n", "#a tags == $T",
        "tags.#g.weight #o #n", "SUBQUERY(tags, $t, $t.weight #o #n).@count #o #n", "$T IN tags", "tags CONTAINS $T",
        "SUBQUERY(tags, $t, $t.weight #o #n AND $t.name #s #t).@count #o #n", "#a tags IN $L",
        "#a owner.things.int16 #o #n", "owner.things.@count #o #n", "#a children.int32 #o #n", "children.@count #o #n",
        "#a tags.things.int16 == #n", "#a tags.name IN {'a', 'zz', 'abc'}", "#a tags.weight BETWEEN {#n, #n}",
        "SUBQUERY(children, $c, SUBQUERY($c.tags, $t, $t.weight #o #n).@count > 0).@count #o #n",
        "SUBQUERY(tags, $t, $t.weight == $t.score).@count > 0", "tags.name CONTAINS #t", "children.#g.int16 #o #n",
        "#a children.bool == YES", "#a tags.score #o #n", "SUBQUERY(children, $c, $c.owner == $O).@count > 0",
        "tags.@distinctUnionOfObjects.name CONTAINS #t", "#a owner.staff.rank #o #n", "tags.@count == children.@count",
        "SUBQUERY(tags, $t, ANY $t.things.int16 == #n).@count == #n", "#n #o tags.@count", "#a children IN {$X, $X}",
        "int32 #o #n AND #a tags.name #s #t", "int16 == #n AND SUBQUERY(children, $c, $c.int32 #o #n).@count #o #n",
        "tags.@count == 0 OR #a tags.weight == #n", "parent.tags CONTAINS $T", "parent.children.#g.int32 #o #n",
        "owner.staff.@count #o #n", "#a children == $X",
    ]

    private static let toOne = [
        "owner.title #s #w", "owner.rank #o #n", "owner.boss.title #s #w", "owner.boss.rank BETWEEN {#n, #n}",
        "owner.boss == nil", "owner.boss.boss.title #s #w", "parent.int16 #o #n", "parent.owner.title != #w",
        "parent.parent.string == nil", "owner.boss == $O", "owner.rank IN {1, 2, #n}", "owner == $O", "parent == $X",
        "parent.owner == $O", "owner.boss != $O", "parent != nil", "owner.title == nil",
        "owner.rank == owner.boss.rank",
        "parent.string #s #w", "SELF == $X", "SELF IN {$X, $X}", "parent IN {$X, $X}", "NOT (parent.owner.rank #o #n)",
    ]

    private static let functions = [
        "abs:(#i) #o #n", "#i + #i #o #n", "int32 * 2 #o int16", "#i - 1 #o #n", "#f / 2 #o #n", "#i #o #i", "#f #o #f",
        "modulus:by:(#i, 3) #o #n", "uppercase:(string) #s #w", "lowercase(string) #s #w", "length(string) #o #n",
        "ceiling:(#f) #o #n", "floor:(#f) #o #n", "trunc:(#f) #o #n", "sqrt:(#f) #o #n", "max({int16, int32}) #o #n",
        "TERNARY(int16 #o #n, int32, int64) #o #n", "date < now()", "date #o $D", "$D #o date",
        "$D IN {date, dateTwin}",
        "bitwiseAnd:with:(#i, 1) == #n", "sum({int16, 1}) #o #n", "string MATCHES#m '(a|d).*'",
        "string MATCHES '[a-z]+'",
        "#i IN {1, 2, #i}", "#i BETWEEN {#i, 3}", "#n IN {int16, int32}", "#n BETWEEN {int16, int32}",
        "string #s stringTwin", "string #s 'a'", "string LIKE#m '*#t?*'", "string IN#m {'a', 'ABC', 'é'}",
        "count({int16, string}) #o #n", "CAST(#i, 'NSString') == '#n'", "CAST('#n', 'NSNumber') #o #i",
        "string = nil OR string = ''", "#f == CAST('nan', 'NSNumber')", "#i != nil", "nil == #i", "#f = nil",
        "NIL != #f",
        "#i == TRUE", "#i == NO", "int16 & 1 == #n", "int16 << 1 #o #n", "-int16 #o #n", "int16 ** 2 #o #n",
        "canonical(string) #s #w", "#i #o 2.5", "#f #o #i", "#i BETWEEN {3, 1}", "string BETWEEN {'a', 'z'}",
        "decimal * #f #o #n", "decimal + #i #o #f", "decimal - decimalTwin #o #n", "decimal #o #i", "decimal #o #f",
        "#i #o parent.decimal", "decimal * decimal #o decimalTwin", "owner.rank * decimal #o #n",
        "decimal / decimalTwin #o #n", "decimal / #i #o #f", "#i / decimal #o #n", "decimal / #f #o #n",
        "TRUEPREDICATE", "FALSEPREDICATE", "#i IN {}", "uri == nil", "data != nil", "list == nil",
    ].map { $0.replacingOccurrences(of: "list", with: "uuid") }

    private static let owners = [
        "title #s #w", "rank #o #n", "title == nil", "boss.title #s #w", "boss == $O", "things.@count #o #n",
        "#a things.int16 #o #n", "#a things.string #s #w", "#a staff.rank #o #n", "things.#g.int32 #o #n",
        "SUBQUERY(things, $t, $t.int16 #o #n AND $t.bool == YES).@count #o #n", "$X IN things",
        "#a things.tags.weight == #n",
        "SUBQUERY(things, $t, ANY $t.tags.name == #t).@count #o #n", "rank BETWEEN {#n, #n}", "title IN#m {'a', 'ABC'}",
        "SELF == $O", "SELF IN {$O, $O}", "NOT (title #s #w)", "boss.boss != nil", "staff.@count #o rank",
    ]

    private static let tags = [
        "name #s #t", "weight #o #n", "score #o #n", "name == nil", "things.@count #o #n", "#a things.int16 #o #n",
        "#a things.owner.title #s #w", "SUBQUERY(things, $x, $x.owner == $O).@count #o #n", "weight IN {1, 2, #n}",
        "things.#g.double #o #n", "SELF IN $L", "$X IN things", "weight == 2 AND name #s #t", "weight BETWEEN {#n, 3}",
        "#a things.children.int16 == #n", "weight + 1 #o score", "things.@count == weight",
    ]
}

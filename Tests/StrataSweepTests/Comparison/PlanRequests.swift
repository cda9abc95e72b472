import CoreData
import Foundation
import StrataTestKit

/// Random requests over ``PlanModel`` with all the options that change what is found.
struct PlanRequests {
    typealias Request = NSFetchRequest<any NSFetchRequestResult>

    let world: PlanWorld

    func request(_ random: inout SeededGenerator) -> Request {
        let entities = ["Thing", "Thing", "Thing", "Thing", "Thing", "SpecialThing", "SpecialThing", "Owner", "Tag"]
        let entity = entities[random.below(entities.count)]
        let request = Request(entityName: entity)
        let predicates = PlanPredicates(world: world)
        let isThing = entity == "Thing" || entity == "SpecialThing"
        if random.chance(0.95) {
            request.predicate =
                isThing && random.chance(0.3)
                ? predicates.conjunction(&random) : predicates.predicate(entity, &random)
        }
        request.includesSubentities = random.chance(0.8)
        if random.chance(0.15), isThing {
            makeDictionaries(request, &random)
        } else {
            request.includesPendingChanges = random.chance(0.75)
            if random.chance(0.45) { request.sortDescriptors = order(entity, &random) }
            switch random.below(5) {
            case 0: request.resultType = .countResultType
            case 1: request.resultType = []
            default: request.resultType = .managedObjectIDResultType
            }
            request.includesPropertyValues = random.chance(0.8)
            request.returnsObjectsAsFaults = random.chance(0.8)
            if random.chance(0.1) { request.fetchBatchSize = 1 + random.below(20) }
            if random.chance(0.1), isThing { request.relationshipKeyPathsForPrefetching = ["owner", "tags"] }
        }
        if random.chance(0.35) { request.fetchLimit = random.below(30) }
        if random.chance(0.2) { request.fetchOffset = random.below(10) }
        return request
    }

    // MARK: Order

    private static let orders = [
        ["int16", "string"], ["string"], ["double", "-int32"], ["date"], ["uuid", "bool"], ["string", "int16"],
        ["bool", "-date", "string"], ["-bool", "date", "-string"], ["int32"], ["-int64", "string"], ["-date"],
        ["owner.title", "int16"], ["-owner.boss.rank"], ["parent.int16", "serial"], ["-serial"], ["uuid", "serial"],
        ["decimal", "-float"], ["-uuid", "-bool"], ["int64Twin"], ["owner", "int64"], ["-owner"], ["data"], ["uri"],
        ["-decimalTwin"], ["parent.decimal", "-serial"], ["tags.@count", "serial"], ["-children.@count", "int16"],
        ["tags.@max.weight", "-serial"], ["-tags.@sum.score", "serial"], ["owner.things.@count", "serial"],
        ["-children.@min.date"], ["children.@max.float", "serial"], ["-tags.@avg.weight", "-serial"],
        ["children.@max.string", "serial"], ["-tags.@min.name", "int16"], ["string", "owner.title"],
        ["int64Twin", "-parent.string", "serial"], ["-serial", "string"], ["owner", "string"],
    ]

    private func order(_ entity: String, _ random: inout SeededGenerator) -> [NSSortDescriptor] {
        var names: [String]
        switch entity {
        case "Owner":
            names =
                [
                    ["title"], ["-rank", "title"], ["boss.title", "rank"], ["-title"], ["-things.@count", "title"],
                    ["boss.staff.@count", "-rank"],
                ][random.below(6)]
        case "Tag":
            names =
                [
                    ["-weight", "name"], ["weight", "-name"], ["score"], ["name"], ["things.@avg.int16", "name"],
                ][random.below(5)]
        default: names = Self.orders[random.below(Self.orders.count)]
        }
        if entity != "Owner", entity != "Tag", random.chance(0.3) {
            names = (0...random.below(3)).map { _ in
                let name = CompiledFetchModel.kinds[random.below(CompiledFetchModel.kinds.count)].name
                return (random.chance(0.5) ? "-" : "") + name + (random.chance(0.5) ? "Twin" : "")
            }
        }
        return names.map { name in
            let isDescending = name.hasPrefix("-")
            let key = isDescending ? String(name.dropFirst()) : name
            let selectors = ["caseInsensitiveCompare:", "localizedStandardCompare:", "compare:", "localizedCompare:"]
            if ["string", "title", "name"].contains(key), random.chance(0.15) {
                let selector = Selector(selectors[random.below(selectors.count)])
                return NSSortDescriptor(key: key, ascending: !isDescending, selector: selector)
            }
            return NSSortDescriptor(key: key, ascending: !isDescending)
        }
    }

    // MARK: Dictionaries

    private static let groupings = [
        "bool", "int16", "int64", "string", "date", "owner", "double", "float", "uuid", "owner.title", "decimal", "uri",
        "data", "parent.uuid", "parent.decimal",
    ]
    private static let columns = groupings + ["int32", "owner.boss.title", "stringTwin", "serial", "parent"]
    private static let aggregates = [
        "sum:(int32)", "count:(SELF)", "count:(string)", "min:(int64)", "max:(date)", "average:(int16)", "max:(double)",
        "min:(string)", "sum:(bool)", "max:(int16) - min:(int16)", "sum:(int16 + 1)", "median:(int32)",
        "stddev:(int16)",
        "count:(owner)", "sum:(decimal)", "average:(decimal)", "@max.int32", "sum:(float)", "max:(serial)",
        "max:(tags.@count)", "tags.@count", "sum:(owner.things.@count)", "sum:(decimal * int16)",
        "max:(decimal - decimalTwin)", "average:(distinct:(decimal + 1))", "min:(tags.@max.name)",
        "count:(children.@min.string)",
    ]
    private static let functions = ["sum", "count", "min", "max", "average", "median", "mode", "stddev"]
    private static let arguments = [
        "bool", "int16", "int32", "int64", "float", "double", "decimal", "date", "string", "uuid", "data", "uri",
        "owner.rank", "owner.title", "parent.decimal", "int16 * 2", "length(string)",
    ]
    private static let values = [
        "int16 + 1", "uppercase(string)", "tags.@count", "SELF", "tags.@sum.weight", "owner.things.@count",
        "length(string)", "children.@count", "count:(tags)", "children.@max.double", "tags.@avg.score",
        "tags.@count + children.@count", "children.@min.bool", "tags.@sum.score * 2", "decimal * 3", "decimal + int32",
        "1 - decimal", "tags.@max.name", "owner.things.@min.string", "length(children.@max.string)",
    ]

    private func expression(_ format: String, _ index: Int) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = "value\(index)"
        description.expression = NSExpression(format: format)
        return description
    }

    private func makeDictionaries(_ request: Request, _ random: inout SeededGenerator) {
        func some(_ names: [String], _ count: Int) -> [String] {
            (0..<count).map { _ in names[random.below(names.count)] }
        }
        request.resultType = .dictionaryResultType
        guard random.chance(0.6) else {
            var columns: [Any] = some(Self.columns, 1 + random.below(3))
            if random.chance(0.4) { columns.append(expression(some(Self.values, 1)[0], 0)) }
            request.propertiesToFetch = columns
            request.returnsDistinctResults = random.chance(0.5)
            if random.chance(0.4) { request.sortDescriptors = [NSSortDescriptor(key: "serial", ascending: false)] }
            if request.returnsDistinctResults { request.sortDescriptors = nil }
            return
        }
        let groups = some(Self.groupings, random.below(3))
        let aggregates = (0...random.below(3)).map { index in
            guard random.chance(0.5) else { return expression(some(Self.aggregates, 1)[0], index) }
            let argument = some(Self.arguments, 1)[0]
            let values = random.chance(0.5) ? "distinct:(\(argument))" : argument
            return expression("\(some(Self.functions, 1)[0]):(\(values))", index)
        }
        request.propertiesToFetch = groups + aggregates
        if groups.isEmpty { return }
        request.propertiesToGroupBy = groups
        if random.chance(0.3) {
            request.sortDescriptors = [
                NSSortDescriptor(key: random.chance(0.5) ? "value0" : groups[0], ascending: random.chance(0.5))
            ]
        }
        let conditions = [
            "count:(SELF) > 1", "sum:(int32) >= 2", "max:(int16) != nil", "count:(string) == 1 OR min:(int32) < 0",
            "average:(int16) < 100", "NOT (count:(SELF) == 2)",
        ]
        if random.chance(0.3) {
            request.havingPredicate = NSPredicate(format: conditions[random.below(conditions.count)])
        }
    }
}

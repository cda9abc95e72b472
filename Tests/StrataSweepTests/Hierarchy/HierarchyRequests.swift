import CoreData
import Foundation
import StrataTestKit

/// Random requests over the entities of a ``HierarchyModel``.
struct HierarchyRequests {
    typealias Request = NSFetchRequest<any NSFetchRequestResult>

    let model: HierarchyModel
    /// Objects of all entities, which predicates name.
    let ids: [NSManagedObjectID]

    func request(_ random: inout SeededGenerator) -> Request {
        let name = random.chance(0.15) ? "Box" : entity(&random)
        let request = Request(entityName: name)
        if random.chance(0.9) { request.predicate = predicate(name, &random) }
        request.includesSubentities = random.chance(0.8)
        let all = name == "Box" ? ["title"] : model.attributes(name).map(\.name)
        let columns = all.filter { _ in random.chance(0.3) }
        switch random.below(6) {
        case 0: request.resultType = .countResultType
        case 1 where !columns.isEmpty:
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = columns
            request.returnsDistinctResults = random.chance(0.7)
        case 2 where name != "Box": group(request, name, &random)
        default:
            request.resultType = .managedObjectIDResultType
            request.sortDescriptors = columns.prefix(2).map { NSSortDescriptor(key: $0, ascending: random.chance(0.5)) }
            if random.chance(0.5) { request.fetchLimit = 1 + random.below(60) }
            if random.chance(0.3) { request.fetchOffset = random.below(400) }
        }
        return request
    }

    func entity(_ random: inout SeededGenerator) -> String { model.names[random.below(model.names.count)] }

    private func group(_ request: Request, _ name: String, _ random: inout SeededGenerator) {
        let attributes = model.attributes(name)
        let groups = attributes.filter { $0.kind != "uri" && random.chance(0.2) }.map(\.name)
        let numbers = attributes.filter { ["int16", "int32", "double", "bool", "date"].contains($0.kind) }
        let functions = (0...random.below(3)).map { number in
            let function = ["sum:", "count:", "min:", "max:", "average:"][random.below(5)]
            let attribute = numbers[random.below(numbers.count)].name
            let description = NSExpressionDescription()
            description.name = "value\(number)"
            description.expression = NSExpression(
                forFunction: function, arguments: [NSExpression(forKeyPath: attribute)])
            return description
        }
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = groups + functions
        if !groups.isEmpty { request.propertiesToGroupBy = groups }
    }

    // MARK: Predicates

    func predicate(_ name: String, _ random: inout SeededGenerator, depth: Int = 0) -> NSPredicate {
        switch random.below(depth < 2 ? 12 : 8) {
        case 8:
            return NSCompoundPredicate(
                notPredicateWithSubpredicate: predicate(name, &random, depth: depth + 1))
        case 9:
            return NSCompoundPredicate(
                orPredicateWithSubpredicates: (0..<2).map { _ in predicate(name, &random, depth: depth + 1) })
        case 10, 11:
            return NSCompoundPredicate(
                andPredicateWithSubpredicates: (0..<2).map { _ in predicate(name, &random, depth: depth + 1) })
        case 7 where !ids.isEmpty:
            let some = (0..<40).map { _ in ids[random.below(ids.count)] }
            return NSPredicate(format: "SELF IN %@", some)
        case 5, 6:
            if name == "Box" { return contents(&random) }
            if model.isInBoxes(name) { return box(&random) }
            return comparison(name, &random)
        default: return comparison(name, &random)
        }
    }

    private static let signs = ["==", "!=", "<", "<=", ">", ">="]

    private func comparison(_ name: String, _ random: inout SeededGenerator) -> NSPredicate {
        if name == "Box" { return NSPredicate(format: "title < %@", CompiledFetchModel.text(&random)) }
        let attributes = model.attributes(name)
        // What the entity itself declares is what its parent's rows lack.
        let count = random.chance(0.5) ? min(3, attributes.count) : attributes.count
        let attribute = attributes[random.below(count)]
        return comparison(attribute.name, attribute, &random)
    }

    private func comparison(
        _ path: String, _ attribute: HierarchyModel.Attribute, _ random: inout SeededGenerator
    ) -> NSPredicate {
        func value() -> Any {
            while true {
                // Not a number compares with nothing, and infinity has no text.
                if let value = CompiledFetchModel.value(attribute.kind, &random), (value as? Double)?.isNaN != true,
                    (value as? Float)?.isNaN != true
                {
                    return value
                }
            }
        }
        switch random.below(8) {
        case 0: return NSPredicate(format: "%K == nil", path)
        case 1: return NSPredicate(format: "%K != nil", path)
        case 2: return NSPredicate(format: "%K IN %@", path, [value(), value(), value()])
        case 3 where attribute.kind == "string":
            let sign = ["BEGINSWITH", "CONTAINS[c]", "LIKE[cd]", "==[cd]", "ENDSWITH"][random.below(5)]
            return NSPredicate(format: "%K \(sign) %@", argumentArray: [path, value()])
        default:
            let isEqual = ["uri", "data"].contains(attribute.kind)
            let sign = Self.signs[random.below(isEqual ? 2 : Self.signs.count)]
            return NSPredicate(format: "%K \(sign) %@", argumentArray: [path, value()])
        }
    }

    private func box(_ random: inout SeededGenerator) -> NSPredicate {
        switch random.below(4) {
        case 0: NSPredicate(format: "box == nil")
        case 1: NSPredicate(format: "box != nil")
        case 2: NSPredicate(format: "box.title BEGINSWITH %@", CompiledFetchModel.text(&random))
        default: NSPredicate(format: "box.contents.@count > %d", random.below(4))
        }
    }

    private func contents(_ random: inout SeededGenerator) -> NSPredicate {
        let attributes = model.attributes(model.heldName)
        let attribute = attributes[random.below(attributes.count)]
        switch random.below(5) {
        case 0:
            return NSComparisonPredicate.any(comparison("contents." + attribute.name, attribute, &random))
        case 1:
            let member = comparison("x." + attribute.name, attribute, &random).formatString
            let format = member.replacingOccurrences(of: "x." + attribute.name, with: "$x." + attribute.name)
            // Constants without a literal of their own stay out.
            guard ["int16", "int32", "int64", "bool"].contains(attribute.kind) else {
                return NSPredicate(format: "contents.@count == 1")
            }
            return NSPredicate(format: "SUBQUERY(contents, $x, \(format)).@count > %d", random.below(3))
        case 2: return NSPredicate(format: "contents.@count > %d", random.below(5))
        case 3: return NSPredicate(format: "contents.@max.mark > 2")
        default: return NSPredicate(format: "ALL contents.mark != 1")
        }
    }
}

extension NSComparisonPredicate {
    /// The comparison with ANY before its left side.
    fileprivate static func any(_ predicate: NSPredicate) -> NSPredicate {
        guard let comparison = predicate as? NSComparisonPredicate else { return predicate }
        return NSComparisonPredicate(
            leftExpression: comparison.leftExpression, rightExpression: comparison.rightExpression, modifier: .any,
            type: comparison.predicateOperatorType, options: comparison.options)
    }
}

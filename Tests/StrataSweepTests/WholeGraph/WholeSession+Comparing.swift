import CoreData
import Foundation
import StrataTestKit
import Testing

extension WholeSession {
    func compare() throws {
        note("compare")
        try inside {
            compare(
                world.things.keys.sorted().reduce(into: NaiveWorld()) { $0.things[$1] = read(object($1)) }, world,
                child == nil ? "context \(current)" : "child")
            for key in world.things.keys.sorted() where object(key).isDeleted { fail("\(key) is deleted") }
            if random.chance(0.5) { compare(try read(context), world, "fetched in context") }
        }
        if child == nil, current == 0 { compareResults() }
    }

    func compare(_ found: NaiveWorld, _ wanted: NaiveWorld, _ what: String) {
        let differences = found.differences(from: wanted)
        if !differences.isEmpty { fail("\(what): \(differences.prefix(6).joined(separator: ", "))") }
    }

    func read(_ context: NSManagedObjectContext) throws -> NaiveWorld {
        var world = NaiveWorld()
        for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")) {
            let key = object.value(forKey: "key") as? Int ?? -1
            if world.things.updateValue(read(object), forKey: key) != nil { fail("\(key) was found twice") }
        }
        return world
    }

    private func read(_ object: NSManagedObject) -> NaiveWorld.Thing {
        let entity = object.entity.name ?? ""
        var thing = NaiveWorld.Thing(entity: entity)
        for (name, _) in WholeModel.attributes(of: entity) {
            thing.values[name] = WholeModel.text(object.value(forKey: name))
        }
        for relation in WholeModel.relations(of: entity) {
            let members: [Any] =
                switch object.value(forKey: relation.name) {
                case let set as NSOrderedSet: set.array
                case let set as Set<NSManagedObject>: Array(set)
                case let one as NSManagedObject: [one]
                default: []
                }
            let keys = members.compactMap { ($0 as? NSManagedObject)?.value(forKey: "key") as? Int }
            if !keys.isEmpty { thing.links[relation.name] = keys }
        }
        return thing
    }

    /// The controller of the first context follows everything that happens there.
    private func compareResults() {
        let wanted = world.keys("Person").filter { rank($0) > 20 }.sorted { (rank($0), $0) < (rank($1), $1) }
        inside {
            context.processPendingChanges()
            let found = results?.fetchedObjects?.compactMap { $0.value(forKey: "key") as? Int }
            if found != wanted { fail("the controller has \(found ?? []) instead of \(wanted)") }
        }
    }

    // MARK: Fetches

    private struct Condition {
        var predicate: NSPredicate
        /// Nil where the condition is unknown, as with a value that is null.
        var holds: (Int) -> Bool?
    }

    private func rank(_ key: Int) -> Int { world.things[key]?.values["rank"].flatMap(Int.init) ?? 0 }

    /// A value as the world writes it; nil for null.
    private func known(_ value: String?) -> String? { value == "nil" ? nil : value }

    /// One or the other, of which each may be unknown.
    private static func either(_ left: Bool?, _ right: Bool?) -> Bool? {
        left == true || right == true ? true : left == nil || right == nil ? nil : false
    }

    private func title(_ key: Int?) -> String? { key.flatMap { world.things[$0]?.values["title"] } }

    private var isEdited: Bool { contexts[current].hasChanges || child?.hasChanges == true }

    private func condition(_ depth: Int = 0) -> Condition {
        let limit = random.below(60)
        let world = world
        let rank = rank
        var kind = random.below(depth < 2 ? 14 : 11)
        // As in Core Data, changes that are not saved are seen in the objects that changed, not through key paths.
        if isEdited, [1, 3, 4, 9, 10].contains(kind) { kind = 0 }
        switch kind {
        case 0: return Condition(predicate: NSPredicate(format: "rank >= %d", limit)) { rank($0) >= limit }
        case 1:
            return Condition(predicate: NSPredicate(format: "team.title == 'B'")) { [self] in
                known(title(world.targets($0, "team").first)).map { $0 == "'B'" }
            }
        case 2:
            let count = random.below(3)
            return Condition(predicate: NSPredicate(format: "friends.@count > %d", count)) {
                world.targets($0, "friends").count > count
            }
        case 3:
            return Condition(predicate: NSPredicate(format: "ANY friends.rank > %d", limit)) {
                world.targets($0, "friends").contains { rank($0) > limit }
            }
        case 4:
            return Condition(
                predicate: NSPredicate(format: "SUBQUERY(team.members, $m, $m.rank > %d).@count > 1", limit)
            ) {
                // Without a team there is nothing to count.
                world.targets($0, "team").first.map { team in
                    world.targets(team, "members").filter { rank($0) > limit }.count > 1
                }
            }
        case 5:
            let keys = (0..<4).map { _ in random.below(nextKey) }
            return Condition(predicate: NSPredicate(format: "key IN %@", keys)) { keys.contains($0) }
        case 6:
            return Condition(predicate: NSPredicate(format: "uri == nil")) {
                world.things[$0]?.values["uri"] == "nil"
            }
        case 7:
            guard let team = pick("Team") else { return condition(depth) }
            return Condition(predicate: NSPredicate(format: "team == %@", object(team))) {
                world.targets($0, "team").first.map { $0 == team }
            }
        case 8:
            guard let board = pick("Board") else { return condition(depth) }
            return Condition(predicate: NSPredicate(format: "%@ IN watching", object(board))) {
                world.targets($0, "watching").contains(board)
            }
        case 9:
            return Condition(predicate: NSPredicate(format: "team.members.@max.rank > %d", limit)) {
                let members = world.targets($0, "team").first.map { world.targets($0, "members") } ?? []
                return members.map(rank).max().map { $0 > limit }
            }
        case 10:
            return Condition(predicate: NSPredicate(format: "queue[FIRST].title == 'A' OR next.key > 9")) { [self] in
                let first = known(title(world.targets($0, "queue").first)).map { $0 == "'A'" }
                return Self.either(first, world.targets($0, "next").first.map { $0 > 9 })
            }
        case 11:
            let inner = condition(depth + 1)
            return Condition(predicate: NSCompoundPredicate(notPredicateWithSubpredicate: inner.predicate)) {
                inner.holds($0).map { !$0 }
            }
        default:
            let (a, b) = (condition(depth + 1), condition(depth + 1))
            if random.chance(0.5) {
                return Condition(
                    predicate: NSCompoundPredicate(andPredicateWithSubpredicates: [a.predicate, b.predicate])
                ) { Self.either(a.holds($0).map { !$0 }, b.holds($0).map { !$0 }).map { !$0 } }
            }
            return Condition(predicate: NSCompoundPredicate(orPredicateWithSubpredicates: [a.predicate, b.predicate])) {
                Self.either(a.holds($0), b.holds($0))
            }
        }
    }

    func compareFetch() throws {
        let condition = condition()
        let text = condition.predicate.formatString
        note("fetch \(text)")
        let entity = random.chance(0.7) ? "Person" : "Boss"
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = condition.predicate
        request.includesSubentities = random.chance(0.7)
        request.sortDescriptors = [
            NSSortDescriptor(key: "rank", ascending: random.chance(0.5)),
            NSSortDescriptor(key: "key", ascending: true),
        ]
        let isAscending = request.sortDescriptors?.first?.ascending ?? true
        var wanted = world.keys(entity).filter { condition.holds($0) == true }
        if !request.includesSubentities { wanted.removeAll { world.things[$0]?.entity != entity } }
        wanted.sort { a, b in
            if rank(a) != rank(b) { return (rank(a) < rank(b)) == isAscending }
            return a < b
        }
        request.fetchOffset = random.below(3)
        request.fetchLimit = random.chance(0.5) ? 0 : random.below(6)
        request.fetchBatchSize = random.below(4)
        request.returnsObjectsAsFaults = random.chance(0.5)
        if random.chance(0.5) { request.relationshipKeyPathsForPrefetching = ["queue", "team.members", "watching"] }
        let window = wanted.dropFirst(request.fetchOffset)
            .prefix(request.fetchLimit == 0 ? Int.max : request.fetchLimit)
        let found = try context.fetch(request).map { $0.value(forKey: "key") as? Int }
        if found != window.map({ $0 }) { fail("\(entity) where \(text): \(found) instead of \(Array(window))") }
        let count = try context.count(for: request)
        if count != window.count { fail("\(entity) where \(text): counted \(count) instead of \(window.count)") }
    }

    /// Groups, of what the context has when it has no changes.
    func compareGroups() throws {
        guard !context.hasChanges, child == nil else { return }
        note("fetch groups")
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        let sum = NSExpressionDescription()
        sum.name = "sum"
        sum.expression = NSExpression(format: "sum:(rank)")
        sum.expressionResultType = .integer64AttributeType
        request.propertiesToFetch = ["team.title", sum]
        request.propertiesToGroupBy = ["team.title"]
        var sums: [String: Int] = [:]
        for key in world.keys("Person") {
            sums[title(world.targets(key, "team").first) ?? "nil", default: 0] += rank(key)
        }
        let found = try context.fetch(request).reduce(into: [String: Int]()) { found, row in
            found[WholeModel.text(row["team.title"])] = row["sum"] as? Int
        }
        if found != sums { fail("groups are \(found) instead of \(sums)") }
    }
}

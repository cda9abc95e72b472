import CoreData
import Foundation
import StrataTestKit
import Testing

extension WholeSession {
    /// What one context did while the other one worked, too.
    private struct Edits {
        var world: NaiveWorld
        var touched: Set<String> = []
        var deleted: Set<Int> = []
        var addedLinks: [(Int, Int)] = []
        var removedLinks: [(Int, Int)] = []
    }

    private static let policies: [(String, NSMergePolicy)] = [
        ("error", .error), ("rollback", .rollback), ("overwrite", .overwrite),
        ("object", .mergeByPropertyObjectTrump), ("store", .mergeByPropertyStoreTrump),
        ("three ways", ThreeWayMergePolicy()),
    ]

    private struct Conflict: Error {}

    /// Both contexts change the same objects. The first saves; the second merges and saves, or saves under a policy.
    func diverge() throws {
        try save()
        let started = current
        current = 1 - current
        try bringUpToDate(current)
        if current == 0 { forgetUndo() }
        // Both have read everything, and keep it.
        for index in [started, 1 - started] {
            current = index
            inside { for key in world.things.keys.sorted() { held[index][key] = context.object(with: ids[key]!) } }
            try compare()
        }
        guard problem == nil else { return }
        let base = world
        let first = random.below(2)
        let second = 1 - first
        var edits = [Edits(world: base), Edits(world: base)]
        note("diverge, \(first) first")
        for _ in 0..<random.below(12) + 2 {
            current = random.below(2)
            inside {
                change(&edits[current], base, isFirst: current == first)
                context.processPendingChanges()
            }
        }
        current = first
        note("\(first) saves")
        try inside { try context.save() }
        saved = edits[first].world
        current = second
        var isUpToDate = false
        let (name, policy) = Self.policies[random.below(Self.policies.count)]
        if mergesAutomatically || random.chance(0.4) {
            let expected = merged(edits[second], base, policy: "merge") ?? saved
            note("\(second) merges and saves")
            inside {
                if !mergesAutomatically {
                    for note in notifications[first].all { context.mergeChanges(fromContextDidSave: note) }
                }
                for key in edits[second].deleted { held[second][key] = nil }
                dropMissing(saved, edits[second])
            }
            world = expected
            try inside { try compareAfterMerge(expected) }
            try inside { try context.save() }
            saved = expected
            isUpToDate = true
        } else {
            note("\(second) saves with policy \(name)")
            let expected = merged(edits[second], base, policy: name)
            inside {
                context.mergePolicy = policy
                do {
                    try context.save()
                    if expected == nil { fail("a conflict was not noticed") }
                } catch {
                    if expected != nil { fail("\(error)") }
                    context.rollback()
                    context.refreshAllObjects()
                }
                context.mergePolicy = NSErrorMergePolicy
            }
            saved = expected ?? saved
            world = saved
        }
        for index in 0...1 { notifications[index] = SaveNotifications(contexts[index]) }
        for index in 0...1 {
            held[index] = held[index].filter { saved.things[$0.key] != nil }
            world = saved
            // What was taken over is read anew: each way of bringing a context up to date has its own steps elsewhere.
            contexts[index].performAndWait {
                if index != current || !isUpToDate || random.chance(0.3) { contexts[index].refreshAllObjects() }
            }
        }
        if current == 1 || !isUpToDate { try inside(contexts[0]) { try results?.performFetch() } }
        forgetUndo()
        try renewIDs()
        try compareStore()
        try compare()
        inside { compareCounts() }
    }

    private func inside<T>(_ context: NSManagedObjectContext, _ body: () throws -> T) rethrows -> T {
        try context.performAndWait(body)
    }

    private func dropMissing(_ stored: NaiveWorld, _ edits: Edits) {
        held[current] = held[current].filter { stored.things[$0.key] != nil || edits.world.things[$0.key] != nil }
    }

    private func compareAfterMerge(_ expected: NaiveWorld) throws {
        context.processPendingChanges()
        compare(try read(context), expected, "after merging")
    }

    // MARK: Edits

    private func change(_ edits: inout Edits, _ base: NaiveWorld, isFirst: Bool) {
        let people = base.keys("Person").filter { edits.world.things[$0] != nil }
        guard let person = people.randomElement(using: &random) else { return }
        func touch(_ what: String) -> Bool { edits.touched.insert(what).inserted }
        world = edits.world
        defer { edits.world = world }
        switch random.below(10) {
        case 0..<4:
            guard let (name, type) = WholeModel.personAttributes.prefix(6).randomElement(using: &random),
                touch("\(person).\(name)")
            else { return }
            let value = value(name, type)
            // Setting what is there already is a change, too, which the model does not see.
            guard world.things[person]?.values[name] != WholeModel.text(value) else { return }
            note("in \(current):")
            setAttribute(person, name, value)
        case 4:
            guard let team = pick("Team"), touch("\(team).title"), base.things[team] != nil else { return }
            note("in \(current):")
            serial += 1
            setAttribute(team, "title", "T\(serial)")
        case 5, 6:
            let team = base.keys("Team").randomElement(using: &random)
            guard world.targets(person, "team").first != team, touch("\(person).team") else { return }
            note("in \(current): \(person).team = \(team ?? 0)")
            object(person).setValue(team.map(object), forKey: "team")
            world.setOne(person, "team", team)
        case 7:
            guard person % 3 == 0, let board = base.keys("Board").randomElement(using: &random),
                touch("\(person)-\(board)")
            else { return }
            let members = object(person).members(ToManySlot<NSManagedObject>("watching"))
            if world.targets(person, "watching").contains(board) {
                note("in \(current): \(person) unwatch \(board)")
                members.remove(object(board))
                world.remove(person, "watching", board)
                edits.removedLinks.append((person, board))
            } else {
                note("in \(current): \(person) watch \(board)")
                members.add(object(board))
                world.add(person, "watching", board)
                edits.addedLinks.append((person, board))
            }
        case 8:
            note("in \(current):")
            insert()
        default:
            // Those whose deletion changes no other row.
            let links = Set((world.things[person]?.links ?? [:]).keys)
            let allowed: Set = isFirst ? ["team", "friends", "watching"] : ["team"]
            guard person % 3 == (isFirst ? 1 : 2), links.isSubset(of: allowed) else { return }
            note("in \(current): delete \(person)")
            context.delete(object(person))
            world.delete(person)
            edits.deleted.insert(person)
        }
    }

    // MARK: What should come of it

    private static let fields = ["team", "next", "previous", "home", "badge", "owner", "post"]

    /// Attributes and to-one relationships: what is in a row.
    private func row(_ thing: NaiveWorld.Thing?) -> [String: String]? {
        guard let thing else { return nil }
        var row = thing.values
        for name in Self.fields { row["->" + name] = "\(thing.links[name]?.first ?? 0)" }
        return row
    }

    private func apply(_ row: [String: String], _ key: Int, to world: inout NaiveWorld) {
        for (name, text) in row {
            if name.hasPrefix("->") {
                let target = Int(text) ?? 0
                world.setOne(key, String(name.dropFirst(2)), target == 0 ? nil : target)
            } else {
                world.things[key]?.values[name] = text
            }
        }
    }

    /// What is stored after the second save; nil when it must be refused.
    private func merged(_ edits: Edits, _ base: NaiveWorld, policy: String) -> NaiveWorld? {
        do { return try mergedOrThrow(edits, base, policy: policy) } catch { return nil }
    }

    private func mergedOrThrow(_ edits: Edits, _ base: NaiveWorld, policy: String) throws -> NaiveWorld {
        var result = saved
        var rolledBack: Set<Int> = []
        for (key, thing) in edits.world.things where base.things[key] == nil {
            result.things[key] = NaiveWorld.Thing(entity: thing.entity, values: thing.values)
        }
        for key in base.things.keys.sorted() {
            guard let before = row(base.things[key]) else { continue }
            let stored = row(saved.things[key])
            guard let mine = row(edits.world.things[key]) else {
                guard edits.deleted.contains(key) else { continue }
                if let stored, stored != before {
                    if policy == "error" || policy == "three ways" { throw Conflict() }
                    if policy == "store" || policy == "rollback" { continue }
                }
                if stored == nil, policy == "error" || policy == "three ways" { throw Conflict() }
                result.delete(key)
                continue
            }
            let changes = mine.filter { before[$0.key] != $0.value }
            if changes.isEmpty { continue }
            guard let stored else {
                if policy == "error" || policy == "three ways" { throw Conflict() }
                continue
            }
            let changedThere = stored.filter { before[$0.key] != $0.value }
            if changedThere.isEmpty || policy == "merge" || policy == "object" {
                apply(changes, key, to: &result)
                continue
            }
            switch policy {
            case "error": throw Conflict()
            case "rollback": rolledBack.insert(key)
            case "overwrite": apply(mine, key, to: &result)
            case "store": apply(changes.filter { changedThere[$0.key] == nil }, key, to: &result)
            default:
                if changes.contains(where: { changedThere[$0.key] != nil && changedThere[$0.key] != $0.value }) {
                    throw Conflict()
                }
                apply(changes, key, to: &result)
            }
        }
        // Links of objects whose changes were given up are among those changes.
        for (person, board) in edits.addedLinks where !rolledBack.contains(person) {
            result.add(person, "watching", board)
        }
        for (person, board) in edits.removedLinks where !rolledBack.contains(person) {
            result.remove(person, "watching", board)
        }
        return result
    }
}

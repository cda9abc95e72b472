import CoreData
import Foundation
import StrataTestKit
import Testing

@testable import Strata
@testable import StrataLog

/// Relationships that rows of their own keep, with their index, without it, and with one that is damaged: against what
/// the test itself remembers.
@Suite struct LinkIndexTests {
    /// Employees in projects, as friends of each other, and tags of projects, which lead one way only.
    private final class World {
        let store: TestStore
        var staff: [Int: Set<Int>] = [:]
        var friends: [Int: Set<Int>] = [:]
        var tags: [Int: Set<Int>] = [:]
        let counts: (employees: Int, projects: Int, badges: Int)

        init(_ kind: StoreKind, _ counts: (employees: Int, projects: Int, badges: Int)) throws {
            store = try TestStore(kind)
            self.counts = counts
            let context = store.context()
            try context.performAndWait {
                for number in 0..<counts.employees {
                    insert("Employee", context).setValue("e\(number)", forKey: "name")
                }
                for number in 0..<counts.projects { insert("Project", context).setValue("p\(number)", forKey: "code") }
                for number in 0..<counts.badges { insert("Badge", context).setValue(number, forKey: "number") }
                try context.save()
            }
        }

        private func all(
            _ entity: String, _ key: String, _ context: NSManagedObjectContext
        ) throws -> [NSManagedObject] {
            try fetchAll(NSManagedObject.self, entity, context).sorted {
                let (left, right) = ("\($0.value(forKey: key) ?? "")", "\($1.value(forKey: key) ?? "")")
                return (left.count, left) < (right.count, right)
            }
        }

        /// Adds and removes members in one save.
        func change(_ count: Int, _ random: inout SeededGenerator) throws {
            let context = store.context()
            try context.performAndWait {
                let employees = try all("Employee", "name", context)
                let projects = try all("Project", "code", context)
                let badges = try all("Badge", "number", context)
                for _ in 0..<count {
                    let (e, f, p, b) = (
                        random.below(employees.count), random.below(employees.count), random.below(projects.count),
                        random.below(badges.count)
                    )
                    toggle(projects[p], "staff", employees[e], &staff[p, default: []], e)
                    toggle(employees[e], "friends", employees[f], &friends[e, default: []], f)
                    if friends[e, default: []].contains(f) {
                        friends[f, default: []].insert(e)
                    } else {
                        friends[f, default: []].remove(e)
                    }
                    toggle(projects[p], "tags", badges[b], &tags[p, default: []], b)
                }
                try context.save()
            }
        }

        private func toggle(
            _ owner: NSManagedObject, _ key: String, _ member: NSManagedObject, _ known: inout Set<Int>, _ number: Int
        ) {
            if known.remove(number) != nil {
                owner.mutableSetValue(forKey: key).remove(member)
            } else {
                known.insert(number)
                owner.mutableSetValue(forKey: key).add(member)
            }
        }

        /// Reads all members by faults and by predicates.
        func expectAll(_ comment: Comment) throws {
            let context = store.context()
            try context.performAndWait {
                func numbers(_ members: Any?, _ key: String) -> Set<Int> {
                    let objects = members as? Set<NSManagedObject> ?? []
                    return Set(objects.map { Int("\($0.value(forKey: key) ?? "")".filter(\.isNumber)) ?? -1 })
                }
                for (number, project) in try all("Project", "code", context).enumerated() {
                    #expect(numbers(project.value(forKey: "staff"), "name") == staff[number] ?? [], comment)
                    #expect(numbers(project.value(forKey: "tags"), "number") == tags[number] ?? [], comment)
                }
                for (number, employee) in try all("Employee", "name", context).enumerated() {
                    let projects = Set(staff.filter { $0.value.contains(number) }.keys)
                    #expect(numbers(employee.value(forKey: "projects"), "code") == projects, comment)
                    #expect(numbers(employee.value(forKey: "friends"), "name") == friends[number] ?? [], comment)
                    let ofName = NSPredicate(format: "ANY staff.name == %@", "e\(number)")
                    let found = try fetchAll(NSManagedObject.self, "Project", context, ofName)
                    #expect(numbers(Set(found), "code") == projects, comment)
                    let befriended = try fetchAll(
                        NSManagedObject.self, "Employee", context, NSPredicate(format: "ANY friends == %@", employee))
                    #expect(numbers(Set(befriended), "name") == friends[number] ?? [], comment)
                }
                for (number, badge) in try all("Badge", "number", context).enumerated() {
                    let found = try fetchAll(
                        NSManagedObject.self, "Project", context, NSPredicate(format: "%@ IN tags", badge))
                    #expect(
                        numbers(Set(found), "code") == Set(tags.filter { $0.value.contains(number) }.keys), comment)
                }
            }
        }

        var log: LogStore { get throws { try #require(store.store.handle?.log) } }
    }

    private static let seeds = RandomRuns.seeds(from: 7, count: 2)

    @Test(arguments: StoreKind.allCases, seeds) func membersAreTheSameWithTheIndexAndWithout(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let world = try World(kind, (40, 12, 6))
        let definitions = try world.log.snapshot.orderedIndexes.map(\.definition)
        let links = definitions.filter { $0.elements.map(\.kind) == [.reference, .reference] }
        #expect(links.count == 6, "two for each of three relationships")
        for round in 0..<4 {
            try world.change(40, &random)
            try world.expectAll("round \(round), with the index")
            try world.log.maintain([])
            try world.expectAll("round \(round), without")
            // What changes meanwhile is in the index that is built later.
            try world.change(10, &random)
            try world.log.maintain(definitions)
            while try world.log.snapshot.orderedIndexes.contains(where: { !$0.isReady }) { usleep(1_000) }
            try world.expectAll("round \(round), built again")
            #expect(try world.log.verify().problems.isEmpty)
            try world.store.reopen()
            try world.expectAll("round \(round), reopened")
        }
    }

    /// A store of before there were indexes of links has none when it is opened, and has them afterwards.
    @Test func aStoreWithoutTheIndexGetsIt() throws {
        var random = SeededGenerator(seed: 3)
        let world = try World(.log, (20, 8, 4))
        try world.change(60, &random)
        try world.log.maintain([])
        try world.log.checkpoint()
        try world.store.reopen()
        while try world.log.snapshot.orderedIndexes.contains(where: { !$0.isReady }) { usleep(1_000) }
        #expect(try world.log.snapshot.orderedIndexes.count == 6)
        try world.expectAll("built on opening")
        #expect(try world.log.verify().problems.isEmpty)
    }

    @Test func aDamagedIndexIsBuiltAnewAndMembersAreReadFromTheRows() throws {
        var random = SeededGenerator(seed: 5)
        let world = try World(.log, (60, 40, 40))
        try world.change(400, &random)
        try world.log.checkpoint()
        try world.store.reopen()
        let indexes = try world.log.snapshot.orderedIndexes
        let blocks = try indexes.map { try #require($0.base?.directory?.entries.first) }
        let folder = world.store.url
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".chk") }
        let url = folder.appendingPathComponent(try #require(names.max()))
        let file = try FileHandle(forUpdating: url)
        for block in blocks {
            let middle = UInt64(block.offset) + UInt64(block.byteCount / 2)
            try file.seek(toOffset: middle)
            let byte = try #require(try file.read(upToCount: 1)?.first)
            try file.seek(toOffset: middle)
            try file.write(contentsOf: [byte ^ 0x10])
        }
        try file.close()
        try world.expectAll("damaged")
        while try world.log.snapshot.orderedIndexes.contains(where: { !$0.isReady }) { usleep(1_000) }
        try world.expectAll("built anew")
        // The next checkpoint has the new ones.
        try world.change(1, &random)
        try world.log.checkpoint()
        let problems = try world.log.verify().problems
        #expect(problems.isEmpty, "\(problems)")
    }

    /// Somebody else adds members while the index is read.
    @Test(arguments: StoreKind.allCases) func aContextSeesTheMembersOfItsSnapshot(_ kind: StoreKind) throws {
        let world = try World(kind, (3, 1, 1))
        let (one, other) = (world.store.context(), world.store.context())
        let ids = try one.performAndWait { () -> (NSManagedObjectID, [NSManagedObjectID]) in
            let project = try #require(try fetchAll(NSManagedObject.self, "Project", one).first)
            let employees = try fetchAll(NSManagedObject.self, "Employee", one, sort: "name")
            project.mutableSetValue(forKey: "staff").add(employees[0])
            try one.save()
            return (project.objectID, employees.map(\.objectID))
        }
        try one.performAndWait {
            if kind == .log { try one.setQueryGenerationFrom(.current) }
            // A context is pinned when it reads for the first time.
            _ = try one.count(for: NSFetchRequest<NSManagedObject>(entityName: "Project"))
        }
        try other.performAndWait {
            let project = other.object(with: ids.0)
            project.mutableSetValue(forKey: "staff").add(other.object(with: ids.1[1]))
            project.mutableSetValue(forKey: "staff").remove(other.object(with: ids.1[0]))
            try other.save()
        }
        one.performAndWait {
            let project = one.object(with: ids.0)
            one.refresh(project, mergeChanges: false)
            let members = project.objectIDs(forRelationshipNamed: "staff")
            #expect(members == [kind == .log ? ids.1[0] : ids.1[1]])
        }
    }
}

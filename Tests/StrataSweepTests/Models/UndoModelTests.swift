import CoreData
import Foundation
import StrataTestKit
import Testing

/// Random edits, saves, undoing and redoing against a model that keeps every whole state.
@Suite struct UndoModelTests {
    private static let steps = RandomRuns.operations(150)

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 7_000, count: 6))
    func undoLeadsThroughAllStates(_ kind: StoreKind, _ seed: UInt64) throws {
        let run = try UndoRun(kind, seed)
        try run.context.performAndWait {
            for step in 0..<Self.steps {
                try run.step()
                if let problem = run.problem {
                    Issue.record(
                        "seed \(seed), step \(step), \(run.log.suffix(12).joined(separator: ", ")): \(problem)")
                    return
                }
            }
        }
    }
}

/// One run: a context, and the states that undo has to lead through.
private final class UndoRun {
    let context: NSManagedObjectContext
    private let store: TestStore
    private let manager = UndoManager()
    private var generator: SeededGenerator
    /// Every object that was ever made; the position is its name in states.
    private var objects: [NSManagedObject] = []
    private var names: [ObjectIdentifier: Int] = [:]
    private var history: [[String]]
    private var position = 0
    private var saved: [String] = []
    private(set) var log: [String] = []
    private(set) var problem: String?

    init(_ kind: StoreKind, _ seed: UInt64) throws {
        store = try TestStore(kind)
        context = store.context()
        generator = SeededGenerator(seed: seed)
        manager.groupsByEvent = false
        context.undoManager = manager
        history = [[]]
    }

    func step() throws {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<55: edit()
        case 55..<75: undo()
        case 75..<88: redo()
        case 88..<96: try save()
        case 96..<98:
            log.append("refresh all")
            context.refreshAllObjects()
        default: rollback()
        }
        check()
    }

    private func check() {
        let state = state()
        if state != history[position] { return report("the state", state, history[position]) }
        if manager.undoCount != position || manager.redoCount != history.count - 1 - position {
            problem =
                "\(manager.undoCount) to undo, \(manager.redoCount) to redo at \(position) of \(history.count - 1)"
        }
    }

    private func report(_ what: String, _ found: [String], _ wanted: [String]) {
        let more = Set(found).subtracting(wanted).sorted()
        let less = Set(wanted).subtracting(found).sorted()
        problem = "\(what) is different: found \(more), wanted \(less)"
    }

    // MARK: Steps

    private func edit() {
        let count = Int.random(in: 1...5, using: &generator)
        let names = (0..<count).map { _ in change() }
        log.append("edit(" + names.joined(separator: " ") + ")")
        context.processPendingChanges()
        let state = state()
        if state == history[position] {
            // Nothing that could be undone; what could be redone stays.
            return
        }
        history.removeSubrange((position + 1)...)
        history.append(state)
        position += 1
    }

    private func undo() {
        log.append("undo")
        context.undo()
        position = max(0, position - 1)
    }

    private func redo() {
        log.append("redo")
        context.redo()
        position = min(history.count - 1, position + 1)
    }

    private func save() throws {
        log.append("save")
        try context.save()
        saved = state()
        let fresh = store.shortLivedContext()
        let inStore = try fresh.performAndWait { try self.state(in: fresh) }
        if inStore != saved { report("the store", inStore, saved) }
    }

    private func rollback() {
        log.append("rollback")
        context.rollback()
        history = [saved]
        position = 0
    }

    // MARK: Changes

    private func pick(_ entity: String) -> NSManagedObject? {
        objects.filter { isThere($0) && $0.entity.name == entity }.randomElement(using: &generator)
    }

    private func make(_ entity: String) -> NSManagedObject {
        let object = insert(entity, context)
        names[ObjectIdentifier(object)] = objects.count
        objects.append(object)
        if entity == "Badge" { object.setValue(Int.random(in: 0..<100, using: &generator), forKey: "number") }
        return object
    }

    private func change() -> String {
        let entities = ["Department", "Employee", "Employee", "Badge", "Project", "Task", "Task"]
        let entity = entities.randomElement(using: &generator) ?? "Employee"
        let action = Int.random(in: 0..<10, using: &generator)
        let limit = objects.count { isThere($0) } > 60 ? 0 : 1
        guard action > limit, let object = pick(entity) else {
            return "new \(name(make(entity)))"
        }
        if action == 2 || (limit == 0 && action == 1) {
            context.delete(object)
            return "delete \(name(object))"
        }
        switch entity {
        case "Department": object.setValue(Int.random(in: 0..<5, using: &generator), forKey: "budget")
        case "Employee": changeEmployee(object)
        case "Badge": object.setValue(pick("Employee"), forKey: "owner")
        case "Project": changeProject(object)
        default: object.setValue(Bool.random(using: &generator) ? pick("Project") : nil, forKey: "project")
        }
        return "change \(name(object))"
    }

    private func changeEmployee(_ object: NSManagedObject) {
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: object.setValue("name \(Int.random(in: 0..<4, using: &generator))", forKey: "name")
        case 1: object.setValue(pick("Department"), forKey: "department")
        case 2: object.setValue(pick("Badge"), forKey: "badge")
        case 3: object.setValue(some("Project"), forKey: "projects")
        default: object.setValue(some("Employee"), forKey: "friends")
        }
    }

    private func changeProject(_ object: NSManagedObject) {
        // Not the tags: nobody takes a badge out of them that is deleted, as the relationship has no inverse.
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: object.setValue("code \(Int.random(in: 0..<4, using: &generator))", forKey: "code")
        case 1: object.setValue(some("Employee"), forKey: "staff")
        default:
            var tasks = object.value(forKey: "tasks") as? NSOrderedSet ?? []
            tasks = NSOrderedSet(array: (tasks.array + some("Task").map { $0 as Any }).shuffled(using: &generator))
            object.setValue(tasks, forKey: "tasks")
        }
    }

    private func some(_ entity: String) -> Set<NSManagedObject> {
        Set((0..<Int.random(in: 0...3, using: &generator)).compactMap { _ in pick(entity) })
    }

    // MARK: States

    private func isThere(_ object: NSManagedObject) -> Bool {
        object.managedObjectContext === context && !object.isDeleted
    }

    private func name(_ object: NSManagedObject) -> String {
        // An object of another context is known by its ID.
        let index =
            names[ObjectIdentifier(object)] ?? objects.firstIndex { $0.objectID == object.objectID && isThere($0) }
        return "\(object.entity.name ?? "")\(index ?? -1)"
    }

    private func state() -> [String] {
        let found = objects.filter(isThere)
        return describe(found)
    }

    private func state(in fresh: NSManagedObjectContext) throws -> [String] {
        var found: [NSManagedObject] = []
        for entity in ["Department", "Employee", "Badge", "Project", "Task"] {
            found += try fetchAll(NSManagedObject.self, entity, fresh)
        }
        return describe(found)
    }

    private func describe(_ found: [NSManagedObject]) -> [String] {
        found.map { object in
            var parts: [String] = []
            for (key, property) in object.entity.propertiesByName.sorted(by: { $0.key < $1.key }) {
                if property.isTransient { continue }
                parts.append("\(key)=\(describe(object.value(forKey: key)))")
            }
            return name(object) + ": " + parts.joined(separator: " ")
        }.sorted()
    }

    private func describe(_ value: Any?) -> String {
        switch value {
        case nil: return "nil"
        case let object as NSManagedObject: return name(object)
        case let set as Set<NSManagedObject>: return "\(set.map(name).sorted())"
        case let ordered as NSOrderedSet:
            return "\(ordered.array.compactMap { ($0 as? NSManagedObject).map(name) })"
        case let value?: return "\(value)"
        }
    }
}

import CoreData
import Foundation
import StrataTestKit
import Testing

/// Without a delegate a controller follows nothing.
final class Follower: NSObject, NSFetchedResultsControllerDelegate {}

/// One run of the model test: two contexts on a coordinator, now and then a child, and the worlds they should hold.
final class WholeSession {
    let store: TestStore
    var random: SeededGenerator
    /// Two on the coordinator.
    var contexts: [NSManagedObjectContext] = []
    /// A child of the first while it is in use.
    var child: NSManagedObjectContext?
    var current = 0
    /// What the context in use should hold, and the same for the one below it while the child is in use.
    var world = NaiveWorld()
    var parentWorld = NaiveWorld()
    var saved = NaiveWorld()
    var ids: [Int: NSManagedObjectID] = [:]
    /// Objects that the program holds, by context; others may have been released.
    var held: [[Int: NSManagedObject]] = [[:], [:], [:]]
    var notifications: [SaveNotifications] = []
    var nextKey = 1
    var serial = 0
    /// With an undo manager: the states it leads through.
    let undoManager: UndoManager?
    var states: [NaiveWorld] = []
    var position = 0
    let mergesAutomatically: Bool
    let follower = Follower()
    var results: NSFetchedResultsController<NSManagedObject>?
    var pinned: (NSManagedObjectContext, NaiveWorld)?
    var log: [String] = []
    var problem: String?

    init(_ kind: StoreKind, _ seed: UInt64) throws {
        store = try TestStore(kind, WholeModel.make())
        random = SeededGenerator(seed: seed)
        mergesAutomatically = random.chance(0.4)
        undoManager = random.chance(0.5) ? UndoManager() : nil
        undoManager?.groupsByEvent = false
        try makeContexts()
    }

    func makeContexts() throws {
        contexts = [store.shortLivedContext(), store.shortLivedContext()]
        held = [[:], [:], [:]]
        notifications = contexts.map { SaveNotifications($0) }
        for context in contexts { context.automaticallyMergesChangesFromParent = mergesAutomatically }
        contexts[0].undoManager = undoManager
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "rank > 20")
        request.sortDescriptors = [
            NSSortDescriptor(key: "rank", ascending: true),
            NSSortDescriptor(key: "key", ascending: true),
        ]
        results = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: contexts[0], sectionNameKeyPath: nil, cacheName: nil)
        results?.delegate = follower
        pinned = nil
        current = 0
        forgetUndo()
        try inside { try results?.performFetch() }
    }

    var context: NSManagedObjectContext { child ?? contexts[current] }
    /// The place of the context in use in `held`.
    var place: Int { child == nil ? current : 2 }
    var recordsUndo: Bool { undoManager != nil && current == 0 && child == nil }

    func inside<T>(_ body: () throws -> T) rethrows -> T { try context.performAndWait(body) }

    func note(_ text: String) {
        log.append(text)
        if log.count > 60 { log.removeFirst(20) }
    }

    func fail(_ text: String) { if problem == nil { problem = text } }

    func object(_ key: Int) -> NSManagedObject {
        if let object = held[place][key] { return object }
        guard let id = ids[key] else { preconditionFailure("no ID for \(key): \(log.suffix(10))") }
        let object = context.object(with: id)
        if random.chance(0.5) { held[place][key] = object }
        return object
    }

    func pick(_ entity: String = "Thing") -> Int? { world.keys(entity).randomElement(using: &random) }

    // MARK: Steps

    func step() throws {
        switch random.below(200) {
        case 0..<16 where world.things.count < 26: edit { insert() }
        case 16..<22: edit { delete() }
        case 22..<70: edit { changeAttribute() }
        case 70..<128: edit { changeRelationship() }
        case 128..<136: try save()
        case 136..<138: try failToSave()
        case 138..<148: if recordsUndo { undo() } else { refresh() }
        case 148..<153: refresh()
        case 153: throwAway(resets: false)
        case 154: throwAway(resets: true)
        case 155..<158: if child == nil { try beginChild() } else { try endChild() }
        case 158..<162: if child == nil { try handOver() }
        case 162..<165: if child == nil { try diverge() }
        case 165..<167: if child == nil { try batch() }
        case 167: if random.chance(0.2), child == nil { try reopen() }
        case 168: try pin()
        case 169..<182: try inside { try compareFetch() }
        case 182..<187: try inside { try compareGroups() }
        default: try compare()
        }
        if problem != nil { problem! += "\n  after: \(log.suffix(16).joined(separator: "; "))" }
    }

    /// One edit, after which undo has one step more if anything changed.
    func edit(_ body: () -> Void) {
        inside {
            body()
            context.processPendingChanges()
        }
        recordState()
    }

    func recordState() {
        guard recordsUndo, let undoManager else { return }
        if undoManager.undoCount == position {
            if !world.differences(from: states[position]).isEmpty { fail("a change was not recorded for undoing") }
            return
        }
        if undoManager.undoCount != position + 1 {
            return fail("\(undoManager.undoCount) undo groups instead of \(position + 1)")
        }
        states.removeSubrange((position + 1)...)
        states.append(world)
        position += 1
    }

    func forgetUndo() {
        undoManager?.removeAllActions()
        states = [world]
        position = 0
    }

    func undo() {
        if random.chance(0.6) {
            guard position > 0 else { return }
            note("undo")
            inside { context.undo() }
            position -= 1
        } else {
            guard position < states.count - 1 else { return }
            note("redo")
            inside { context.redo() }
            position += 1
        }
        world = states[position]
    }

    func insert() {
        let names = ["Person", "Person", "Person", "Boss", "Boss", "Team", "Team", "Board", "Board", "Badge", "Guard"]
        let entity = names[random.below(names.count)]
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        let key = nextKey
        nextKey += 1
        note("insert \(entity) \(key)")
        object.setValue(key, forKey: "key")
        held[place][key] = object
        ids[key] = object.objectID
        var values = Dictionary(
            uniqueKeysWithValues: WholeModel.attributes(of: entity).map { ($0.0, "nil") })
        if values["rank"] != nil { (values["rank"], values["name"]) = ("0", "'new'") }
        world.things[key] = NaiveWorld.Thing(entity: entity, values: values)
    }

    func delete() {
        guard let key = pick(), !world.isDenied(key) else { return }
        note("delete \(key)")
        context.delete(object(key))
        world.delete(key)
    }

    func value(_ name: String, _ type: NSAttributeType) -> Any? {
        serial += 1
        if name != "rank", name != "name", random.chance(0.1) { return nil }
        let number = random.below(60)
        switch type {
        case .stringAttributeType:
            return name == "title" ? ["A", "B", "C", "d", "É"][number % 5] : "N\(number) \(serial)"
        case .booleanAttributeType: return number % 2 == 0
        case .integer16AttributeType: return Int16(number)
        case .integer32AttributeType: return Int32(number)
        case .integer64AttributeType: return Int64(number) << 40
        case .floatAttributeType: return Float(number) / 8
        case .doubleAttributeType: return Double(number) / 16
        case .decimalAttributeType: return NSDecimalNumber(string: "\(number).\(serial)")
        case .binaryDataAttributeType: return Data(repeating: UInt8(number), count: number * (number == 7 ? 2_000 : 1))
        case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: Double(serial) * 0.5)
        case .UUIDAttributeType: return UUID(uuidString: "00000000-0000-0000-0000-\(String(1_000_000_000_00 + serial))")
        case .URIAttributeType: return URL(string: "https://host/\(serial)")
        default: return ["a", "\(serial)"] as NSArray
        }
    }

    func setAttribute(_ key: Int, _ name: String, _ value: Any?) {
        note("\(key).\(name) = \(WholeModel.text(value).prefix(20))")
        object(key).setValue(value, forKey: name)
        world.things[key]?.values[name] = WholeModel.text(value)
    }

    func changeAttribute() {
        guard let key = pick(), let entity = world.things[key]?.entity,
            let (name, type) = WholeModel.attributes(of: entity).randomElement(using: &random)
        else { return }
        setAttribute(key, name, value(name, type))
    }

    func changeRelationship() {
        guard let key = pick(), let entity = world.things[key]?.entity,
            let relation = WholeModel.relations(of: entity).randomElement(using: &random)
        else { return }
        let name = relation.name
        let owner = object(key)
        guard relation.isToMany else {
            let target = random.chance(0.25) ? nil : pick(relation.destination)
            note("\(key).\(name) = \(target ?? 0)")
            owner.setValue(target.map(object), forKey: name)
            return world.setOne(key, name, target)
        }
        guard let target = pick(relation.destination) else { return }
        let count = world.targets(key, name).count
        switch random.below(relation.isOrdered ? 7 : 4) {
        case 0, 1:
            note("\(key).\(name) add \(target)")
            owner.members(ToManySlot<NSManagedObject>(name)).add(object(target))
            world.add(key, name, target)
        case 2:
            let gone = world.targets(key, name).randomElement(using: &random) ?? target
            note("\(key).\(name) remove \(gone)")
            if relation.isOrdered {
                owner.mutableOrderedSetValue(forKey: name).remove(object(gone))
            } else {
                owner.mutableSetValue(forKey: name).remove(object(gone))
            }
            world.remove(key, name, gone)
        case 3:
            var wanted: [Int] = []
            for _ in 0..<random.below(4) {
                if let other = pick(relation.destination), !wanted.contains(other) { wanted.append(other) }
            }
            note("\(key).\(name) = \(wanted)")
            let objects = wanted.map(object)
            owner.setValue(relation.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects), forKey: name)
            world.set(key, name, wanted)
        case 4, 5:
            let index = random.below(count + 1)
            note("\(key).\(name) insert \(target) at \(index)")
            owner.mutableOrderedSetValue(forKey: name).insert(object(target), at: index)
            world.insert(key, name, target, at: index)
        default:
            guard count > 0 else { return }
            let (source, place) = (random.below(count), random.below(count))
            note("\(key).\(name) move \(source) to \(place)")
            owner.members(ToManySlot<NSManagedObject>(name)).move(from: source, to: place)
            world.move(key, name, from: source, to: place)
        }
    }
}

import CoreData
import Foundation
import StrataTestKit
import Testing

/// A store as a dictionary, and two contexts over it that remember what they have read: what merge policies are said to
/// do, written down without any cleverness.
private struct NaiveStore {
    typealias Values = [String: String?]

    struct Row {
        var version: Int
        var values: Values
    }

    struct Entry {
        /// What was read; nil for a fault and for an object that was never saved.
        var base: Row?
        var edits: Values = [:]
        var isInserted = false
        var isDeleted = false

        var isPending: Bool { isInserted || isDeleted || !edits.isEmpty }
        var values: Values { (base?.values ?? [:]).merging(edits) { $1 } }
        /// Only what differs from what was read.
        var changes: Values { edits.filter { base?.values[$0.key] != .some($0.value) } }
    }

    struct Conflict: Error {}

    var rows: [Int: Row] = [:]
    var contexts: [[Int: Entry]] = [[:], [:]]
    private var version = 0

    mutating func read(_ serial: Int, _ context: Int) {
        var entry = contexts[context][serial] ?? Entry()
        if !entry.isInserted, entry.base == nil { entry.base = rows[serial] }
        contexts[context][serial] = entry
    }

    /// How a type of policy, nil for three ways, merges an update; nil to give the changes up.
    private func merged(_ entry: Entry, _ row: Row, _ type: NSMergePolicyType?) throws -> Values? {
        let before = entry.base?.values ?? [:]
        let changedThere = row.values.filter { before[$0.key] != .some($0.value) }
        switch type {
        case .errorMergePolicyType?: throw Conflict()
        case .rollbackMergePolicyType?: return nil
        case .overwriteMergePolicyType?: return entry.values
        case .mergeByPropertyObjectTrumpMergePolicyType?: return row.values.merging(entry.changes) { $1 }
        case .mergeByPropertyStoreTrumpMergePolicyType?:
            return row.values.merging(entry.changes.filter { changedThere[$0.key] == nil }) { $1 }
        case nil:
            let isChangedTwice = entry.changes.contains { key, value in
                changedThere[key] != nil && changedThere[key] != .some(value)
            }
            if isChangedTwice { throw Conflict() }
            return row.values.merging(entry.changes) { $1 }
        }
    }

    mutating func save(_ context: Int, _ type: NSMergePolicyType?) throws {
        var rows = rows
        var entries = contexts[context]
        version += 1
        for (serial, entry) in entries where entry.isPending {
            if entry.isInserted {
                if entry.isDeleted {
                    entries[serial] = nil
                } else {
                    rows[serial] = Row(version: version, values: entry.edits)
                }
            } else {
                // What was set to the value that it had is not written, so that it cannot be in conflict.
                if !entry.isDeleted, entry.changes.isEmpty {
                    entries[serial] = Entry(base: entry.base)
                    continue
                }
                guard let row = rows[serial] else {
                    if type == nil || type == .errorMergePolicyType { throw Conflict() }
                    entries[serial] = nil
                    continue
                }
                let isStale = row.version != entry.base?.version
                if entry.isDeleted {
                    if isStale, type == nil || type == .errorMergePolicyType { throw Conflict() }
                    let isLost = type == .rollbackMergePolicyType || type == .mergeByPropertyStoreTrumpMergePolicyType
                    if isStale, isLost {
                        entries[serial] = Entry()
                        continue
                    }
                    rows[serial] = nil
                    entries[serial] = nil
                    continue
                }
                guard let values = isStale ? try merged(entry, row, type) : entry.values else {
                    entries[serial] = Entry()
                    continue
                }
                rows[serial] = Row(version: version, values: values)
            }
            if entries[serial] != nil { entries[serial] = Entry(base: rows[serial]) }
        }
        self.rows = rows
        contexts[context] = entries
    }
}

/// Runs random changes and saves in two contexts and compares with ``NaiveStore`` after each save.
private final class TwoContexts {
    private let store: TestStore
    private let contexts: [NSManagedObjectContext]
    private var naive = NaiveStore()
    private var objects: [[Int: NSManagedObject]] = [[:], [:]]
    private var ids: [Int: NSManagedObjectID] = [:]
    private var owners: [NSManagedObjectID] = []
    private var serials = 0
    private var random: SeededGenerator

    private static let policies: [NSMergePolicy] = [
        .error, .rollback, .overwrite, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, ThreeWayMergePolicy(),
    ]

    init(_ kind: StoreKind, seed: UInt64) throws {
        store = try TestStore(kind, ConflictModel.make())
        random = SeededGenerator(seed: seed)
        contexts = [store.context(), store.context()]
        let context = contexts[0]
        owners = try context.performAndWait {
            let items = (0..<3).map { item(context, ["code": "owner \($0)"]) }
            try context.save()
            return items.map(\.objectID)
        }
    }

    func run(_ count: Int) throws {
        try contexts[0].performAndWait {
            try contexts[1].performAndWait { try runInside(count) }
        }
    }

    private func runInside(_ count: Int) throws {
        for _ in 0..<count {
            let index = Int.random(in: 0...1, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: insert(index)
            case 1:
                try change(index) {
                    $0.delete($1)
                } naive: {
                    $0.isDeleted = true
                }
            case 2...7: try set(index)
            case 8: try refresh(index)
            default: try save(index)
            }
        }
    }

    private func insert(_ index: Int) {
        serials += 1
        let new = StrataSweepTests.insert("Part", contexts[index]).set(["number": serials, "text": "new", "owner": nil])
        objects[index][serials] = new
        var entry = NaiveStore.Entry()
        entry.isInserted = true
        entry.edits = ["text": "new", "note": nil, "owner": nil]
        naive.contexts[index][serials] = entry
    }

    /// Picks an object that can be changed and sees to it that both sides have read it.
    private func pick(_ index: Int) throws -> (Int, NSManagedObject)? {
        let known = Set(naive.contexts[index].keys).union(naive.rows.keys).sorted()
        guard let serial = known.randomElement(using: &random) else { return nil }
        let entry = naive.contexts[index][serial] ?? NaiveStore.Entry()
        // A fault whose row has gone cannot be read, and what is deleted is not touched any more.
        if entry.isDeleted || (!entry.isInserted && entry.base == nil && naive.rows[serial] == nil) { return nil }
        naive.read(serial, index)
        let object = try objects[index][serial] ?? contexts[index].object(with: #require(ids[serial]))
        objects[index][serial] = object
        _ = object.text("text")
        return (serial, object)
    }

    private func change(
        _ index: Int, _ body: (NSManagedObjectContext, NSManagedObject) -> Void,
        naive update: (inout NaiveStore.Entry) -> Void
    ) throws {
        guard let (serial, object) = try pick(index) else { return }
        body(contexts[index], object)
        if var entry = naive.contexts[index][serial] {
            update(&entry)
            naive.contexts[index][serial] = entry
        }
    }

    private func set(_ index: Int) throws {
        let key = ["text", "note", "owner"].randomElement(using: &random) ?? "text"
        let number = Int.random(in: 0..<3, using: &random)
        let isNil = Int.random(in: 0..<4, using: &random) == 0
        let owner = contexts[index].object(with: owners[number])
        try change(index) { _, object in
            object.setValue(isNil ? nil : key == "owner" ? owner : "\(number)" as Any, forKey: key)
        } naive: { entry in
            entry.edits[key] = isNil ? .some(nil) : .some(key == "owner" ? "owner \(number)" : "\(number)")
        }
    }

    private func refresh(_ index: Int) throws {
        let keeps = Bool.random(using: &random)
        guard let (serial, object) = try pick(index), let row = naive.rows[serial],
            naive.contexts[index][serial]?.isInserted == false
        else { return }
        contexts[index].refresh(object, mergeChanges: keeps)
        if keeps {
            // What was set to the value that it had is no change to keep.
            if let entry = naive.contexts[index][serial] { naive.contexts[index][serial]?.edits = entry.changes }
            naive.contexts[index][serial]?.base = row
        } else if case let entry? = naive.contexts[index][serial], entry.edits["owner"] == nil {
            naive.contexts[index][serial] = NaiveStore.Entry()
        } else {
            // Giving up one side of a relationship leaves the other changed; the whole context goes back, too.
            rollBack(index)
            naive.contexts[index][serial] = NaiveStore.Entry()
        }
    }

    /// Gives the changes up; what was read stays as it was read.
    private func rollBack(_ index: Int) {
        contexts[index].rollback()
        for (serial, entry) in naive.contexts[index] where entry.isPending {
            naive.contexts[index][serial] = entry.isInserted ? nil : NaiveStore.Entry(base: entry.base)
            if entry.isInserted { objects[index][serial] = nil }
        }
    }

    private func save(_ index: Int) throws {
        let policy = Self.policies.randomElement(using: &random) ?? .error
        contexts[index].mergePolicy = policy
        let wasInserted = naive.contexts[index].filter { $0.value.isInserted && !$0.value.isDeleted }.map(\.key)
        var isRefused = false
        do {
            try naive.save(index, policy is ThreeWayMergePolicy ? nil : policy.mergeType)
        } catch is NaiveStore.Conflict {
            isRefused = true
        }
        do {
            try contexts[index].save()
            #expect(!isRefused, "\(policy) should have refused")
        } catch let error as CocoaError {
            #expect(isRefused && error.code.rawValue == 133020, "\(policy): \(error)")
            if Bool.random(using: &random) { rollBack(index) }
            return
        }
        for serial in wasInserted { ids[serial] = objects[index][serial]?.objectID }
        for serial in objects[index].keys where naive.contexts[index][serial] == nil { objects[index][serial] = nil }
        #expect(!contexts[index].hasChanges, "\(policy)")
        try compare(index, policy)
    }

    private func compare(_ index: Int, _ policy: NSMergePolicy) throws {
        let parts = try stored("Part", store, sort: "number")
        #expect(parts.compactMap { $0.number("number") } == naive.rows.keys.sorted(), "\(policy)")
        for part in parts {
            let serial = part.number("number") ?? 0
            #expect(values(part) == naive.rows[serial]?.values, "\(policy): object \(serial) in the store")
        }
        for item in try stored("Item", store, sort: "code") {
            let owned = naive.rows.filter { $0.value.values["owner"] == .some(item.text("code")) }
            #expect(
                Set(item.members("parts").compactMap { $0.number("number") }) == Set(owned.keys), "\(policy): inverse")
        }
        for (serial, entry) in naive.contexts[index] where entry.base != nil {
            guard let object = objects[index][serial] else { continue }
            #expect(values(object) == entry.values, "\(policy): object \(serial) in the context")
        }
    }

    private func values(_ part: NSManagedObject) -> NaiveStore.Values {
        [
            "text": part.text("text"), "note": part.text("note"),
            "owner": (part.value(forKey: "owner") as? NSManagedObject)?.text("code"),
        ]
    }
}

@Suite struct TwoContextsModelTests {
    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 1, count: 16))
    func policiesDoWhatTheySay(_ kind: StoreKind, _ seed: UInt64) throws {
        try TwoContexts(kind, seed: seed).run(RandomRuns.operations(650))
    }
}

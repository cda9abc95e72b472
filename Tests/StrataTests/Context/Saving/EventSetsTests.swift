import CoreData
import Foundation
import Testing

@testable import Strata

class SetItem: NSManagedObject {
    var refuses = false

    override func validateForInsert() throws {
        try super.validateForInsert()
        if refuses { throw CocoaError(.validationStringTooShort) }
    }
}

/// Has an idea of its own of what its hash is, and notes on which threads it is asked for it.
final class HashedItem: SetItem {
    static let threads = SeenThreads()

    override var hash: Int {
        Self.threads.note()
        return 7
    }
}

final class SeenThreads: @unchecked Sendable {
    // Unchecked: the set is guarded by the lock.
    private let lock = NSLock()
    private var threads: Set<ObjectIdentifier> = []

    func note() { _ = lock.withLock { threads.insert(ObjectIdentifier(Thread.current)) } }

    func take() -> Set<ObjectIdentifier> {
        lock.withLock {
            defer { threads = [] }
            return threads
        }
    }
}

/// The sets that notifications of large events have, part of which another core makes.
@Suite struct EventSetsTests {
    private static let count = EventSets.step * 2 + 500

    private static func model() -> NSManagedObjectModel {
        ManagedObjectClasses.register(SetItem.self, HashedItem.self)
        let (item, hashed) = (GraphModel.entity("Item", SetItem.self), GraphModel.entity("Hashed", HashedItem.self))
        item.properties = [GraphModel.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [item, hashed]
        return model
    }

    /// What notifications said, in their order. Used on the context's queue, where they come.
    private final class Log: @unchecked Sendable {
        var entries: [(name: Notification.Name, inserted: Set<NSManagedObject>, deleted: Set<NSManagedObject>)] = []
        var ids: [(inserted: Set<NSManagedObjectID>, deleted: Set<NSManagedObjectID>)] = []
        private var tokens: [any NSObjectProtocol] = []

        init(_ context: NSManagedObjectContext) {
            for name in [Notification.Name.NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave] {
                observe(name, context) { [unowned self] info in
                    self.entries.append(
                        (
                            name, info[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? [],
                            info[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
                        ))
                }
            }
            observe(NSManagedObjectContext.didSaveObjectIDsNotification, context) { [unowned self] info in
                self.ids.append(
                    (
                        info[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> ?? [],
                        info[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
                    ))
            }
        }

        private func observe(
            _ name: Notification.Name, _ context: NSManagedObjectContext, _ body: @escaping ([AnyHashable: Any]) -> Void
        ) {
            nonisolated(unsafe) let body = body
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                    body($0.userInfo ?? [:])
                })
        }

        deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    }

    private static func items(_ count: Int, _ context: NSManagedObjectContext) -> [SetItem] {
        (0..<count).map { _ in SetItem(context: context) }
    }

    private static func set(_ items: [NSManagedObject]) -> Set<NSManagedObject> { Set(items) }

    /// They are sets like any other: of what has happened, whatever is done with them, as long as somebody keeps them.
    @Test(arguments: StoreKind.allCases) func areTheObjects(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        let log = Log(context)
        try context.performAndWait {
            let items = Self.items(Self.count, context)
            try context.save()
            #expect(
                log.entries.map(\.name) == [.NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave])
            for entry in log.entries {
                #expect(entry.inserted == Self.set(items) && Self.set(items) == entry.inserted && entry.deleted.isEmpty)
                #expect(items.allSatisfy { entry.inserted.contains($0) })
            }
            var set = log.entries[0].inserted
            #expect(set.remove(items[0]) === items[0] && set.count == Self.count - 1 && !set.contains(items[0]))
            #expect(log.entries[1].inserted.contains(items[0]))
            #expect(set.insert(items[0]).inserted && !set.insert(items[1]).inserted)
            #expect((set as Set<AnyHashable>).contains(items[2]) && (set as? Set<SetItem>)?.count == Self.count)
            #expect(set.union(Self.set(items)).count == Self.count && set.subtracting(Self.set(items)).isEmpty)
            let ids = Set(items.map(\.objectID))
            #expect(log.ids.last?.inserted == ids && ids.allSatisfy { log.ids.last?.inserted.contains($0) == true })

            log.entries = []
            for item in items.dropLast(100) { context.delete(item) }
            try context.save()
            for entry in log.entries {
                #expect(entry.deleted == Self.set(Array(items.dropLast(100))) && entry.inserted.isEmpty)
            }
            #expect(log.ids.last?.deleted == Set(items.dropLast(100).map(\.objectID)))
        }
    }

    /// What is undone before the event is over was never there, also when it has been put into a set.
    @Test func followWhatBecomesOfTheObjects() throws {
        let store = try TestStore(.memory, Self.model())
        let context = store.context()
        let log = Log(context)
        try context.performAndWait {
            let items = Self.items(Self.count, context)
            let gone = items.enumerated().filter { $0.offset % 7 == 0 }.map(\.element)
            for item in gone { context.delete(item) }
            context.processPendingChanges()
            #expect(
                log.entries.last?.inserted == Self.set(items).subtracting(Self.set(gone))
                    && log.entries.last?.deleted.isEmpty == true)
            try context.save()
            #expect(log.entries.last?.inserted == Self.set(items).subtracting(Self.set(gone)))

            // Some are deleted and come back, some are new, others are changed first.
            let kept = items.enumerated().filter { $0.offset % 7 != 0 }.map(\.element)
            for item in kept { context.delete(item) }
            for item in kept.prefix(50) { context.insert(item) }
            let new = Self.items(Self.count, context)
            try context.save()
            #expect(
                log.entries.last?.deleted == Self.set(Array(kept.dropFirst(50)))
                    && log.entries.last?.inserted == Self.set(new))
            for item in Array(kept.prefix(50)) + new { item.setValue("x", forKey: "name") }
            for item in Array(kept.prefix(50)) + new { context.delete(item) }
            try context.save()
            #expect(log.entries.last?.deleted == Self.set(Array(kept.prefix(50)) + new))
        }
    }

    /// A save that fails leaves everything as it was, and the next one tells of everything.
    @Test(arguments: StoreKind.allCases) func failedSaves(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        let log = Log(context)
        try context.performAndWait {
            let items = Self.items(Self.count, context)
            items[Self.count / 2].refuses = true
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(log.entries.map(\.name) == [.NSManagedObjectContextObjectsDidChange])
            #expect(context.insertedObjects == Self.set(items) && log.ids.isEmpty)
            items[Self.count / 2].refuses = false
            let more = Self.items(EventSets.step, context)
            try context.save()
            #expect(log.entries.last?.name == .NSManagedObjectContextDidSave)
            #expect(log.entries.last?.inserted == Self.set(items + more))
            #expect(log.ids.last?.inserted == Set((items + more).map(\.objectID)))
            #expect(try context.count(for: NSFetchRequest<SetItem>(entityName: "Item")) == items.count + more.count)
        }
    }

    enum End: CaseIterable { case reset, rollback, release }

    /// Who gives an event up has no objects of it left, even if another core was putting them into a set.
    @Test(arguments: End.allCases) func nothingIsLeftOfWhatIsGivenUp(_ end: End) throws {
        let store = try TestStore(.memory, Self.model())
        for _ in 0..<20 {
            var context: NSManagedObjectContext? = store.shortLivedContext()
            var known: [WeakItem] = []
            context?.performAndWait {
                guard let context else { return }
                known = Self.items(Self.count, context).map { WeakItem(item: $0) }
                #expect(known.allSatisfy { $0.item != nil })
                switch end {
                case .reset: context.reset()
                case .rollback: context.rollback()
                case .release: break
                }
            }
            context = nil
            #expect(known.allSatisfy { $0.item == nil })
        }
    }

    private struct WeakItem {
        weak var item: SetItem?
    }

    /// Observers may change the context, save it again and reset it, and what they keep stays.
    @Test func observersMayDoAnything() throws {
        let store = try TestStore(.memory, Self.model())
        let context = store.context()
        let log = Log(context)
        // On the context's queue, as the notifications are.
        nonisolated(unsafe) var round = 0
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { _ in
            round += 1
            if round <= 2 { _ = Self.items(Self.count, context) }
        }
        let saved = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { _ in context.reset() }
        defer { for token in [token, saved] { NotificationCenter.default.removeObserver(token) } }
        try context.performAndWait {
            _ = Self.items(Self.count, context)
            try context.save()
            let changes = log.entries.filter { $0.name == .NSManagedObjectContextObjectsDidChange }.prefix(3)
            #expect(changes.map(\.inserted.count) == [Self.count, Self.count, Self.count])
            let all = log.entries.last { $0.name == .NSManagedObjectContextDidSave }?.inserted ?? []
            #expect(
                all.count == Self.count * 3
                    && all == changes.reduce(into: Set<NSManagedObject>()) { $0.formUnion($1.inserted) })
            #expect(context.registeredObjects.isEmpty && all.allSatisfy { $0.managedObjectContext == nil })
            #expect(try context.count(for: NSFetchRequest<SetItem>(entityName: "Item")) == Self.count * 3)
        }
    }

    /// What a class does about equality is done on the context's queue.
    @Test func overriddenHashesAreAskedOnTheQueue() throws {
        let store = try TestStore(.memory, Self.model())
        let context = store.context()
        let log = Log(context)
        try context.performAndWait {
            _ = HashedItem.threads.take()
            // All in one place of the set, so fewer.
            let items = (0..<EventSets.step + 100).map { _ in HashedItem(context: context) }
            try context.save()
            #expect(log.entries.count == 2 && log.entries.allSatisfy { $0.inserted.count == items.count })
            #expect(HashedItem.threads.take() == [ObjectIdentifier(Thread.current)])
        }
    }

    /// Contexts import and delete at the same time.
    @Test func manyContexts() async throws {
        let store = try TestStore(.log, Self.model())
        let contexts = (0..<3).map { _ in store.context() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for context in contexts {
                group.addTask {
                    let log = Log(context)
                    for round in 0..<6 {
                        try await context.perform {
                            let items = Self.items(Self.count, context)
                            if round == 2 { context.rollback() } else { try context.save() }
                            if round % 2 == 1 {
                                for item in items { context.delete(item) }
                                try context.save()
                            }
                            context.reset()
                        }
                    }
                    #expect(
                        log.ids.count == 8 && log.ids.allSatisfy { $0.inserted.count + $0.deleted.count == Self.count })
                }
            }
            try await group.waitForAll()
        }
        try contexts[0].performAndWait {
            let count = try contexts[0].count(for: NSFetchRequest<SetItem>(entityName: "Item"))
            #expect(count == Self.count * 2 * contexts.count)
        }
    }

    /// More pieces than keep their memory come and go, and no two are the same.
    @Test func overlayPiecesAreEachOthers() {
        var pieces: [UnsafeMutableRawPointer] = []
        for round in 0..<3 {
            pieces = (0..<2_000).map { _ in OverlayPieces.take() }
            #expect(Set(pieces).count == pieces.count)
            for (number, piece) in pieces.enumerated() {
                piece.storeBytes(of: number ^ round, as: Int.self)
                piece.storeBytes(of: number, toByteOffset: OverlayPieces.byteCount - 8, as: Int.self)
            }
            #expect(
                pieces.enumerated().allSatisfy {
                    $1.load(as: Int.self) == $0 ^ round
                        && $1.load(fromByteOffset: OverlayPieces.byteCount - 8, as: Int.self) == $0
                })
            for piece in pieces.shuffled() { OverlayPieces.give(piece) }
        }
    }
}

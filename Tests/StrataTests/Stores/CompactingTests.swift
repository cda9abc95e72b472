import CoreData
import Foundation
import StrataTestKit
import Testing

/// What a program sees of its store's space, and how it takes it back.
@Suite struct CompactingTests {
    private let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-\(UUID().uuidString)")
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
    private let options: [AnyHashable: Any] = [StrataDurabilityOption: "os"]

    private func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func add(_ kind: StoreKind, _ more: [AnyHashable: Any] = [:]) throws -> NSPersistentStore {
        try coordinator.addPersistentStore(
            ofType: kind == .log ? NSSQLiteStoreType : NSInMemoryStoreType, configurationName: nil, at: url,
            options: self.options.merging(more) { _, new in new })
    }

    private func removeAll() {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        removeStore(at: url)
    }

    /// 4,000 objects with 2 KiB each that no compression makes much smaller, of which every tenth stays.
    private func fillAndDelete() throws {
        let context = context()
        try context.performAndWait {
            var generator = SeededGenerator(seed: 4_000)
            for start in stride(from: 0, to: 4_000, by: 500) {
                for index in start..<(start + 500) {
                    let digits = (0..<128).map { _ in String(generator.next(), radix: 16) }
                    Employee(context: context).name = "\(index)-" + digits.joined()
                }
                try context.save()
            }
            let all = try context.fetch(NSFetchRequest<Employee>(entityName: "Employee"))
            for object in all where number(object) % 10 != 7 { context.delete(object) }
            try context.save()
        }
    }

    private func number(_ employee: Employee) -> Int {
        Int(employee.name.prefix { $0 != "-" }) ?? -1
    }

    private func numbers() throws -> [Int] {
        let context = context()
        return try context.performAndWait {
            try context.fetch(NSFetchRequest<Employee>(entityName: "Employee")).map(number).sorted()
        }
    }

    private static let left = Array(stride(from: 7, to: 4_000, by: 10))

    @Test(arguments: StoreKind.allCases) func spaceComesBack(_ kind: StoreKind) throws {
        defer { removeAll() }
        let store = try add(kind)
        try fillAndDelete()
        let progress = Progress(totalUnitCount: 0)
        let before = try coordinator.space(of: store)
        let compaction = try coordinator.compact(store, progress: progress)
        let after = try coordinator.space(of: store)
        // A compaction of its own may have done part of it before.
        #expect(before.byteCount - compaction.freedByteCount <= after.byteCount)
        #expect(after.byteCount < 4_000 * 2_048 / 4, "\(after.byteCount)")
        #expect(after.liveByteCount > 400 * 1_024 * 9 / 10)
        #expect(after.deadByteCount < after.byteCount / 5, "\(after)")
        #expect(after.pinnedByteCount == 0)
        #expect(progress.isFinished)
        #expect(try numbers() == Self.left)
    }

    /// A context that is pinned to what was keeps reading it, and says so in the figures.
    @Test func pinnedGenerationsKeepTheirBytes() throws {
        defer { removeAll() }
        let store = try add(.log)
        let context = context()
        let pinned = self.context()
        try context.performAndWait {
            for index in 0..<2_000 { Employee(context: context).name = "e\(index)" }
            try context.save()
        }
        try pinned.performAndWait {
            try pinned.setQueryGenerationFrom(.current)
            #expect(try pinned.count(for: NSFetchRequest<Employee>(entityName: "Employee")) == 2_000)
        }
        try context.performAndWait {
            for object in try context.fetch(NSFetchRequest<Employee>(entityName: "Employee")) { context.delete(object) }
            try context.save()
        }
        try coordinator.compact(store)
        #expect(try coordinator.space(of: store).pinnedByteCount > 0)
        try pinned.performAndWait {
            let names = try pinned.fetch(NSFetchRequest<Employee>(entityName: "Employee")).map(\.name)
            #expect(Set(names).count == 2_000)
            try pinned.setQueryGenerationFrom(nil)
            pinned.reset()
        }
        #expect(try coordinator.space(of: store).pinnedByteCount == 0)
    }

    @Test func aCancelledCompactionLosesNothing() async throws {
        defer { removeAll() }
        let store = try add(.log)
        try fillAndDelete()
        let progress = Progress(totalUnitCount: 0)
        progress.cancel()
        let error = #expect(throws: CocoaError.self) { try coordinator.compact(store, progress: progress) }
        #expect(error?.code == .userCancelled)
        #expect(try numbers() == Self.left)
        // Without hindrance it goes on with what is left.
        _ = try await coordinator.compact(store)
        #expect(try coordinator.space(of: store).byteCount < 4_000 * 2_048 / 4)
        #expect(try numbers() == Self.left)
    }

    /// Closing ends a compaction behind the step that it is in.
    @Test func closingDuringACompactionLosesNothing() async throws {
        defer { removeAll() }
        let store = try add(.log)
        try fillAndDelete()
        let box = Unchecked(coordinator: coordinator, store: store)
        let progress = Progress(totalUnitCount: 0)
        let compacting = Task { try await box.coordinator.compact(box.store, progress: progress) }
        // Once it has done something, or is over already.
        while progress.completedUnitCount == 0, !progress.isFinished { await Task.yield() }
        try await coordinator.close()
        #expect(coordinator.persistentStores.isEmpty)
        // Whoever compacts hears of it, unless all was done.
        if case .failure(let error) = await compacting.result { #expect(error is CocoaError) }
        _ = try add(.log)
        #expect(try numbers() == Self.left)
    }

    @Test func aCancelledTaskStopsIt() async throws {
        defer { removeAll() }
        let store = try add(.log)
        try fillAndDelete()
        let box = Unchecked(coordinator: coordinator, store: store)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await box.coordinator.compact(box.store)
        }
        let error = await #expect(throws: CocoaError.self) { try await task.value }
        #expect(error?.code == .userCancelled)
    }

    private struct Unchecked: @unchecked Sendable {
        let coordinator: NSPersistentStoreCoordinator
        let store: NSPersistentStore
    }

    /// As with SQLite, where the option rebuilds the file.
    @Test func theVacuumOptionCompactsAtOpening() throws {
        defer { removeAll() }
        let store = try add(.log)
        try fillAndDelete()
        try coordinator.remove(store)
        let opened = try add(.log, [NSSQLiteManualVacuumOption: true])
        #expect(try coordinator.space(of: opened).byteCount < 4_000 * 2_048 / 4)
        #expect(try numbers() == Self.left)
    }

    @Test func whatCannotBeCompactedSaysSo() throws {
        defer { removeAll() }
        let store = try add(.log)
        try fillAndDelete()
        try coordinator.remove(store)
        let gone = #expect(throws: CocoaError.self) { try coordinator.compact(store) }
        #expect(gone?.code == .persistentStoreOperation)
        #expect(throws: CocoaError.self) { try coordinator.space(of: store) }
        let reader = try add(.log, [NSReadOnlyPersistentStoreOption: true])
        let refused = #expect(throws: CocoaError.self) { try coordinator.compact(reader) }
        #expect(refused?.code == .fileWriteNoPermission)
        #expect(try coordinator.space(of: reader).liveByteCount > 0)
    }
}

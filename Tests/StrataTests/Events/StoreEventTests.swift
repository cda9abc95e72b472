import CoreData
import Foundation
import StrataSupport
import Synchronization
import Testing

@testable import Strata

/// What the hook hears of the work on stores beside requests.
@Suite struct StoreEventTests {
    /// What is heard of the store at a path.
    private final class Ear: Sendable {
        private let heard = Mutex<[String]>([])
        private let number = Mutex(0)

        init(_ path: String) {
            let added = EventHub.add(
                EventListener(
                    kinds: [
                        .opening, .checkpoint, .compaction, .migration, .following, .damage, .fault,
                    ]
                ) { [weak self] event in
                    guard event.stores.map(\.path) == [path] else { return }
                    self?.heard.withLock { $0.append(Self.text(event)) }
                })
            number.withLock { $0 = added }
        }

        deinit { EventHub.remove(number.withLock { $0 }) }

        private static func text(_ event: StrataEvent) -> String {
            switch event {
            case .opening(let work): "opening \(work.error == nil)"
            case .checkpoint(let work): "checkpoint \(work.error == nil)"
            case .migration(let work): "migration \(work.error == nil)"
            case .compaction(let compaction): "compaction \(compaction.segments > 0) \(compaction.freedBytes > 0)"
            case .damage: "damage"
            case .fault(let fault): "\(fault.isPrefetch ? "prefetch" : "fault") \(fault.entity ?? "-") \(fault.rows)"
            default: "other"
            }
        }

        func take() -> [String] {
            heard.withLock { heard in
                defer { heard = [] }
                return heard
            }
        }
    }

    private func url() -> URL {
        ProcessFolder.url.appendingPathComponent("events-\(UUID().uuidString)")
    }

    private func open(_ model: NSManagedObjectModel, _ url: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        return coordinator
    }

    @Test func openingCheckpointsAndCompactionAreTold() throws {
        let url = url()
        let ear = Ear(url.path)
        let coordinator = try open(GraphModel.company(), url)
        #expect(ear.take().contains("opening true"))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for round in 0..<4 {
                for number in 0..<500 {
                    let department = Department(context: context)
                    department.title = "department \(round) \(number)"
                }
                try context.save()
                let all = NSFetchRequest<any NSFetchRequestResult>(entityName: "Department")
                try context.execute(NSBatchDeleteRequest(fetchRequest: all))
            }
        }
        _ = try coordinator.compact(coordinator.persistentStores[0])
        #expect(ear.take().contains { $0.hasPrefix("compaction true") })
        try coordinator.remove(coordinator.persistentStores[0])
        #expect(ear.take().contains("checkpoint true"))
    }

    @Test func openingThatFailsIsTold() throws {
        let url = url()
        let ear = Ear(url.path)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data("nothing".utf8).write(to: url.appendingPathComponent("MANIFEST"))
        #expect(throws: (any Error).self) { try open(GraphModel.company(), url) }
        #expect(ear.take().contains("opening false"))
    }

    @Test func faultsReadTogetherAndPrefetchingAreTold() throws {
        let url = url()
        let coordinator = try open(GraphModel.company(), url)
        let writer = NSManagedObjectContext(.privateQueue)
        writer.persistentStoreCoordinator = coordinator
        try writer.performAndWait {
            for number in 0..<50 {
                let employee = Employee(context: writer)
                employee.name = "E\(number)"
                employee.department = Department(context: writer)
            }
            try writer.save()
        }
        let ear = Ear(url.path)
        let reader = NSManagedObjectContext(.privateQueue)
        reader.persistentStoreCoordinator = coordinator
        try reader.performAndWait {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            for employee in try reader.fetch(request) { _ = employee.name }
            #expect(ear.take().contains("fault Employee 50"))
            reader.reset()
            request.relationshipKeyPathsForPrefetching = ["department"]
            _ = try reader.fetch(request)
            #expect(ear.take().contains("prefetch Department 50"))
        }
    }

    /// Who hears of fetches hears of its look-ups with the fetch; a fault that fires by itself is told by itself.
    @Test func whatAFetchLooksUpIsToldWithIt() throws {
        let url = url()
        let coordinator = try open(GraphModel.company(), url)
        let writer = NSManagedObjectContext(.privateQueue)
        writer.persistentStoreCoordinator = coordinator
        try writer.performAndWait {
            for number in 0..<5 {
                let employee = Employee(context: writer)
                employee.name = "E\(number)"
                employee.department = Department(context: writer)
            }
            try writer.save()
        }
        let heard = Mutex<[(name: String, parts: [String], areInOrder: Bool)]>([])
        let number = EventHub.add(
            EventListener(kinds: [.fetch, .fault], guardsCalls: true) { event, parts in
                guard event.stores.map(\.path) == [url.path] else { return }
                let ends = parts.faults.compactMap(\.work.ended)
                let areInOrder = ends.count == parts.faults.count && ends == ends.sorted()
                heard.withLock {
                    $0.append((Self.name(of: event), parts.faults.map { Self.name(of: .fault($0)) }, areInOrder))
                }
            })
        defer { EventHub.remove(number) }
        let reader = NSManagedObjectContext(.privateQueue)
        reader.persistentStoreCoordinator = coordinator
        try reader.performAndWait {
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.relationshipKeyPathsForPrefetching = ["department"]
            _ = try reader.fetch(request)
            reader.reset()
            request.relationshipKeyPathsForPrefetching = nil
            for employee in try reader.fetch(request) { _ = employee.name }
        }
        let all = heard.withLock { $0 }
        #expect(all.map(\.name) == ["fetch Employee", "fetch Employee", "fault Employee"])
        #expect(
            all.map(\.parts) == [
                ["fault Employee", "prefetch Employee", "fault Department", "prefetch Department"], [], [],
            ])
        #expect(all.allSatisfy { $0.areInOrder })
    }

    private static func name(of event: StrataEvent) -> String {
        switch event {
        case .fetch(let fetch): "fetch \(fetch.entity)"
        case .fault(let fault): "\(fault.isPrefetch ? "prefetch" : "fault") \(fault.entity ?? "-")"
        default: "other"
        }
    }

    @Test func aFetchNamesTheStoresThatThereAre() throws {
        let (first, second) = (url(), url())
        let coordinator = try open(GraphModel.company(), first)
        let heard = Mutex<[[String]]>([])
        let number = EventHub.add(
            EventListener(kinds: .fetch) { event in
                guard event.stores.contains(where: { $0.path == first.path }) else { return }
                heard.withLock { $0.append(event.stores.map(\.path)) }
            })
        defer { EventHub.remove(number) }
        func fetch() throws {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait { _ = try context.fetch(NSFetchRequest<Employee>(entityName: "Employee")) }
        }
        try fetch()
        let added = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: second)
        try fetch()
        try coordinator.remove(added)
        try fetch()
        #expect(heard.withLock { $0 } == [[first.path], [first.path, second.path], [first.path]])
    }

    @Test func damageIsToldOnceAPlace() throws {
        let damaged = try DamageTests.DamagedStore()
        let ear = Ear(damaged.url.path)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = damaged.coordinator
        context.performAndWait {
            for _ in 0..<3 {
                #expect(throws: (any Error).self) {
                    let request = NSFetchRequest<Department>(entityName: "Department")
                    request.predicate = NSPredicate(format: "title CONTAINS 'part'")
                    _ = try context.fetch(request)
                }
            }
        }
        #expect(ear.take().count { $0 == "damage" } == 1)
    }

    /// A process that reads hears of what another one writes, with the delay.
    @Test func aFollowerInAnotherProcessTellsHowFarItIsBehind() async throws {
        let url = url()
        let coordinator = try open(GraphModel.company(), url)
        let isDone = LockedBox(false)
        let (ended, end) = AsyncStream<Void>.makeStream()
        // On a thread of its own: other tests may have all those of tasks.
        Thread.detachNewThread {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            while !isDone.value {
                context.performAndWait {
                    Department(context: context).title = "D"
                    #expect(throws: Never.self) { try context.save() }
                }
                Thread.sleep(forTimeInterval: 0.02)
            }
            end.finish()
        }
        await #expect(processExitsWith: .success) { [path = url.path as String] in
            let told = DispatchSemaphore(value: 0)
            _ = EventHub.add(
                EventListener(kinds: .following) { event in
                    guard case .following(let follow) = event, follow.store.path == path, follow.transactions > 0,
                        follow.lag < .seconds(10)
                    else { return }
                    told.signal()
                })
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path),
                options: [NSReadOnlyPersistentStoreOption: true])
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            for _ in 0..<3_000 {
                _ = try context.performAndWait {
                    try context.count(for: NSFetchRequest<Department>(entityName: "Department"))
                }
                if told.wait(timeout: .now() + .milliseconds(20)) == .success { exit(0) }
            }
            exit(1)
        }
        isDone.change { $0 = true }
        for await _ in ended {}
    }
}

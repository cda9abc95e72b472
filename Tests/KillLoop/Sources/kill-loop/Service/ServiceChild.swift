import Dispatch
import Foundation
import Strata
import Synchronization

/// A process that serves 64 clients, half of them threads and half of them tasks, with a mixed load.
final class ServiceChild: Sendable {
    private static let batch = 1_000

    private let container: NSPersistentContainer
    private let customers: [NSManagedObjectID]
    private let slots: ServiceSlots
    private let isOver = Atomic<Bool>(false)
    private let requests = Atomic<Int>(0)
    private let conflicts = Atomic<Int>(0)

    /// Makes the store with its orders; not durable before it is closed.
    static func fill(_ path: String, orders: Int) throws {
        let container = try ServiceModel.open(path, flushes: false)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let customers = (0..<ServicePlan.customerCount).map { number in
                let customer = ServiceCustomer(context: context)
                customer.number = Int64(number)
                return customer
            }
            try context.save()
            let ids = customers.map(\.objectID)
            for number in 1...orders {
                _ = ServiceRequests.add(Int64(number), ids, to: context)
                guard number % batch == 0 || number == orders else { continue }
                try context.save()
                context.reset()
            }
        }
        try ServiceModel.close(container)
    }

    /// Opens the store and reads all of it.
    private init(_ path: String, slotCount: Int) throws {
        container = try ServiceModel.open(path)
        slots = ServiceSlots(count: slotCount)
        let context = container.newBackgroundContext()
        customers = try context.performAndWait { [slots] in
            let request = NSFetchRequest<ServiceCustomer>(entityName: "Customer")
            request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
            let customers = try context.fetch(request).map(\.objectID)
            for order in try context.fetch(NSFetchRequest<ServiceOrder>(entityName: "Order")) {
                slots.put(ServiceSlots.Entry(number: order.number, id: order.objectID))
                _ = order.note
            }
            return customers
        }
    }

    /// Serves until it is killed.
    static func serveForever(_ path: String, slotCount: Int, seed: UInt64) throws {
        ProcessMemory.shareHeaps()
        let child = try ServiceChild(path, slotCount: slotCount)
        child.startClients(seed, DispatchGroup())
        while true { sleep(60) }
    }

    /// Serves for a while, rests, and tells what memory it has before, at the end and after that.
    static func serveAndRest(_ path: String, slotCount: Int, seed: UInt64, seconds: Int, idleSeconds: Int) throws {
        // A short rest is long enough for caches that are given back after a moment.
        if idleSeconds < 40 { StrataMemory.idleSeconds = 1 }
        ProcessMemory.shareHeaps()
        let child = try ServiceChild(path, slotCount: slotCount)
        ServiceMessage.report(.residentBefore, ProcessMemory.residentBytes)
        let group = DispatchGroup()
        child.startClients(seed, group)
        sleep(UInt32(seconds))
        child.isOver.store(true, ordering: .relaxed)
        group.wait()
        ServiceMessage.report(.residentAtEnd, ProcessMemory.residentBytes)
        ServiceMessage.report(.threadsAtEnd, ProcessMemory.threadCount)
        ServiceMessage.report(.requests, child.requests.load(ordering: .relaxed))
        ServiceMessage.report(.conflicts, child.conflicts.load(ordering: .relaxed))
        sleep(UInt32(idleSeconds))
        ServiceMessage.report(.residentAfterIdling, ProcessMemory.residentBytes)
        ServiceMessage.report(.threadsAfterIdling, ProcessMemory.threadCount)
        ProcessMemory.trim()
        ServiceMessage.report(.residentAfterTrim, ProcessMemory.residentBytes)
        try ServiceModel.close(child.container)
    }

    private func startClients(_ seed: UInt64, _ group: DispatchGroup) {
        for client in 0..<ServicePlan.clientCount {
            group.enter()
            let random = Plan.mix(seed &+ UInt64(client) &* 7_919)
            if client % 2 == 0 {
                let thread = Thread { [self] in
                    serve(random)
                    group.leave()
                }
                thread.stackSize = 1 << 20
                thread.start()
            } else {
                Task.detached { [self] in
                    await serveAsync(random)
                    group.leave()
                }
            }
        }
    }

    private func serve(_ seed: UInt64) {
        var random = seed
        while !isOver.load(ordering: .relaxed) {
            random = Plan.mix(random)
            let kind = ServiceRequests.kind(random)
            let context = container.newBackgroundContext()
            do {
                let isDone = try context.performAndWait {
                    try ServiceRequests.run(kind, random, slots, customers, in: context)
                }
                count(isDone)
            } catch {
                fail(error)
            }
        }
    }

    @concurrent
    private func serveAsync(_ seed: UInt64) async {
        var random = seed
        while !isOver.load(ordering: .relaxed) {
            random = Plan.mix(random)
            let (kind, draw) = (ServiceRequests.kind(random), random)
            do {
                let isDone = try await container.performBackgroundTask { [slots, customers] context in
                    try ServiceRequests.run(kind, draw, slots, customers, in: context)
                }
                count(isDone)
            } catch {
                fail(error)
            }
        }
    }

    private func count(_ isDone: Bool) {
        if isDone { requests.add(1, ordering: .relaxed) } else { conflicts.add(1, ordering: .relaxed) }
    }

    private func fail(_ error: any Error) -> Never {
        FileHandle.standardError.write(Data("kill-loop: a client failed: \(error)\n".utf8))
        exit(1)
    }
}

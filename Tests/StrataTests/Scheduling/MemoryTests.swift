import CoreData
import Foundation
import Strata
import Synchronization
import Testing

/// What a process that was busy keeps: 400 MB stayed after a backlog over a store of 18 MB.
@Suite struct MemoryTests {
    /// A process by itself: what the kernel counts of it is its own.
    enum Process {
        static func numbers(_ file: String, _ prefix: String = "") -> [Int] {
            let text = (try? String(contentsOfFile: "/proc/self/\(file)", encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix(prefix) } ?? ""
            return line.split { !$0.isNumber }.compactMap { Int($0) }
        }

        static var residentBytes: Int { numbers("statm")[1] * sysconf(Int32(_SC_PAGESIZE)) }
        static var threadCount: Int { numbers("status", "Threads:")[0] }

        /// Looks until something is so, for ten minutes at most.
        static func waitUntil(_ condition: () -> Bool) -> Bool {
            for _ in 0..<6_000 {
                if condition() { return true }
                usleep(100_000)
            }
            return condition()
        }
    }

    /// A store with as much text as a service reads, and 24 clients.
    final class Service: Sendable {
        private let url: URL
        let coordinator: NSPersistentStoreCoordinator
        private static let departments = 6_000

        init() throws {
            url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-memory-\(UUID().uuidString)")
            let model = GraphModel.company()
            let maker = NSPersistentStoreCoordinator(managedObjectModel: model)
            let options = [StrataDurabilityOption: "os"]
            try maker.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = maker
            var random: UInt64 = 9
            for part in 0..<12 {
                try context.performAndWait {
                    for index in 0..<Self.departments / 12 {
                        let department = Department(context: context)
                        department.budget = Int64(part * 1_000 + index)
                        // Text that does not become smaller.
                        let bytes = (0..<4_000).map { _ in
                            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                            return UInt8(33 + (random >> 33) % 90)
                        }
                        department.title = String(decoding: bytes, as: UTF8.self)
                    }
                    try context.save()
                    context.reset()
                }
            }
            try maker.remove(maker.persistentStores[0])
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        }

        func close() throws {
            for store in coordinator.persistentStores { try coordinator.remove(store) }
            removeStore(at: url)
        }

        /// Reads everything, and changes some of it, at once.
        func load() {
            let group = DispatchGroup()
            for client in 0..<24 {
                group.enter()
                let thread = Thread { [self] in
                    serve(client)
                    group.leave()
                }
                thread.stackSize = 1 << 20
                thread.start()
            }
            group.wait()
        }

        private func serve(_ client: Int) {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            context.mergePolicy = NSMergePolicy.overwrite
            context.performAndWait {
                let request = NSFetchRequest<Department>(entityName: "Department")
                let found = (try? context.fetch(request)) ?? []
                let length = found.reduce(0) { $0 + ($1.title?.utf8.count ?? 0) }
                guard found.count == Self.departments, length == Self.departments * 4_000 else {
                    fatalError("\(found.count) departments of \(length) bytes")
                }
                for index in 0..<10 { found[client * 10 + index].budget += 1 }
                do { try context.save() } catch { fatalError("\(error)") }
            }
        }
    }

    /// Afterwards most of what the load took has gone, and its threads. How much the C library keeps of the heaps of
    /// many threads is its own business; `kill-loop service` looks at the process as a whole.
    @Test func memoryGoesBackWhenTheLoadIsOver() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            StrataMemory.idleSeconds = 0.3
            let service = try Service()
            StrataMemory.giveBack()
            let (resident, threads) = (Process.residentBytes, Process.threadCount)
            service.load()
            let taken = Process.residentBytes
            let isTaken = taken > resident * 6 / 5
            let isGivenBack = Process.waitUntil {
                Process.residentBytes <= resident + (taken - resident) / 2 && Process.threadCount <= threads + 4
                    && StrataMemory.keptBytes == 0
            }
            let text =
                "\(resident >> 20) MiB and \(threads) threads before, \(taken >> 20) MiB at the end, "
                + "\(Process.residentBytes >> 20) MiB (\(Process.numbers("status", "RssFile:")) KiB of files) and "
                + "\(Process.threadCount) after, \(StrataMemory.keptBytes) bytes kept\n"
            FileHandle.standardError.write(Data(text.utf8))
            try service.close()
            exit(isTaken && isGivenBack ? 0 : 1)
        }
        // Figures for whoever wonders.
        print("MemoryTests: \(String(decoding: result?.standardErrorContent ?? [], as: UTF8.self))")
    }

    /// The stores of a process have one budget: each had its own.
    @Test func allStoresTogetherKeepToTheBudget() async {
        await #expect(processExitsWith: .success) {
            StrataMemory.budgetBytes = 16 << 20
            let services = [try Service(), try Service()]
            for service in services { service.load() }
            // Those that have more than their share give way on another thread.
            let isKept = Process.waitUntil { StrataMemory.keptBytes <= 17 << 20 }
            let isUsed = StrataMemory.keptBytes > 4 << 20
            StrataMemory.budgetBytes = 0
            let isEmptied = StrataMemory.keptBytes < 4 << 20
            for service in services { try service.close() }
            exit(isKept && isUsed && isEmptied ? 0 : 1)
        }
    }

    @Test func settingsThatMakeNoSenseAreRefused() async {
        #expect(StrataMemory.budgetBytes >= 320 << 20 && StrataMemory.budgetBytes <= 1_280 << 20)
        #expect(StrataMemory.idleSeconds == 15)
        await #expect(processExitsWith: .failure) { StrataMemory.budgetBytes = -1 }
        await #expect(processExitsWith: .failure) { StrataMemory.idleSeconds = 0 }
    }

    /// What is given back is read again. In a process by itself: others count on what is kept.
    @Test func nothingIsLostByGivingBack() async {
        await #expect(processExitsWith: .success) {
            for kind in StoreKind.allCases {
                let store = try TestStore(kind)
                let context = store.context()
                try context.performAndWait {
                    for index in 0..<500 { Department(context: context).title = "department \(index)" }
                    try context.save()
                    let request = NSFetchRequest<Department>(entityName: "Department")
                    for _ in 0..<3 {
                        context.reset()
                        StrataMemory.giveBack()
                        let titles = Set(try context.fetch(request).compactMap(\.title))
                        guard titles.count == 500 else { exit(1) }
                    }
                }
            }
            exit(0)
        }
    }
}

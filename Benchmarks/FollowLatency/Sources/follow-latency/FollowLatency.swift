import Dispatch
import Foundation
import Strata

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Saves in this process, consumes in another, and tells how long it took from before and from after each `save()`.
///
///     follow-latency [SAVES [MILLISECONDS]]     (2000, one each 2 ms, with both durabilities)
@main
enum FollowLatency {
    static func main() async {
        do {
            let arguments = CommandLine.arguments.dropFirst()
            if arguments.first == "consume", arguments.count == 3 {
                try await consume(
                    URL(fileURLWithPath: CommandLine.arguments[2]), count: Int(CommandLine.arguments[3]) ?? 0)
                return
            }
            let saves = arguments.first.flatMap { Int($0) } ?? 2000
            let pause = arguments.dropFirst().first.flatMap { Int($0) } ?? 2
            for durability in ["full", "os"] { try measure(saves, pause, durability) }
        } catch {
            FileHandle.standardError.write(Data("follow-latency: \(error)\n".utf8))
            exit(1)
        }
    }

    /// One entity with the time at which its object was made.
    private static func makeModel() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Event"
        let made = NSAttributeDescription()
        made.name = "made"
        made.attributeType = .integer64AttributeType
        entity.properties = [made]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    /// Nanoseconds of a clock that all processes share.
    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // MARK: The other process

    /// Tells the time at which each transaction arrived, eight bytes each.
    private static func consume(_ url: URL, count: Int) async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
        try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        FileHandle.standardOutput.write(Data([1]))
        var times = [Int64](repeating: 0, count: count)
        for try await transaction in coordinator.persistentHistory(after: nil) {
            let number = Int(transaction.transactionNumber)
            times[number - 1] = now()
            if number == count { break }
        }
        times.withUnsafeBytes { FileHandle.standardOutput.write(Data($0)) }
    }

    // MARK: This process

    private static func measure(_ saves: Int, _ pause: Int, _ durability: String) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("follow-latency-\(getpid())")
        defer { try? FileManager.default.removeItem(at: url) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [StrataDurabilityOption: durability])
        let consumer = Process()
        consumer.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        consumer.arguments = ["consume", url.path, "\(saves)"]
        let pipe = Pipe()
        consumer.standardOutput = pipe
        try consumer.run()
        _ = pipe.fileHandleForReading.readData(ofLength: 1)
        var before: [Int64] = []
        var after: [Int64] = []
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        for _ in 0..<saves {
            usleep(UInt32(pause) * 1000)
            try context.performAndWait { () throws in
                let event = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
                let start = now()
                event.setValue(start, forKey: "made")
                try context.save()
                before.append(start)
                after.append(now())
            }
        }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        consumer.waitUntilExit()
        let arrived = data.withUnsafeBytes { bytes in
            (0..<bytes.count / 8).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self) }
        }
        guard arrived.count == saves, arrived.allSatisfy({ $0 > 0 }) else {
            throw CocoaError(.featureUnsupported, userInfo: [NSLocalizedDescriptionKey: "transactions are missing"])
        }
        print("durability \(durability), \(saves) saves, one each \(pause) ms, microseconds to the consumer:")
        report("  from the call of save()  ", zip(before, arrived).map { $1 - $0 })
        report("  from its return          ", zip(after, arrived).map { $1 - $0 })
        try coordinator.remove(store)
    }

    private static func report(_ title: String, _ nanoseconds: [Int64]) {
        let sorted = nanoseconds.sorted()
        func percentile(_ share: Double) -> Int64 { sorted[Int(Double(sorted.count - 1) * share)] / 1000 }
        print("\(title) p50 \(percentile(0.5))  p90 \(percentile(0.9))  p99 \(percentile(0.99))  max \(percentile(1))")
    }
}

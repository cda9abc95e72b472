import Foundation
import StrataLog
import StrataS3
import StrataShip
import SystemPackage

/// The side of Strata in `compare.py`: each verb is a process of its own there, as each of Litestream's is.
///
///     strata-shipping write STORE ROWS ROWS-PER-SAVE PAUSE-MILLISECONDS FIRST
///     strata-shipping ship STORE URL
///     strata-shipping restore URL STORE
///     strata-shipping count STORE
@main
enum Shipping {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let verb = arguments.first else { fatalError("see Shipping.swift") }
        let rest = Array(arguments.dropFirst())
        switch (verb, rest.count) {
        case ("write", 5):
            let numbers = rest.dropFirst().compactMap { Int($0) }
            guard numbers.count == 4 else { fatalError("write: not a number among \(rest)") }
            let writer = try RowStore(rest[0])
            try writer.write(numbers[0], perSave: numbers[1], pause: numbers[2], first: numbers[3])
        case ("ship", 2): try await ship(rest[0], rest[1])
        case ("restore", 2):
            let objects = try S3ObjectStore(url: rest[0])
            let began = ContinuousClock.now
            _ = try await LogRestorer(from: objects).restore(to: FilePath(rest[1]))
            print("{\"seconds\": \((ContinuousClock.now - began) / .seconds(1))}")
            await objects.shutdown()
        case ("count", 1): print("{\"rows\": \(try RowStore(rest[0]).count())}")
        default: fatalError("see Shipping.swift")
        }
    }

    /// Ships until the input ends, and says on each line of input how much is waiting.
    private static func ship(_ store: String, _ url: String) async throws {
        let objects = try S3ObjectStore(url: url)
        let shipper = LogShipper(storeAt: FilePath(store), to: objects)
        let running = Task { try await shipper.run() }
        let reader = Thread {
            while readLine() != nil {
                let status = shipper.status
                let line = "{\"unshipped\": \(status.unshippedBytes), \"sequence\": \(status.sequence)}\n"
                // A pipe's output would be kept back.
                FileHandle.standardOutput.write(Data(line.utf8))
            }
            shipper.stop()
        }
        reader.start()
        try await running.value
        await objects.shutdown()
    }
}

import Foundation
import Strata
import StrataBrowsing
import StrataIO
import SystemPackage

/// Something that `bench` measures.
struct BenchWorkload: Sendable {
    let name: String
    /// Whether many clients do it at once, or one.
    let isShared: Bool
    /// Makes what a client does over and over, on its thread.
    let makeCall: @Sendable (_ store: BenchStore, _ client: Int) throws -> BenchClients.Call

    private static let batch = 1_000
    private static let flushedBytes = 4 << 20

    /// In the order in which they are measured, behind the one that fills the store.
    static let all: [BenchWorkload] = [
        BenchWorkload(name: "flush", isShared: false, makeCall: flush),
        BenchWorkload(name: "save", isShared: false, makeCall: save),
        BenchWorkload(name: "save", isShared: true, makeCall: save),
        BenchWorkload(name: "fetch by index", isShared: false, makeCall: fetchByIndex),
        BenchWorkload(name: "fetch by index", isShared: true, makeCall: fetchByIndex),
        BenchWorkload(name: "scan", isShared: false, makeCall: scan),
        BenchWorkload(name: "count", isShared: false, makeCall: count),
        BenchWorkload(name: "nine fetches, a save", isShared: true, makeCall: mixed),
    ]

    /// Saves objects by the thousand until there are so many.
    static func fill(_ rows: Int) -> BenchWorkload {
        BenchWorkload(name: "save of \(batch)", isShared: false) { store, _ in
            let context = store.context()
            return {
                let count = min(batch, rows - store.count)
                guard count > 0 else { return nil }
                return try context.performAndWait {
                    store.insert(count, context)
                    try context.save()
                    context.reset()
                    return count
                }
            }
        }
    }

    // MARK: Calls

    /// What the disk takes for 4 KiB that are to be durable, without any store.
    private static func flush(_ store: BenchStore, _ client: Int) throws -> BenchClients.Call {
        let path = FilePath(store.directory.appendingPathComponent("flush-\(client)").path)
        let file = try PosixFileSystem().open(path, .createIfMissing)
        let bytes = [UInt8](repeating: 7, count: 4_096)
        var end: Int64 = 0
        // A file that does not grow: to write down its length takes a flush longer, and a store has no need to.
        let pages = [UInt8](repeating: 0, count: flushedBytes)
        try pages.withUnsafeBytes { try file.writeAll([$0], at: 0) }
        try file.syncData()
        return {
            try bytes.withUnsafeBytes { try file.writeAll([$0], at: end) }
            try file.syncData()
            end = (end + 4_096) % Int64(flushedBytes)
            return 0
        }
    }

    private static func save(_ store: BenchStore, _: Int) -> BenchClients.Call {
        let context = store.context()
        return {
            try context.performAndWait {
                store.insert(1, context)
                try context.save()
                context.reset()
                return 1
            }
        }
    }

    private static func fetchByIndex(_ store: BenchStore, _: Int) -> BenchClients.Call {
        let context = store.context()
        return {
            try context.performAndWait {
                _ = try item(Int.random(in: 0..<store.rows), context).value(forKey: "name")
                context.reset()
                return 1
            }
        }
    }

    private static func item(_ key: Int, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: BenchStore.entity)
        request.predicate = NSPredicate(format: "key == %@", NSNumber(value: key))
        let found = try context.fetch(request)
        guard let item = found.first, found.count == 1 else {
            throw CommandError("a fetch by index found \(found.count) objects with the key \(key), and not one")
        }
        return item
    }

    /// All texts are looked at, for one object in a thousand.
    private static func scan(_ store: BenchStore, _: Int) -> BenchClients.Call {
        let context = store.context()
        return {
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: BenchStore.entity)
                request.predicate = NSPredicate(
                    format: "text CONTAINS %@", "is number \(Int.random(in: 0..<min(997, store.rows))) of")
                let found = try context.fetch(request)
                guard !found.isEmpty else { throw CommandError("a scan found nothing, and something is there") }
                context.reset()
                return store.count
            }
        }
    }

    private static func count(_ store: BenchStore, _: Int) -> BenchClients.Call {
        let context = store.context()
        return {
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: BenchStore.entity)
                request.predicate = NSPredicate(format: "amount < %@", NSNumber(value: Int.random(in: 1...1_000)))
                guard try context.count(for: request) > 0 else {
                    throw CommandError("a count found nothing, and something is there")
                }
                return store.count
            }
        }
    }

    private static func mixed(_ store: BenchStore, _ client: Int) -> BenchClients.Call {
        let context = store.context()
        var number = client
        return {
            number += 1
            let writes = number % 10 == 0
            return try context.performAndWait {
                let item = try item(Int.random(in: 0..<store.rows), context)
                if writes {
                    item.setValue(Double.random(in: 0..<1_000), forKey: "amount")
                    try context.save()
                } else {
                    _ = item.value(forKey: "name")
                }
                context.reset()
                return 1
            }
        }
    }
}

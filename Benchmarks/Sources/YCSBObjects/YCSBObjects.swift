public import BenchSupport
import Foundation
import Strata
import Synchronization
public import YCSBLoad

/// The records as managed objects: one container, a background context for each request, fetched by key.
public final class YCSBObjects: YCSBStore, YCSBClient {
    private let container: NSPersistentContainer

    /// - Parameters:
    ///   - folder: where the store lies; it is made when it is not there.
    ///   - flushes: whether a save waits for the disk; only filling does without.
    public init(in folder: Folder, flushes: Bool) throws {
        let store = NSPersistentStoreDescription(
            url: URL(fileURLWithPath: folder.appending("users.strata").path))
        if !flushes { store.setOption(NSString("os"), forKey: StrataDurabilityOption) }
        container = NSPersistentContainer(name: "Users", managedObjectModel: YCSBModel.shared)
        container.persistentStoreDescriptions = [store]
        let failure = Mutex<(any Error)?>(nil)
        container.loadPersistentStores { _, error in failure.withLock { $0 = error } }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    public func fill(_ count: Int) throws {
        try inContext { context in
            for batch in Workload.batches(count, of: 1_000) {
                for number in batch { Self.insert(YCSB.key(number), YCSB.values(number), in: context) }
                try context.save()
                context.reset()
            }
        }
    }

    /// Contexts are made for each request: all clients share this.
    public func makeClient() throws -> any YCSBClient { self }

    public func recordCount() throws -> Int {
        try inContext { try $0.count(for: NSFetchRequest<YCSBUser>(entityName: "User")) }
    }

    public func close() throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    // MARK: Requests

    public func read(_ key: String) throws -> UInt64? {
        try inContext { try Self.user(key, in: $0)?.digest }
    }

    public func update(_ key: String, field: Int, to value: String) throws {
        try inContext { context in
            guard let user = try Self.user(key, in: context) else { throw BenchFailure("record \(key) is missing") }
            user[field: field] = value
            try context.save()
        }
    }

    public func insert(_ key: String, _ values: [String]) throws {
        try inContext { context in
            Self.insert(key, values, in: context)
            try context.save()
        }
    }

    public func scan(from key: String, count: Int) throws -> UInt64 {
        try inContext { context in
            let request = NSFetchRequest<YCSBUser>(entityName: "User")
            request.predicate = NSPredicate(format: "key >= %@", key)
            request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
            request.fetchLimit = count
            return try context.fetch(request).reduce(0) { $0 &+ $1.digest }
        }
    }

    public func readModifyWrite(_ key: String, field: Int, to value: String) throws -> UInt64 {
        try inContext { context in
            guard let user = try Self.user(key, in: context) else { throw BenchFailure("record \(key) is missing") }
            let digest = user.digest
            user[field: field] = value
            try context.save()
            return digest
        }
    }

    private func inContext<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            // Two clients may change the same record: the later one wins.
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            return try body(context)
        }
    }

    private static func user(_ key: String, in context: NSManagedObjectContext) throws -> YCSBUser? {
        let request = NSFetchRequest<YCSBUser>(entityName: "User")
        request.predicate = NSPredicate(format: "key == %@", key)
        request.fetchLimit = 1
        return try context.fetch(request).first
    }

    private static func insert(_ key: String, _ values: [String], in context: NSManagedObjectContext) {
        let user = YCSBUser(context: context)
        user.key = key
        for (index, value) in values.enumerated() { user[field: index] = value }
    }
}

extension YCSBUser {
    /// The sum over all fields, each read through its accessor.
    fileprivate var digest: UInt64 {
        (0..<YCSB.fieldCount).reduce(fieldDigest(key)) { $0 &+ fieldDigest(self[field: $1]) }
    }
}

internal import Foundation
public import Strata
public import StrataIO
package import StrataLog
public import StrataObjectStore
internal import Synchronization
public import SystemPackage

/// Follows a store on another machine through the bucket that it is shipped to: a store that is read as any other
/// read-only one, and sees each transaction once it is in the bucket.
///
/// ```swift
/// let follower = try await BucketFollower.start(from: bucket, cache: "/var/cache/library")
/// container.persistentStoreDescriptions = [follower.storeDescription()]
/// ```
///
/// Contexts, fetches, history, generations and notifications of remote changes work as for a store that another process
/// of the same machine writes. What is read for the first time is fetched, a megabyte at a time, and kept in the cache,
/// which survives restarts. Without the bucket, what is cached stays readable, and ``status`` says how old it is.
///
/// One follower needs one cache directory of its own. May be used from any task.
public final class BucketFollower: Sendable {
    let log: FollowedLog
    private let fileSystem: BucketFileSystem
    private let options: FollowOptions
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// Reads what the bucket has, and begins to follow it.
    ///
    /// Where the bucket cannot be reached and the cache knows the log, the follower begins with that.
    ///
    /// - Parameters:
    ///   - cache: A directory for the cache. It is made if it is missing, which the one above it must not be.
    ///   - cacheFileSystem: The file system that it lies in.
    /// - Throws: ``ShipError`` `.missing` if no log is in the bucket, `.damaged`, `.unsupportedFormat`, `.key`,
    ///   `.store`; `.local` if the cache cannot be used.
    public static func start(
        from objects: any ObjectStore, cache: FilePath, in cacheFileSystem: any FileSystem = PosixFileSystem(),
        options: FollowOptions = FollowOptions()
    ) async throws(ShipError) -> BucketFollower {
        let chunks = try ChunkCache(cache, in: cacheFileSystem, budgetBytes: options.cacheMaximumBytes)
        let cached = chunks.catalog()
        let bucket = ShipBucket(objects, options.cipher)
        let log: FollowedLog
        do throws(ShipError) {
            guard let catalog = try await FollowedLog.catalog(bucket) else { throw EpochLead.noLog(bucket) }
            if cached?.isContinued(by: catalog) != true { chunks.clear() }
            log = FollowedLog(bucket, chunks, catalog, options, isContacted: true)
        } catch {
            guard error.mayPass, let cached, cached.bucket == bucket.description else { throw error }
            log = FollowedLog(bucket, chunks, cached, options, isContacted: false)
            log.note(error)
        }
        guard log.catalog.end != nil else {
            throw ShipError(.notRestorable, "nothing of the log is in \(objects.description) yet")
        }
        return BucketFollower(log, options)
    }

    private init(_ log: FollowedLog, _ options: FollowOptions) {
        self.log = log
        self.options = options
        fileSystem = BucketFileSystem(log, at: Self.path(log.objects.description))
        let polling = Task.detached(executorPreference: BucketRequestExecutor.shared) {
            var poller = LogPoller(log, options)
            await poller.run()
        }
        tasks.withLock { $0 = [polling] }
        guard options.fetchesAhead else { return }
        let fetching = Task.detached(executorPreference: BucketRequestExecutor.shared) {
            while !Task.isCancelled {
                await log.fetchAhead()
                try? await Task.sleep(for: options.longestPoll)
            }
        }
        tasks.withLock { $0.append(fetching) }
    }

    deinit {
        for task in tasks.withLock({ $0 }) { task.cancel() }
    }

    /// Stops following, and writes to the cache what is only in memory. The store stays readable as far as it has come.
    public func stop() async {
        let running = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        for task in running {
            task.cancel()
            await task.value
        }
        log.write()
    }

    /// How far it has come, and how old that is at most. O(chunks).
    public var status: FollowStatus { log.status }

    /// Describes the store, for a container or a coordinator: read-only, and named after the bucket.
    ///
    /// - Parameter notifies: Whether the coordinator posts `NSPersistentStoreRemoteChange` when something new has come.
    public func storeDescription(notifies: Bool = true) -> NSPersistentStoreDescription {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: fileSystem.path.string))
        description.type = NSSQLiteStoreType
        description.isReadOnly = true
        description.setOption(StoreHostOption(StoreHost(fileSystem: fileSystem)), forKey: StoreHost.option)
        if notifies {
            description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        }
        return description
    }

    /// The store for the engine, without contexts.
    ///
    /// - Throws: ``StoreError`` as `LogStore.open` for a store that is read.
    package func openLog(_ change: (inout LogOptions) -> Void = { _ in }) throws(StoreError) -> LogStore {
        var options = LogOptions()
        options.access = .readOnly
        options.createsIfMissing = false
        change(&options)
        return try LogStore.open(fileSystem.path, in: fileSystem, options: options, schema: nil)
    }

    /// `s3://bucket/prefix/` as a path: `/s3/bucket/prefix`.
    private static func path(_ bucket: String) -> FilePath {
        let parts = bucket.split(whereSeparator: { $0 == "/" || $0 == ":" }).filter { $0 != "." && $0 != ".." }
        return FilePath("/" + (parts.isEmpty ? "bucket" : parts.joined(separator: "/")))
    }
}

import Foundation
import HTTPTypes
import Strata
import StrataBrowsing
import StrataIO
import StrataLog
import Synchronization
import SystemPackage

/// A store that is looked at: open for reading beside its writer, now and at points of the past.
package final class Inspector: Sendable {
    let url: URL
    let newest: Session
    let log: LogStore
    let sizes: SizeSurvey
    let counts = CountCache()
    /// Reading blocks, which tasks must not.
    private let work: OperationQueue
    private let past = Mutex(PastSessions())

    /// Opens the store.
    ///
    /// - Throws: what opening it throws.
    package init(_ url: URL) throws {
        self.url = url
        newest = try Session(url, nil)
        var options = LogOptions()
        options.access = .readOnly
        options.createsIfMissing = false
        log = try LogStore.open(FilePath(url.path), in: PosixFileSystem(), options: options, schema: nil)
        sizes = SizeSurvey(log, try StoreReader(url).layouts)
        work = OperationQueue()
        work.maxConcurrentOperationCount = Limits.concurrentReads
    }

    /// Runs what reads the store.
    ///
    /// - Throws: ``InspectError`` when too many wait already; what the block throws.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard work.operationCount < Limits.waitingReads else {
            throw InspectError(.serviceUnavailable, "the server is busy: try again")
        }
        return try await withCheckedThrowingContinuation { continuation in
            work.addOperation { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Reads with a context of the store, as it is now or was at a point, from one state throughout.
    func read<Value>(at point: Point?, _ body: (Session, NSManagedObjectContext) throws -> Value) throws -> Value {
        let session = try session(at: point)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = session.coordinator
        context.undoManager = nil
        return try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            return try context.throwingReadFailures { try body(session, context) }
        }
    }

    /// The store as it was at a point; as it is now for nil.
    func session(at point: Point?) throws -> Session {
        guard let point else { return newest }
        let key = "\(point)"
        if let known = past.withLock({ $0.find(key) }) { return known }
        let opened = try Session(newest, at: point)
        past.withLock { $0.add(opened, key) }
        return opened
    }

    /// The number of the newest transaction.
    func newestTransaction() -> Int64 { newest.newestTransaction() }
}

/// The points of the past that were looked at last.
private struct PastSessions {
    private var sessions: [(key: String, session: Session)] = []

    mutating func find(_ key: String) -> Session? {
        guard let index = sessions.firstIndex(where: { $0.key == key }) else { return nil }
        let found = sessions.remove(at: index)
        sessions.append(found)
        return found.session
    }

    mutating func add(_ session: Session, _ key: String) {
        sessions.append((key, session))
        if sessions.count > Limits.pastPoints { sessions.removeFirst() }
    }
}

/// How many objects satisfy a predicate, by what was asked.
final class CountCache: Sendable {
    private static let maximum = 256
    private let counts = Mutex<[String: Int]>([:])

    /// - Returns: nil when counting took longer than a moment.
    func count(_ key: String, _ body: () throws -> Int) throws -> Int? {
        if let known = counts.withLock({ $0[key] }) { return known }
        do {
            let count = try body()
            counts.withLock {
                if $0.count >= Self.maximum { $0.removeAll() }
                $0[key] = count
            }
            return count
        } catch let error as CocoaError where error.code.rawValue == NSPersistentStoreTimeoutError {
            return nil
        }
    }
}

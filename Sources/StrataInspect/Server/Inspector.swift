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
    private let past = PastPoints<Session>(kept: Limits.pastPoints, running: Limits.pastReads)

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
        return try past.value("\(point)", in: .seconds(Limits.seconds)) { [newest] in
            try Session(newest, at: point)
        }
    }

    /// The number of the newest transaction.
    func newestTransaction() -> Int64 { newest.newestTransaction() }
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

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
    private let work = OperationQueue()
    /// Live pages go on while others read.
    private let liveWork = OperationQueue()
    /// By the numbers of transactions: a time may mean another one later.
    private let past = PastPoints<Int64, Session>(kept: Limits.pastPoints, running: Limits.pastReads)
    private let times = PastPoints<Date, Int64>(kept: 0, running: Limits.timeSearches)
    private let spans = PastPoints<TransactionSpan, ObjectDifferences>(
        kept: Limits.pastPoints, running: Limits.pastReads)
    private let maps = PastPoints<Int, SegmentMap>(kept: 0, running: 1)
    let changePlaces = ChangePlaces()
    private let openPast: @Sendable (Session, Int64) throws -> Session

    /// Opens the store.
    ///
    /// - Parameter openPast: opens the store of a session as it was after a transaction.
    /// - Throws: what opening it throws.
    package init(
        _ url: URL,
        openPast: @escaping @Sendable (Session, Int64) throws -> Session = { try Session($0, atTransaction: $1) }
    ) throws {
        self.url = url
        self.openPast = openPast
        newest = try Session(url, nil)
        var options = LogOptions()
        options.access = .readOnly
        options.createsIfMissing = false
        log = try LogStore.open(FilePath(url.path), in: PosixFileSystem(), options: options, schema: nil)
        sizes = SizeSurvey(log, try StoreReader(url).layouts)
        work.maxConcurrentOperationCount = Limits.concurrentReads
        liveWork.maxConcurrentOperationCount = Limits.concurrentLiveReads
    }

    /// Runs what reads the store.
    ///
    /// - Throws: ``InspectError`` when too many wait already; what the block throws.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard work.operationCount < Limits.waitingReads else {
            throw InspectError(.serviceUnavailable, "the server is busy: try again")
        }
        return try await Self.run(body, in: work)
    }

    /// Runs what a live page asks of the store, of which there are not many.
    ///
    /// - Throws: what the block throws.
    func runLive<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await Self.run(body, in: liveWork)
    }

    private static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value, in queue: OperationQueue
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.addOperation { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Reads with a context of a session, from one state throughout.
    func read<Value>(_ session: Session, _ body: (NSManagedObjectContext) throws -> Value) throws -> Value {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = session.coordinator
        context.undoManager = nil
        return try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            return try context.throwingReadFailures { try body(context) }
        }
    }

    /// The store as it was at a point; as it is now for nil. Waits without holding up those who read.
    ///
    /// - Throws: ``InspectError`` when that takes longer than the request may, or the time has not come yet; what
    ///   reading the past throws.
    func session(at point: Point?, _ deadline: Deadline) async throws -> Session {
        guard let point else { return newest }
        let number = try await transaction(at: point, deadline)
        return try await past.value(number, in: deadline.left) { [newest, openPast] in try openPast(newest, number) }
    }

    /// What differs between two points; nil without a first one. Waits and throws as ``session(at:_:)``.
    func changes(from: Point?, to: Point?, _ deadline: Deadline) async throws -> Changes? {
        guard let from else { return nil }
        let first = try await transaction(at: from, deadline)
        let last: Int64
        if let to {
            last = try await transaction(at: to, deadline)
        } else {
            last = try await run { [newest] in newest.newestTransaction() }
        }
        let span = TransactionSpan(from: first, to: last)
        let differences = try await spans.value(span, in: deadline.left) { [newest] in
            // What another process has written since counts, too.
            _ = newest.newestTransaction()
            let coordinator = newest.coordinator
            return try coordinator.diff(
                from: coordinator.queryGeneration(atTransaction: span.from),
                to: coordinator.queryGeneration(atTransaction: span.to))
        }
        return Changes(span: span, differences: differences)
    }

    /// What the segments hold. Waits and throws as ``session(at:_:)``: each is read whole once.
    func segmentMap(_ deadline: Deadline) async throws -> SegmentMap {
        try await maps.value(0, in: deadline.left) { [log] in try SegmentMap(log) }
    }

    /// The number of the last transaction that is seen at a point. Throws as ``session(at:_:)``.
    private func transaction(at point: Point, _ deadline: Deadline) async throws -> Int64 {
        switch point {
        case .transaction(let number): return number
        case .time(let date):
            // What it will have been like then is not known.
            guard date <= Date() else {
                throw InspectError(.badRequest, "the time \(Point.text(date)) has not come yet")
            }
            return try await times.value(date, in: deadline.left) { [newest] in try newest.transaction(at: date) }
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

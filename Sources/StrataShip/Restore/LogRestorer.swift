internal import Dispatch
public import StrataIO
public import StrataLog
public import StrataObjectStore
internal import StrataSupport
internal import Synchronization
public import SystemPackage

/// Makes a store of what was shipped into a bucket: as it was after any transaction that the bucket keeps.
///
/// ```swift
/// let restorer = try LogRestorer(from: DirectoryObjectStore("/backup/library"))
/// let plan = try await restorer.restore(to: "/data/library")
/// ```
public struct LogRestorer: Sendable {
    private let objects: ShipBucket

    /// A restorer of the log in a bucket.
    ///
    /// - Parameter cipher: What it is encrypted with; nil if it is not.
    public init(from objects: any ObjectStore, cipher: (any ObjectCipher)? = nil) {
        self.objects = ShipBucket(objects, cipher)
    }

    private func find(_ target: RestoreTarget) async throws(ShipError) -> RestorePoint {
        guard let log = try await ShippedLog.read(objects) else { throw EpochLead.noLog(objects) }
        var finder = RestorePointFinder(log, objects)
        return try await finder.find(target)
    }

    /// What restoring a state takes, and which one it is. Changes nothing.
    ///
    /// - Throws: ``ShipError`` `.notRestorable` if there is no such state, `.missing`, `.damaged`, `.store`.
    public func plan(_ target: RestoreTarget = .newest) async throws(ShipError) -> RestorePlan {
        try await find(target).plan
    }

    /// Restores a store at a path where nothing is. It is made beside it, checked, and renamed: durable when this
    /// returns, and not there if it throws. The other shipper is stopped when the store has been made and checked;
    /// then what that one has shipped meanwhile is fetched. An error behind that says so. Until then, cancelling the
    /// task ends the restore and changes nothing.
    ///
    /// - Parameters:
    ///   - path: Of the store's directory, which must not exist; the directory that it lies in must.
    ///   - finishing: Called with the store, open for writing, and where it is, before it gets its place.
    /// - Returns: What was done.
    /// - Throws: ``ShipError`` `.exists` if there is something at the path; `.notRestorable`; `.damaged`; `.local` for
    ///   what this machine refuses, a full disk for example; what `finishing` throws.
    public func restore(
        to path: FilePath, in fileSystem: any FileSystem = PosixFileSystem(),
        options: RestoreOptions = RestoreOptions(),
        finishing: @escaping @Sendable (LogStore, FilePath) throws -> Void = { _, _ in }
    ) async throws -> RestorePlan {
        try checkNothing(at: path, fileSystem)
        let work = RestoreWork(objects, fileSystem, options)
        return try await withTaskCancellationHandler {
            try await run(work, path, fileSystem, finishing)
        } onCancel: {
            work.cancel()
        }
    }

    private func run(
        _ work: RestoreWork, _ path: FilePath, _ fileSystem: any FileSystem,
        _ finishing: @escaping @Sendable (LogStore, FilePath) throws -> Void
    ) async throws -> RestorePlan {
        try await withCheckedThrowingContinuation { continuation in
            // Making a store's directory is one call that blocks, and holds a lock.
            let isStarted = PoolThread.start("strata-restore") {
                do {
                    try StoreDirectory(path, fileSystem).replace { copy in
                        try work.make(copy, finishing)
                        try self.checkNothing(at: path, fileSystem)
                        try work.writeSlot(besideStoreAt: path)
                    }
                    guard let plan = work.plan else {
                        throw ShipError(.invalid, "nothing was restored")
                    }
                    continuation.resume(returning: plan)
                } catch let error as StoreError {
                    continuation.resume(throwing: work.explained(ShipError(error)))
                } catch let error as ShipError {
                    continuation.resume(throwing: work.explained(error))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            if !isStarted { continuation.resume(throwing: ShipError(.invalid, "no thread can be started")) }
        }
    }

    private func checkNothing(at path: FilePath, _ fileSystem: any FileSystem) throws(ShipError) {
        let found: FileAttributes?
        do throws(Errno) {
            found = try fileSystem.linkAttributes(path)
        } catch {
            throw ShipError(.local, "could not look for \(path): \(error)")
        }
        guard found == nil else {
            throw ShipError(
                .exists,
                "there is something at \(path) already, and a restore takes the place of nothing: restore to another "
                    + "path, or move it away")
        }
    }
}

/// One restore. Used by one thread, which waits for the requests.
private final class RestoreWork: Sendable {
    private let objects: ShipBucket
    private let fileSystem: any FileSystem
    private let options: RestoreOptions
    private struct State {
        var plan: RestorePlan?
        /// Segments that are there, and how long.
        var done: [UInt32: Int] = [:]
        var checkpoint: UInt32?
        var arrived: Int64 = 0
        var place: ShipHead.Place?
        var storeUUID: StoreUUID?
        var isCancelled = false
        /// Whether the other shipper has been stopped, or is about to be: from here on it is worse to give up.
        var isFencing = false
        /// Cancels what is being waited for.
        var cancel: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    /// What the store's shippers go by.
    private let line = EpochLead.randomName()

    init(_ objects: ShipBucket, _ fileSystem: any FileSystem, _ options: RestoreOptions) {
        self.objects = objects
        self.fileSystem = fileSystem
        self.options = options
    }

    var plan: RestorePlan? { state.withLock { $0.plan } }

    // MARK: Giving up

    /// Ends the restore, if nobody else has been stopped for it.
    func cancel() {
        let cancel = state.withLock { state -> (@Sendable () -> Void)? in
            state.isCancelled = true
            return state.isFencing ? nil : state.cancel
        }
        cancel?()
    }

    private func checkCancellation() throws(ShipError) {
        if state.withLock({ $0.isCancelled && !$0.isFencing }) { throw ShipError(ObjectStoreError.cancelled) }
    }

    private func beginFencing() throws(ShipError) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.isFencing = true }
            return !state.isFencing
        }
        if isCancelled { throw ShipError(ObjectStoreError.cancelled) }
    }

    /// An error with what it means for the other shipper.
    func explained(_ error: ShipError) -> ShipError {
        guard state.withLock({ $0.isFencing }) else { return error }
        return error.adding(
            ". The shipper before this one has been fenced for this, or may have been: it stops with its next piece, "
                + "and its store refuses saves then. Take over again; or, if the other store is to go on after all, "
                + "open it anew and start its shipper again")
    }

    /// Waits for something asynchronous, on a thread that tasks do not run on.
    private func wait<Result: Sendable>(
        _ body: @escaping @Sendable () async throws(ShipError) -> Result
    ) throws(ShipError) -> Result {
        let done = DispatchSemaphore(value: 0)
        let box = Mutex<Swift.Result<Result, ShipError>?>(nil)
        let reference = Reference(box)
        try checkCancellation()
        let task = Task.detached {
            let result: Swift.Result<Result, ShipError>
            do throws(ShipError) {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            reference.box.withLock { $0 = result }
            done.signal()
        }
        let isCancelled = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isCancelled && !state.isFencing
        }
        if isCancelled { task.cancel() }
        done.wait()
        state.withLock { $0.cancel = nil }
        guard let result = reference.box.withLock({ $0 }) else { throw ShipError(.invalid, "nothing came back") }
        return try result.get()
    }

    private final class Reference<Result: Sendable>: Sendable {
        let box: Mutex<Swift.Result<Result, ShipError>?>

        init(_ box: consuming sending Mutex<Swift.Result<Result, ShipError>?>) {
            self.box = box
        }
    }

    func make(_ copy: FilePath, _ finishing: (LogStore, FilePath) throws -> Void) throws {
        let files: RestoredFiles
        do throws(Errno) {
            try fileSystem.createDirectory(copy)
            files = RestoredFiles(directory: try fileSystem.openDirectory(copy), path: copy)
        } catch {
            throw ShipError(.local, "could not create \(copy): \(error)")
        }
        let objects = objects
        let options = options
        var isChecked = false
        var point = try wait { () async throws(ShipError) in
            guard let log = try await ShippedLog.read(objects) else { throw EpochLead.noLog(objects) }
            var finder = RestorePointFinder(log, objects)
            return try await finder.find(options.target)
        }
        try fetch(point, files)
        if options.takesOver {
            // Whatever can fail is to fail before the other shipper is stopped.
            try check(point, copy) { _, _ in }
            let checked = point.place
            var ship = ShipOptions()
            ship.onlyWriter = options.onlyWriter
            let shipOptions = ship
            let line = line
            // What the other shipper has written until it was fenced is in the store, too.
            point = try wait { () async throws(ShipError) in
                try await EpochLead.take(
                    line: line, objects, shipOptions,
                    beforeFence: { () throws(ShipError) in try self.beginFencing() },
                    find: { log async throws(ShipError) in
                        var finder = RestorePointFinder(log, objects)
                        return try await finder.find(options.target)
                    })
            }
            try fetch(point, files)
            isChecked = point.place == checked
        }
        state.withLock { $0.plan = point.plan }
        try check(point, copy, verifies: !isChecked, finishing)
    }

    /// Fetches what is not there yet, and removes what is not needed any more.
    private func fetch(_ point: RestorePoint, _ files: RestoredFiles) throws {
        let done = state.withLock { $0.done }
        let needed = Set(point.pieces.map(\.segment.number))
        for segment in done.keys where !needed.contains(segment) {
            try files.remove(LogStore.segmentFileName(segment))
            state.withLock { $0.done[segment] = nil }
        }
        let missing = point.pieces.filter { done[$0.segment.number] != $0.byteCount }
        let (objects, options) = (objects, options)
        let total = point.plan.bytes
        let note = { @Sendable (bytes: Int64) in
            let arrived = self.state.withLock { state in
                state.arrived += bytes
                return state.arrived
            }
            options.progress(min(arrived, total), total)
        }
        try wait { () async throws(ShipError) in
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    var next = 0
                    func add() {
                        guard next < missing.count else { return }
                        let piece = missing[next]
                        next += 1
                        let isLast = piece == point.pieces.last
                        group.addTask {
                            let bytes: [UInt8]
                            if isLast {
                                bytes = point.last
                                note(
                                    piece.segment.parts.reduce(0) { $0 + Int64(objects.objectByteCount($1.byteCount)) })
                            } else {
                                bytes = try await RestorePointFinder.bytes(
                                    piece.segment, upTo: piece.byteCount, objects, note)
                            }
                            guard bytes.count == piece.byteCount else {
                                throw ShipError(
                                    .damaged,
                                    "segment \(piece.segment.number) has \(bytes.count) bytes and should have "
                                        + "\(piece.byteCount)")
                            }
                            try files.write(bytes, LogStore.segmentFileName(piece.segment.number))
                        }
                    }
                    for _ in 0..<min(max(options.concurrency, 1), 64) { add() }
                    while try await group.next() != nil { add() }
                }
            } catch let error as ShipError {
                throw error
            } catch {
                throw ShipError(.cancelled, "\(error)")
            }
        }
        state.withLock { state in
            for piece in missing { state.done[piece.segment.number] = piece.byteCount }
        }
        guard let checkpoint = point.checkpoint, state.withLock({ $0.checkpoint }) != checkpoint.number else { return }
        if let before = state.withLock({ $0.checkpoint }) { try files.remove(Self.name(before)) }
        let payload = try wait { () async throws(ShipError) in
            // One that is gone only makes the store open more slowly.
            do throws(ShipError) {
                return try await ShippedLog.object(checkpoint.key, objects)?.payload
            } catch {
                guard error.code == .damaged else { throw error }
                return nil
            }
        }
        guard let payload else { return }
        try files.write(payload, Self.name(checkpoint.number))
        state.withLock { $0.checkpoint = checkpoint.number }
        note(checkpoint.byteCount)
    }

    private static func name(_ checkpoint: UInt32) -> String { ShipKey.hex(checkpoint) + ".chk" }

    /// Whether a shipper of the store at a path goes on in the bucket, or does not. Called when the store is complete.
    func writeSlot(besideStoreAt path: FilePath) throws {
        let resolved: FilePath
        do throws(Errno) {
            let name = path.lastComponent?.string ?? ""
            resolved = try fileSystem.resolve(path.removingLastComponent().isEmpty ? "." : path.removingLastComponent())
                .appending(name)
        } catch {
            throw ShipError(.local, "could not look for \(path): \(error)")
        }
        // Those of a store that was here before say nothing of this one.
        try ShipSlot.remove(besideStoreAt: resolved, in: fileSystem)
        guard options.takesOver, let place = state.withLock({ $0.place }), let uuid = state.withLock({ $0.storeUUID })
        else { return }
        let slot = ShipSlot(
            storeUUID: uuid, line: line, segment: place.segment, maximumBytes: ShipOptions().slotMaximumBytes,
            bucket: objects.identity, hasShipped: true)
        try slot.write(besideStoreAt: resolved, in: fileSystem)
    }

    /// Opens the store, which has to be in the state that was asked for.
    ///
    /// - Parameter verifies: false if that has been done of this very state.
    private func check(
        _ point: RestorePoint, _ copy: FilePath, verifies: Bool = true,
        _ finishing: (LogStore, FilePath) throws -> Void
    ) throws {
        var options = LogOptions()
        options.createsIfMissing = false
        options.checkpointsInBackground = false
        options.compaction.isAutomatic = false
        options.compaction.mergesFreshRows = false
        let log = try LogStore.open(copy, in: fileSystem, options: options, schema: nil)
        do {
            guard log.snapshot.sequence == point.place.sequence, log.logEnd == point.place.position else {
                throw ShipError(
                    .damaged,
                    "what was restored ends with transaction \(log.snapshot.sequence), and should end with "
                        + "\(point.place.sequence)")
            }
            if self.options.verifies, verifies {
                let report = try log.verify()
                if let damage = report.problems.first {
                    throw ShipError(.damaged, "what was restored is damaged: \(damage)")
                }
            }
            state.withLock { state in
                state.place = point.place
                state.storeUUID = log.storeUUID
            }
            try finishing(log, copy)
        } catch {
            try? log.close()
            throw error
        }
        try log.close()
    }
}

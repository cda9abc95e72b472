internal import Dispatch
internal import Synchronization

/// One block on its way from rows in memory to bytes in the log.
final class EncodingJob: @unchecked Sendable {
    // Unchecked: `pending` and `encoded` are touched only by whoever took the job from the pool, and read by the
    // transaction's thread after `EncodingPool.finish()`, which orders the two.
    let role: TransactionBody.BlockRole
    let entity: UInt16
    var pending: PendingBlock?
    private var encoded: EncodedBlock?
    /// Whether ``rows`` stay when they are encoded.
    private let keepsRows: Bool
    /// Rows that replace others, which were read to that end: they enter the cache when they are committed, since they
    /// will be read as those were.
    private(set) var rows: PendingBlock?
    /// Primary keys of the rows, in row order.
    private(set) var keys: [UInt64] = []
    private let locationBits = Atomic<UInt64>(0)
    /// Where the block was before a failed flush moved it.
    private(set) var replacedLocation = Location.absent

    /// Where the block was placed; set by the commit, and again when a failed flush makes the log go on elsewhere,
    /// possibly on another thread.
    var location: Location { Location(rawValue: locationBits.load(ordering: .acquiring)) }

    init(role: TransactionBody.BlockRole, entity: UInt16, keepsRows: Bool = false) {
        self.keepsRows = keepsRows
        self.role = role
        self.entity = entity
    }

    func run() {
        guard let rows = pending else { return }
        keys = (0..<rows.rowCount).map { rows.key($0) }
        encoded = rows.encode()
        pending = nil
        if keepsRows, !rows.rows.memory.hasExternals { self.rows = rows }
    }

    /// The encoded block; empty before the job has run.
    var bytes: [UInt8] { encoded?.bytes ?? [] }

    /// The checksum that ``stamp(at:largeValue:)`` put into the block's header.
    var headerChecksum: UInt32 {
        bytes.withUnsafeBytes { BlockHeader.storedChecksum($0) }
    }

    /// Ties the block to its place and fills in where the large values of its transaction lie.
    func stamp(at address: LogAddress, largeValue: (UInt32) -> ExternalValue) {
        encoded?.patchExternals(largeValue)
        encoded?.stamp(at: address)
        replacedLocation = location
        let location = Location(segment: address.segment, byteOffset: address.offset, row: 0)
        locationBits.store(location.rawValue, ordering: .releasing)
    }
}

/// Encodes a transaction's blocks on another core while rows are still being appended.
///
/// Compression is most of the work of a large save (LZ4 takes about 1.6 ns a byte here), so the thread that fills
/// rows hands each full block on at once and helps with what is left when it is done.
final class EncodingPool: Sendable {
    private struct State {
        var waiting: [EncodingJob] = []
        var workers = 0
        /// Jobs that some thread is encoding now.
        var running = 0
        /// The transaction's thread waits until none is running.
        var isFinishing = false
    }

    /// One helper: the committing thread is the other half of a two-core machine, and other writers have helpers of
    /// their own.
    private static let maximumWorkers = 1

    private let state = Mutex(State())
    private let allDone = DispatchSemaphore(value: 0)

    func submit(_ job: EncodingJob) {
        let startsWorker = state.withLock { state in
            state.waiting.append(job)
            guard state.workers < Self.maximumWorkers else { return false }
            state.workers += 1
            return true
        }
        if startsWorker {
            HelperPool.shared.async { [self] in work() }
        }
    }

    private func work() {
        while let job = next(retiringWorker: true) {
            job.run()
            let isLast = state.withLock { state in
                state.running -= 1
                return state.isFinishing && state.running == 0
            }
            if isLast { allDone.signal() }
        }
    }

    private func next(retiringWorker: Bool) -> EncodingJob? {
        state.withLock { state in
            if let job = state.waiting.popLast() {
                // The transaction's own thread need not wait for what it does itself.
                if retiringWorker { state.running += 1 }
                return job
            }
            if retiringWorker { state.workers -= 1 }
            return nil
        }
    }

    /// Encodes what nobody has taken yet and waits for the rest. Everything submitted is encoded when this returns.
    ///
    /// Waits only for jobs that are running, never for a helper that has not started: the helpers may be busy with what
    /// others submitted.
    func finish() {
        while let job = next(retiringWorker: false) { job.run() }
        let mustWait = state.withLock { state in
            state.isFinishing = state.running > 0
            return state.isFinishing
        }
        if mustWait {
            allDone.wait()
            state.withLock { $0.isFinishing = false }
        }
    }
}

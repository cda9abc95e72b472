internal import Dispatch
internal import Synchronization

/// One block on its way from rows in memory to bytes in the log.
final class EncodingJob: @unchecked Sendable {
    // Unchecked: `pending` and `encoded` are touched only by whoever took the job from the pool, and read by the
    // transaction's thread after `EncodingPool.finish()`, which orders the two.
    let role: TransactionBody.BlockRole
    let entity: UInt16
    @exclusivity(unchecked) var pending: PendingBlock?
    @exclusivity(unchecked) private var encoded: EncodedBlock?
    /// Whether the rows enter the cache when they are committed: they replace others, which were read to that end, and
    /// will be read as those were.
    private let keepsRows: Bool
    /// Rows to be kept of which the encoded block is not as quickly read.
    @exclusivity(unchecked) private var rows: PendingBlock?
    /// Primary keys of the rows, in row order.
    @exclusivity(unchecked) private(set) var keys: [UInt64] = []
    private let locationBits = Atomic<UInt64>(0)
    /// Where the block was before a failed flush moved it.
    @exclusivity(unchecked) private(set) var replacedLocation = Location.absent

    /// Where the block was placed; set by the commit, and again when a failed flush makes the log go on elsewhere,
    /// possibly on another thread.
    var location: Location { Location(rawValue: locationBits.load(ordering: .acquiring)) }

    init(role: TransactionBody.BlockRole, entity: UInt16, keepsRows: Bool = false) {
        self.keepsRows = keepsRows
        self.role = role
        self.entity = entity
    }

    func run() {
        if let rows = pending.take() { encode(rows) }
    }

    func encode(_ rows: PendingBlock) {
        keys = rows.keys
        let block = rows.encode()
        if keepsRows, !block.isPlain, !rows.rows.memory.hasExternals { self.rows = rows }
        encoded = consume block
    }

    /// The rows as they are read where they were placed, for the cache; nil where they are not kept. Once.
    ///
    /// Of few rows, the encoded bytes are copied: unlike the memory they were gathered in, which the next transaction
    /// gets, they are no longer than they need to be and in one piece.
    func takeBlock(_ shape: BlockShape, sequence: UInt64, storeUUID: StoreUUID) -> Block? {
        if let rows {
            self.rows = nil
            return Block(rows, shape: shape, sequence: sequence, location: location)
        }
        guard keepsRows, encoded?.isPlain == true, encoded?.hasExternals == false else { return nil }
        return encoded?.bytes.withUnsafeBytes { bytes in
            // What could be wrong with it is found by whoever reads it from the log.
            try? Block.load(bytes, location: location, storeUUID: storeUUID) { _, _ in shape }
        }
    }

    /// The encoded block; empty before the job has run.
    var bytes: [UInt8] { encoded?.bytes ?? [] }

    /// The length of ``bytes``.
    var byteCount: Int { encoded?.byteCount ?? 0 }

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

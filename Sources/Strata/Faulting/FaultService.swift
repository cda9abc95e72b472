import StrataLog
import StrataRuntime
import Synchronization

/// Finds the rows of one context's faults. It alone knows in which order objects are read, and so what to look up
/// ahead.
///
/// The policy is one: a row that a neighbour's fault had looked up is taken; else the rows of the neighbours are looked
/// up along with the one that is wanted. Who is a neighbour says, in this order, the faults that were last made by ID
/// (``RecentFaults``), the relationship that was last read, and the last results (``FaultBatch``). A fault that none of
/// them knows is looked up by itself. `docs/faulting.md` explains it.
///
/// Belongs to the context's queue. No access to its state calls out: the run-time checks for overlapping accesses are
/// turned off.
final class FaultService {
    private let recent = RecentFaults()
    @exclusivity(unchecked) private var results: FaultBatch? {
        didSet { resultsReference = results.map { .passUnretained($0) } }
    }
    @exclusivity(unchecked) private var members: FaultBatch? {
        didSet { membersReference = members.map { .passUnretained($0) } }
    }
    /// The same, for what every fault asks them: none of it exchanges them.
    @exclusivity(unchecked) private var resultsReference: Unmanaged<FaultBatch>?
    @exclusivity(unchecked) private var membersReference: Unmanaged<FaultBatch>?
    @exclusivity(unchecked) private(set) var sampling = ReadSampling()
    /// The block that a row was last read from, and its store: locations are those of one store. The next row is often
    /// a neighbour.
    @exclusivity(unchecked) private var lastBlock: (block: Block, handle: StoreHandle)?
    /// What reading objects has cost so far.
    @exclusivity(unchecked) private(set) var statistics = FaultStatistics()

    // MARK: What is going to be read

    /// A fault was made by ID. Returns what the object keeps in the place of its row.
    @inline(__always)
    func expect(_ ref: ObjectRef, _ storeIndex: UInt16) -> UInt32 { recent.add(ref, storeIndex) }

    /// A fetch has these results; nil if they are none to look up ahead.
    func expect(results batch: FaultBatch?) { results = batch }

    /// Expects others than the last results while a body runs.
    func expecting<R>(results batch: FaultBatch?, _ body: () throws -> R) rethrows -> R {
        let outer = results
        results = batch
        defer { results = outer }
        return try body()
    }

    /// A relationship has these members, in the order in which they are read.
    func expect(members refs: [ObjectRef], _ storeIndex: UInt16) {
        members = FaultBatch(members: refs, storeIndex)
    }

    /// Begins with what earlier contexts have learned of the slots that the program reads.
    ///
    /// - Parameter turn: counts contexts, so that not each of them learns from its first object.
    func begin(with known: borrowing Atomic<UInt64>, turn: Int) { sampling.begin(with: known, turn: turn) }

    /// Leaves to later contexts what has been learned.
    func end(_ known: borrowing Atomic<UInt64>) { sampling.end(known) }

    /// A slot of an object that is sampled is read. Whether that was known.
    func learn(_ slot: Int) -> Bool { sampling.learn(slot) }

    /// Forgets whose faults are expected, and gives the blocks back.
    func forget() {
        lastBlock = nil
        results = nil
        members = nil
        recent.forgetLocations()
    }

    // MARK: Rows

    /// The row of an object whose fault fires, with a reference to its block for the caller, if a neighbour is known.
    /// Nil if the row is still to be found.
    @inline(__always)
    func neighbourRow(
        of object: NSManagedObject, in handle: StoreHandle, _ registry: ObjectRegistry
    ) throws(StoreError) -> (block: Unmanaged<Block>, location: Location)? {
        if sampling.isSample() { object.flags.insert(.sampled) }
        let wanted = sampling.wanted
        let found = recent.take(
            object.ref, object.row, object.storeIndex, handle, wanted, wanted & object.summary.pointee.masks.toOne[0],
            registry)
        if let found { return found }
        if let found = try take(object, from: membersReference, handle) { return found }
        return try take(object, from: resultsReference, handle)
    }

    @inline(__always)
    private func take(
        _ object: NSManagedObject, from batch: Unmanaged<FaultBatch>?, _ handle: StoreHandle
    ) throws(StoreError) -> (block: Unmanaged<Block>, location: Location)? {
        try batch?.withBorrowed { batch in
            Result { () throws(StoreError) in
                try batch.take(object.ref, object.row, object.storeIndex, handle, sampling.wanted, &statistics)
            }
        }.get()
    }

    /// The block that a row lies in, verified.
    ///
    /// - Parameter shown: the snapshot that has the row there.
    func block(
        at location: Location, of handle: StoreHandle, in shown: Snapshot
    ) throws(StoreError) -> Block {
        if let lastBlock, lastBlock.block.location == location.block, lastBlock.handle === handle {
            return lastBlock.block
        }
        let block = try shown.block(at: location)
        try block.verify()
        lastBlock = (block, handle)
        return block
    }

    /// The row of a version, verified; nil if it cannot be read.
    func row(
        _ ref: ObjectRef, at version: RowVersion, of handle: StoreHandle
    ) -> (block: Block, row: Int)? {
        if let last = lastBlock, last.block.location == version.location.block, last.handle === handle {
            return (last.block, version.location.row)
        }
        guard let row = try? handle.log.row(ref, at: version), (try? row.block.verify()) != nil else { return nil }
        lastBlock = (row.block, handle)
        return (row.block, row.index)
    }

    /// Brings what is going to be read of a row into the processor's caches.
    func prefetch(_ block: Block, _ row: Int) { block.prefetch(row, sampling.wanted) }

    // MARK: Statistics

    func beginFetch() { statistics.beginFetch() }

    /// A fault fires.
    @inline(__always)
    func countFired() { statistics.fired() }
}

/// Gathers rows of one entity as columns, to be encoded as blocks. Not thread-safe.
///
/// A row is written with `beginRow`, a setter for each slot that has a value (in any order, the last one counts), and
/// `endRow`. Slots that are not set are null and cost nothing. When ``shouldCut`` says so, `take()` moves the rows
/// out as a value that can be encoded on another core.
public final class RowBuffer {
    /// The entity of the rows, and what their slots hold.
    public let layout: EntityLayout
    /// The version of the store's schema that the layout is of.
    public let schemaVersion: UInt16
    /// Behind a constant pointer, so that a setter costs no exclusivity check.
    @usableFromInline let memory: UnsafeMutablePointer<RowMemory>
    /// Nil before the first of several blocks: one by itself teaches nobody.
    private var advice: CompressionAdvice?
    /// Whether the memory of the rows belongs to somebody else.
    private var isUsedUp = false

    /// A buffer without rows.
    ///
    /// - Parameters:
    ///   - layout: the entity of the rows; at most ``Schema/maximumSlots`` slots.
    ///   - schemaVersion: the version of the store's schema that the layout is of.
    ///   - advice: what earlier blocks of the entity taught about compression; keep it and pass it again when buffers
    ///     are made often.
    public init(layout: EntityLayout, schemaVersion: UInt16, advice: CompressionAdvice? = nil) {
        precondition(layout.slots.count <= Schema.maximumSlots, "too many slots")
        self.layout = layout
        self.schemaVersion = schemaVersion
        self.advice = advice
        precondition(
            advice == nil || advice?.slotCount == layout.slots.count, "compression advice for another layout")
        memory = .allocate(capacity: 1)
        memory.initialize(to: RowMemory(slots: layout.slots, rowCapacity: 8))
    }

    deinit {
        if !isUsedUp { memory.pointee.deallocate() }
        memory.deallocate()
    }

    /// Finished rows.
    @inlinable
    public var rowCount: Int { memory.pointee.rowCount }

    /// Bytes of the rows' values, before packing; a variable slot counts one byte more than its value.
    @inlinable
    public var rawByteCount: Int { memory.pointee.rawByteCount }

    /// The rows make a full block: call `take()` before the next row.
    @inlinable
    public var shouldCut: Bool { row.shouldCut }

    /// The row being written, for loops over many values.
    @inlinable
    public var row: OpenRow { OpenRow(memory) }

    /// Whether a value of that many bytes may lie in the row; otherwise it must be stored out of line.
    @inlinable
    public func fitsInline(_ byteCount: Int) -> Bool { row.fitsInline(byteCount) }

    /// Starts a row written by the block's own transaction.
    ///
    /// - Precondition: no row is open, the key is at most ``ObjectRef/maximumKey``, and there are fewer than 65,535
    ///   rows.
    @inlinable
    public func beginRow(key: UInt64) {
        row.begin(key: key)
    }

    /// Starts a row that another transaction wrote: it keeps that sequence number.
    public func beginRow(key: UInt64, sequence: UInt64) {
        beginRow(key: key)
        row.setSequence(sequence)
    }

    /// Finishes the row.
    @inlinable
    public func endRow() {
        row.end()
    }

    /// Moves the finished rows out; the buffer is empty then and can go on.
    package func take() -> PendingBlock {
        memory.pointee.complete()
        let capacity = Swift.max(8, Swift.min(memory.pointee.rowCapacity, BlockFormat.cutRows))
        let fresh = RowMemory(slots: layout.slots, rowCapacity: capacity)
        // The next block will be like this one: give its heaps their size at once.
        for slot in 0..<fresh.slotCount where memory.pointee.columns[slot].ownHeapByteCount > 0 {
            fresh.columns[slot].growHeap(by: Swift.min(memory.pointee.columns[slot].heapCapacity, 64 << 10))
        }
        let advice = advice ?? CompressionAdvice(slotCount: layout.slots.count)
        self.advice = advice
        let taken = memory.pointee
        memory.pointee = fresh
        return PendingBlock(
            rows: TakenRows(taken), entity: layout.id, schemaVersion: schemaVersion, advice: advice)
    }

    /// As ``take()`` for a buffer that is not used any more: it gets no memory for further rows.
    func takeLast() -> PendingBlock {
        precondition(!isUsedUp, "the rows were taken before")
        memory.pointee.complete()
        isUsedUp = true
        return PendingBlock(
            rows: TakenRows(memory.pointee), entity: layout.id, schemaVersion: schemaVersion, advice: advice)
    }

    /// Moves the finished rows out as a block that can be read at once and lies in no log.
    ///
    /// Values of any length may have been set with ``set(_:bytesOfAnyLength:)``.
    package func takeBlock(sequence: UInt64) -> Block {
        Block(take(), layout: layout, sequence: sequence)
    }
}

/// Rows taken out of a buffer: nobody writes to them any more.
///
/// Unchecked: the memory is never changed after `init`, and freed when the last owner lets go.
final class TakenRows: @unchecked Sendable {
    let memory: RowMemory

    init(_ memory: RowMemory) {
        self.memory = memory
    }

    deinit {
        memory.deallocate()
    }
}

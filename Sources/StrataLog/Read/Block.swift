public import Synchronization

/// Decoded rows of one entity. Immutable; retained by whoever reads from it. Thread-safe.
///
/// The block owns its stored bytes. A slot's chunk is checked and decoded when the slot is first read; what
/// is stored as it is read (doubles, text that did not shrink, every block of few rows) is read in place.
///
/// Unchecked: the pointers are constant, and what they point to is written under `lock` before its ready flag is
/// released.
public final class Block: @unchecked Sendable {
    // What every read of a row asks for comes first, so that it lies in the line of the reference count and the next.
    @usableFromInline let views: UnsafeMutablePointer<ColumnView>
    /// 1 once the slot's view is there.
    @usableFromInline let ready: UnsafeMutablePointer<Atomic<UInt8>>
    /// At least 1.
    public let rowCount: Int
    /// Slots of the rows as they are shown: those of the schema that the store is read by, unless a version without
    /// migration has added some since.
    public let slotCount: Int
    /// Nil when all rows have ``blockSequence``.
    @usableFromInline let sequences: UnsafeMutablePointer<UInt64>?
    /// Of the transaction (or compaction) that wrote the block.
    public let blockSequence: UInt64
    private let isVerified = Atomic<Bool>(false)
    /// The number of the rows' entity in the store's schema.
    public let entity: UInt16
    /// The version of the schema that the rows were written with, whatever they are shown as.
    public let schemaVersion: UInt16
    /// Where the first row lies; those of the others follow it.
    public let location: Location
    @usableFromInline let firstKey: UInt64
    /// Nil when keys count up from ``firstKey``.
    @usableFromInline let keys: UnsafeMutablePointer<UInt64>?

    /// What the block weighs in a cache once every column is decoded: an upper bound, in bytes.
    package private(set) var estimatedByteCount = 0
    private let shape: BlockShape
    /// Of the rows as they are shown.
    var layout: EntityLayout { shape.layout }
    /// Of the rows as they are stored.
    var storedLayout: EntityLayout { shape.stored }
    /// How the stored slots become those that are shown; nil where they are the same.
    var plan: LiftPlan? { shape.plan }
    let header: BlockHeader
    /// `header.byteCount` bytes, aligned to 16 and followed by ``BitPacking/slackBytes`` zeros.
    let bytes: UnsafeRawPointer
    /// Where the bytes and decoded columns come from; nil for the heap.
    let memory: BlockMemory?
    /// Memory of decoded columns, by slot.
    private let owned: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    /// Whether what there is for each column has memory of its own, rather than that of the bytes.
    private let ownsColumns: Bool
    /// What the views point into when the rows were never stored; keys and sequences lie there, too.
    private let rows: TakenRows?
    /// Of rows that lie in the log and in memory as they were encoded from; else empty, as the stored bytes have them.
    let zones: [ZoneRange?]
    private let lock = Mutex<Void>(())
    /// Set before the block is handed out.
    private var epoch: SegmentEpoch?
    private var referredBlocks: [Block] = []
    /// Where a column is told of that cannot be decoded after it was verified. Set before the block is handed out.
    private var damage: DamagedLocations?
    /// What stands for such columns, by slot. Guarded by `lock`.
    private var undecodable: [Int: DecodedColumn] = [:]
    private let hasUndecodable = Atomic<Bool>(false)

    /// Copies the block at the start of `bytes` (which may go on after it) and checks header and place. Its rows are
    /// shown as they are stored.
    ///
    /// - Parameters:
    ///   - location: where the bytes lie.
    ///   - schemas: the store's schema of each version.
    /// - Throws: ``StoreError/Code/corruption`` when bytes are missing, damaged or of another place;
    ///   ``StoreError/Code/unsupportedFormat`` when the block needs a later version of this code.
    package static func load(
        _ bytes: UnsafeRawBufferPointer, location: Location, storeUUID: StoreUUID,
        schemas: (UInt16) -> Schema?
    ) throws(StoreError) -> Block {
        try load(bytes, location: location, storeUUID: storeUUID) { (version, entity) throws(StoreError) in
            schemas(version)?.entity(entity).map { BlockShape($0) }
        }
    }

    /// As ``load(_:location:storeUUID:schemas:)``, shown as `shape` says for a schema version and entity.
    static func load(
        _ bytes: UnsafeRawBufferPointer, location: Location, storeUUID: StoreUUID,
        shape: (UInt16, UInt16) throws(StoreError) -> BlockShape?
    ) throws(StoreError) -> Block {
        let header = try BlockHeader(parsing: bytes, location: location, storeUUID: storeUUID)
        var capacity = header.byteCount + BitPacking.slackBytes
        // What a small block takes beside its bytes lies behind them: most of what it costs to make is memory.
        if header.flags.contains(.plain) {
            capacity = BlockFormat.aligned(capacity, to: 16) + Self.columnsByteCount(header.slotCount)
        }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        copy.copyMemory(from: bytes.baseAddress!, byteCount: header.byteCount)
        return try make(BlockBytes(base: copy, capacity: capacity, memory: nil), header, location, shape)
    }

    /// As ``load(_:location:storeUUID:shape:)``, but takes the bytes over.
    ///
    /// - Parameters:
    ///   - bytes: the caller must not use or free them any more, whatever the outcome.
    ///   - count: how many were read.
    static func load(
        taking bytes: BlockBytes, count: Int, location: Location, storeUUID: StoreUUID,
        shape: (UInt16, UInt16) throws(StoreError) -> BlockShape?
    ) throws(StoreError) -> Block {
        let read = UnsafeRawBufferPointer(start: bytes.base, count: count)
        let header: BlockHeader
        do {
            header = try BlockHeader(parsing: read, location: location, storeUUID: storeUUID)
        } catch {
            bytes.deallocate()
            throw error
        }
        let needed = header.byteCount + BitPacking.slackBytes
        if bytes.capacity >= needed, bytes.capacity - needed <= needed / 4 {
            return try make(bytes, header, location, shape)
        }
        let copy = BlockBytes(capacity: needed, memory: bytes.memory)
        copy.base.copyMemory(from: bytes.base, byteCount: header.byteCount)
        bytes.deallocate()
        return try make(copy, header, location, shape)
    }

    private static func make(
        _ bytes: BlockBytes, _ header: BlockHeader, _ location: Location,
        _ shape: (UInt16, UInt16) throws(StoreError) -> BlockShape?
    ) throws(StoreError) -> Block {
        let found: BlockShape?
        do throws(StoreError) {
            found = try shape(header.schemaVersion, header.entity)
        } catch {
            bytes.deallocate()
            // Who meets it again is to know it by its place.
            guard error.code == .expired else { throw error }
            throw StoreError(
                .expired, error.message, path: error.path, segment: location.segment, offset: location.byteOffset)
        }
        guard let found, found.stored.slots.count == header.slotCount else {
            bytes.deallocate()
            throw StoreError(
                damagedBlock: "block of entity \(header.entity) that schema version \(header.schemaVersion) lacks",
                at: location)
        }
        return try Block(owning: bytes, header: header, shape: found, location: location.block)
    }

    /// Takes the bytes over, which have room for the slack behind the block.
    private init(
        owning bytes: BlockBytes, header: BlockHeader, shape: BlockShape, location: Location
    ) throws(StoreError) {
        self.location = location
        self.header = header
        self.shape = shape
        entity = header.entity
        schemaVersion = header.schemaVersion
        rowCount = header.rowCount
        slotCount = shape.plan?.sources.count ?? header.slotCount
        blockSequence = header.sequence
        firstKey = header.firstKey
        self.rows = nil
        zones = []
        (bytes.base + header.byteCount).initializeMemory(as: UInt8.self, repeating: 0, count: BitPacking.slackBytes)
        self.bytes = UnsafeRawPointer(bytes.base)
        memory = bytes.memory
        let rows = header.rowCount
        keys = header.hasStoredKeys ? .allocate(capacity: Swift.max(rows, 1)) : nil
        sequences = header.hasStoredSequences ? .allocate(capacity: Swift.max(rows, 1)) : nil
        let slots = slotCount
        let behind = BlockFormat.aligned(header.byteCount + BitPacking.slackBytes, to: 16)
        let isSmall = header.flags.contains(.plain)
        ownsColumns = !isSmall || bytes.capacity - behind < Self.columnsByteCount(slots)
        (views, owned, ready) =
            ownsColumns ? Self.allocateColumns(slots, isSmall: isSmall) : Self.columns(slots, at: bytes.base + behind)
        for slot in 0..<slots { (ready + slot).initialize(to: Atomic(0)) }
        owned.initialize(repeating: nil, count: slots)
        let perSlot = MemoryLayout<ColumnView>.stride + MemoryLayout<UnsafeRawPointer>.stride + 24
        let internals = header.internalColumnCount * rows * 8
        let own = bytes.capacity - (ownsColumns ? 0 : Self.columnsByteCount(slots))
        estimatedByteCount = own + internals + slots * perSlot + 256
        if header.flags.contains(.plain) {
            try preparePlain()
        } else {
            estimatedByteCount += try prepareColumns()
        }
        if let plan = shape.plan { estimatedByteCount += liftedByteCount(plan) }
    }

    /// A block over rows in memory that no log has. Nothing is encoded or copied.
    ///
    /// Its ``location`` is one that no segment has: such rows cannot be read again by it.
    package convenience init(_ pending: PendingBlock, layout: EntityLayout, sequence: UInt64) {
        self.init(pending, shape: BlockShape(layout), sequence: sequence, location: Self.locationInMemory)
    }

    /// A block over the rows that it was encoded from: what reading it at its location would give.
    ///
    /// - Precondition: no value lies out of line.
    init(_ pending: PendingBlock, shape: BlockShape, sequence: UInt64, location: Location) {
        let memory = pending.rows.memory
        precondition(shape.plan == nil && shape.stored.slots.count == memory.slotCount, "rows of another layout")
        header = BlockHeader(inMemory: pending.entity, rowCount: memory.rowCount, slotCount: memory.slotCount)
        self.location = location
        self.shape = shape
        entity = pending.entity
        schemaVersion = pending.schemaVersion
        rowCount = memory.rowCount
        slotCount = memory.slotCount
        blockSequence = sequence
        firstKey = 0
        rows = pending.rows
        self.memory = nil
        keys = memory.keys
        sequences = memory.sequences
        bytes = UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
        let perSlot = MemoryLayout<ColumnView>.stride + MemoryLayout<UnsafeRawPointer>.stride + 24
        estimatedByteCount = memory.heldByteCount + slotCount * perSlot + 256
        ownsColumns = true
        (views, owned, ready) = Self.allocateColumns(slotCount, isSmall: memory.rowCount < BlockFormat.plainRows)
        owned.initialize(repeating: nil, count: slotCount)
        var zones: [ZoneRange?] = []
        // Few rows have none where they are stored either: a scan asks the rows themselves as quickly.
        let hasZones = location != Self.locationInMemory && memory.rowCount >= BlockFormat.plainRows
        if hasZones { zones.reserveCapacity(slotCount) }
        for slot in 0..<slotCount {
            let column = memory.columns[slot]
            let view = ColumnView(
                kind: column.kind, rows: memory.rowCount, values: column.values, heap: column.heap ?? column.values,
                nulls: column.nulls.map { UnsafePointer($0) }, externals: column.externals.map { UnsafePointer($0) })
            if hasZones { zones.append(ZoneRange(view)) }
            (views + slot).initialize(to: view)
            (ready + slot).initialize(to: Atomic(1))
        }
        self.zones = zones
        isVerified.store(true, ordering: .relaxed)
    }

    /// Where rows in memory say they lie: the last segment, which no log reaches.
    private static let locationInMemory = Location(
        segment: Location.maximumSegment, byteOffset: Location.segmentMaximumBytes - Location.alignmentBytes, row: 0)

    deinit {
        for slot in 0..<slotCount { owned[slot].map(free) }
        for column in undecodable.values { column.owned.map(free) }
        ready.deinitialize(count: slotCount)
        // All three lie there.
        if ownsColumns { UnsafeMutableRawPointer(views).deallocate() }
        if rows == nil {
            keys?.deallocate()
            sequences?.deallocate()
        }
        free(UnsafeMutableRawPointer(mutating: bytes))
    }

    /// What there is for each column, side by side in memory that begins with a line of the processor's caches. Such
    /// memory costs more than other, which small blocks are content with.
    private static func allocateColumns(
        _ slots: Int, isSmall: Bool = false
    ) -> (
        views: UnsafeMutablePointer<ColumnView>, owned: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
        ready: UnsafeMutablePointer<Atomic<UInt8>>
    ) {
        let start = UnsafeMutableRawPointer.allocate(
            byteCount: Swift.max(columnsByteCount(slots), 1), alignment: isSmall ? 16 : 64)
        return columns(slots, at: start)
    }

    private static func columnsByteCount(_ slots: Int) -> Int {
        slots * (MemoryLayout<ColumnView>.stride + MemoryLayout<UnsafeMutableRawPointer?>.stride + 1)
    }

    private static func columns(
        _ slots: Int, at start: UnsafeMutableRawPointer
    ) -> (
        views: UnsafeMutablePointer<ColumnView>, owned: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
        ready: UnsafeMutablePointer<Atomic<UInt8>>
    ) {
        let viewBytes = slots * MemoryLayout<ColumnView>.stride
        let ownedBytes = slots * MemoryLayout<UnsafeMutableRawPointer?>.stride
        return (
            start.bindMemory(to: ColumnView.self, capacity: slots),
            (start + viewBytes).bindMemory(to: UnsafeMutableRawPointer?.self, capacity: slots),
            (start + viewBytes + ownedBytes).bindMemory(to: Atomic<UInt8>.self, capacity: slots)
        )
    }

    /// Uninitialised memory for a decoded column, aligned to 16.
    func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        memory?.allocate(count) ?? .allocate(byteCount: count, alignment: 16)
    }

    func free(_ pointer: UnsafeMutableRawPointer) {
        if let memory { memory.deallocate(pointer) } else { pointer.deallocate() }
    }

    /// Whether a value of the block is stored out of line.
    var hasExternals: Bool {
        if header.flags.contains(.plain) { return header.flags.contains(.externals) }
        for slot in 0..<header.slotCount where storedLayout.slots[slot].kind.fixedWidth == 0 {
            if storedDescriptor(slot)?.flags.contains(.externals) == true { return true }
        }
        return false
    }

    /// Says where to tell of columns that turn out to be undecodable. Only by the thread that loaded the block.
    func tell(_ damage: DamagedLocations) {
        self.damage = damage
    }

    /// Keeps segments that the block's values lie in. Only by the thread that loaded the block.
    func pin(_ epoch: SegmentEpoch) {
        self.epoch = epoch
    }

    /// Whether values of the block lie out of line: then it keeps the segments that they lie in, and rows that refer to
    /// them have to keep it.
    public var isPinned: Bool { epoch != nil || !referredBlocks.isEmpty }

    /// Keeps blocks whose values rows of this one refer to. Before the block is handed to other threads.
    package func keep(_ blocks: [Block]) {
        referredBlocks += blocks
    }

    func damaged(_ message: String) -> StoreError {
        StoreError(damagedBlock: message, at: location)
    }

    // MARK: Rows

    /// The primary key of a row's object.
    ///
    /// - Precondition: 0 <= row < ``rowCount``; so for the others.
    @inlinable
    public func key(_ row: Int) -> UInt64 {
        precondition(UInt(bitPattern: row) < UInt(bitPattern: rowCount), "row out of range")
        if let keys { return keys[row] }
        return firstKey &+ UInt64(truncatingIfNeeded: row)
    }

    /// The transaction that wrote the row.
    @inlinable
    public func sequence(_ row: Int) -> UInt64 {
        precondition(UInt(bitPattern: row) < UInt(bitPattern: rowCount), "row out of range")
        if let sequences, sequences[row] != 0 { return sequences[row] }
        return blockSequence
    }

    /// The object of a row.
    ///
    /// - Precondition: the row is below ``rowCount``.
    @inlinable
    public func ref(_ row: Int) -> ObjectRef {
        ObjectRef(entity: entity, key: key(row))
    }

    // MARK: Columns

    /// The slot's values; checks and decodes its chunk on first use. The view is valid while the block is retained.
    ///
    /// - Throws: ``StoreError/Code/corruption``, each time it is asked.
    /// - Precondition: 0 <= slot < ``slotCount``.
    /// - Complexity: O(1) after the first use, without a lock.
    @inlinable
    public func column(_ slot: Int) throws(StoreError) -> ColumnView {
        precondition(UInt(bitPattern: slot) < UInt(bitPattern: slotCount), "slot out of range")
        if ready[slot].load(ordering: .acquiring) == 0 { try decode(slot) }
        return views[slot]
    }

    /// As ``column(_:)`` for a block that ``verify()`` passed.
    ///
    /// A chunk whose checksum is right but that does not inflate, which only a forger or a broken writer can make,
    /// reads as nulls; it counts as damage of the store, and from then on ``verify()`` and ``column(_:)`` throw.
    @inlinable
    public func verifiedColumn(_ slot: Int) -> ColumnView {
        precondition(UInt(bitPattern: slot) < UInt(bitPattern: slotCount), "slot out of range")
        if ready[slot].load(ordering: .acquiring) == 0 { return decodeVerified(slot) }
        return views[slot]
    }

    @usableFromInline
    func decode(_ slot: Int) throws(StoreError) {
        try lock.withLock { _ throws(StoreError) in
            guard ready[slot].load(ordering: .relaxed) == 0 else { return }
            publish(slot, try shownColumn(slot, isVerified: isVerified.load(ordering: .relaxed)))
        }
    }

    @usableFromInline
    func decodeVerified(_ slot: Int) -> ColumnView {
        precondition(
            isVerified.load(ordering: .acquiring) || hasUndecodable.load(ordering: .acquiring),
            "the block was not verified")
        do {
            try decode(slot)
            return views[slot]
        } catch {
            let (view, isNew) = lock.withLock { _ in
                if let known = undecodable[slot] { return (known.view, false) }
                let column = nullColumn(slot)
                undecodable[slot] = column
                return (column.view, true)
            }
            // In this order: whoever finds the block not verified finds out why.
            hasUndecodable.store(true, ordering: .releasing)
            isVerified.store(false, ordering: .releasing)
            if isNew { damage?.meet(error) }
            return view
        }
    }

    private func publish(_ slot: Int, _ column: DecodedColumn) {
        owned[slot] = column.owned
        (views + slot).initialize(to: column.view)
        ready[slot].store(1, ordering: .releasing)
    }

    /// Publishes a view into the stored bytes. Only while the block is being made.
    func publishStored(_ slot: Int, _ view: ColumnView) {
        publish(slot, DecodedColumn(view: view, owned: nil))
    }

    /// Publishes the column of a slot of which the stored rows have no such value. Only while the block is being made.
    func publishMade(_ slot: Int, _ column: DecodedColumn) {
        publish(slot, column)
    }

    /// Checks every chunk's checksum and bounds; afterwards ``column(_:)`` cannot throw and ``verifiedColumn(_:)`` can
    /// be used. Inflates nothing.
    ///
    /// - Complexity: O(stored bytes) the first time, O(1) afterwards.
    public func verify() throws(StoreError) {
        if isVerified.load(ordering: .acquiring) { return }
        if hasUndecodable.load(ordering: .acquiring) { throw damaged("column that does not decode") }
        if !header.flags.contains(.plain) {
            for slot in 0..<header.slotCount where plan != nil || ready[slot].load(ordering: .acquiring) == 0 {
                try verifyChunk(slot)
            }
        }
        isVerified.store(true, ordering: .releasing)
    }
}

/// A view and the memory it needs beside the block's bytes.
struct DecodedColumn {
    var view: ColumnView
    var owned: UnsafeMutableRawPointer?
}

/// Memory that a block is read into.
struct BlockBytes {
    let base: UnsafeMutableRawPointer
    let capacity: Int
    /// Where it came from; nil for the heap.
    let memory: BlockMemory?

    init(base: UnsafeMutableRawPointer, capacity: Int, memory: BlockMemory?) {
        self.base = base
        self.capacity = capacity
        self.memory = memory
    }

    init(capacity: Int, memory: BlockMemory?) {
        base = memory?.allocate(capacity) ?? .allocate(byteCount: capacity, alignment: 16)
        self.capacity = capacity
        self.memory = memory
    }

    func deallocate() {
        if let memory { memory.deallocate(base) } else { base.deallocate() }
    }
}

internal import Synchronization

/// The layout and the reference counts of the raw memory that an ``ObjectIndex`` is made of.
///
/// Nodes are raw memory rather than objects so that a look-up follows plain pointers: no reference counting, and no
/// header is touched on the way to a full page's value. A node is written only by the edit that made it; afterwards the
/// only changes are its count, under the lineage's lock, and a directory's slots going from ``lazy`` to a loaded page,
/// atomically. Counts are plain integers since a copied directory raises 64 of them: one lock costs a fraction of 64
/// atomic operations.
///
///     directory    count 8 | owner 8 | table 8 | stamp 8 | 64 slots of 8
///     full page    count 8 | owner 8 | 512 locations of 8
///     runs page    count 8 | runs 8 | starts: Int16, padded to a multiple of 8 | locations of 8
///     sparse page  see ``IndexSparse``
///     page table   count 8 | file offset 8 | 64 checksums of 4 | 64 lengths of 2
///
/// A slot is 0 (nothing), ``lazy`` (in the checkpoint file, see the page table), the address of a directory or a full
/// page, the address of a runs page + 1, or that of a sparse page + 3.
enum IndexNode {
    typealias Pointer = UnsafeMutableRawPointer

    static let pageBits: UInt64 = 9
    static let keysPerPage = 1 << 9
    static let fanoutBits: UInt64 = 6
    static let fanout = 1 << 6
    /// A page with more runs than this is kept, in memory and in the file, as single locations.
    static let maximumRuns = 24

    static let runsTag: UInt = 1
    static let lazy: UInt = 2
    static let sparseTag: UInt = 3
    static let tagMask: UInt = 3

    static let directoryByteCount = 32 + fanout * 8
    static let fullPageByteCount = 16 + keysPerPage * 8
    static let tableByteCount = 16 + fanout * 6

    // SAFETY: every pointer below comes from `allocate` with the layout above; indexes are masked by the callers.

    /// Only under the lineage's lock, or while no other thread knows the node.
    @inline(__always)
    static func references(_ node: Pointer) -> UnsafeMutablePointer<Int> {
        node.assumingMemoryBound(to: Int.self)
    }

    /// True when the last reference went: the caller frees the node. Only under the lineage's lock.
    @inline(__always)
    static func dropReference(_ node: Pointer) -> Bool {
        references(node).pointee &-= 1
        return references(node).pointee == 0
    }

    @inline(__always)
    static func pointer(_ slot: UInt) -> Pointer {
        Pointer(bitPattern: slot & ~tagMask).unsafelyUnwrapped
    }

    @inline(__always)
    static func slot(_ directory: Pointer, _ index: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
        (directory + 32).assumingMemoryBound(to: Atomic<UInt>.self) + index
    }

    @inline(__always)
    static func owner(_ node: Pointer) -> UInt64 { node.load(fromByteOffset: 8, as: UInt64.self) }

    /// What tells a directory's contents from all others: of the edit that made it, or, where none did, its own.
    @inline(__always)
    static func stamp(_ directory: Pointer) -> UInt64 { directory.load(fromByteOffset: 24, as: UInt64.self) }

    private static let stamps = Atomic<UInt64>(0)

    /// A number that is never used again.
    static func newStamp() -> UInt64 { stamps.wrappingAdd(1, ordering: .relaxed).newValue }

    @inline(__always)
    static func table(_ directory: Pointer) -> Pointer? { directory.load(fromByteOffset: 16, as: Pointer?.self) }

    @inline(__always)
    static func values(_ fullPage: Pointer) -> UnsafeMutablePointer<UInt64> {
        (fullPage + 16).assumingMemoryBound(to: UInt64.self)
    }

    /// One reference, and what the kind of node has in its second word.
    static func initializeHeader(_ node: Pointer, second: UInt64) {
        node.bindMemory(to: Int.self, capacity: 1).initialize(to: 1)
        node.storeBytes(of: second, toByteOffset: 8, as: UInt64.self)
    }

    // MARK: Making

    /// A directory with empty slots. Takes over the reference to `table`.
    ///
    /// - Parameters:
    ///   - owner: the edit that may write to it; 0 for none.
    ///   - stamp: that of a directory with the same contents, if it is to have those.
    static func makeDirectory(
        _ lineage: IndexLineage, owner: UInt64, table: Pointer? = nil, stamp: UInt64? = nil
    ) -> Pointer {
        let node = lineage.allocate(directoryByteCount)
        initializeHeader(node, second: owner)
        node.storeBytes(of: table, toByteOffset: 16, as: Pointer?.self)
        node.storeBytes(of: stamp ?? (owner > 0 ? owner : newStamp()), toByteOffset: 24, as: UInt64.self)
        let slots = (node + 32).bindMemory(to: Atomic<UInt>.self, capacity: fanout)
        for index in 0..<fanout { (slots + index).initialize(to: Atomic(0)) }
        return node
    }

    /// A directory that shares all children with `original`, which the caller keeps alive meanwhile.
    static func copyDirectory(
        _ original: Pointer, _ lineage: IndexLineage, owner: UInt64, stamp: UInt64? = nil
    ) -> Pointer {
        let copy = makeDirectory(lineage, owner: owner, stamp: stamp)
        var table: Pointer?
        for index in 0..<fanout {
            // Acquiring: the slot may go from lazy to a page that another thread just loaded.
            let child = slot(original, index).pointee.load(ordering: .acquiring)
            if child == lazy { table = self.table(original) }
            slot(copy, index).pointee.store(child, ordering: .relaxed)
        }
        copy.storeBytes(of: table, toByteOffset: 16, as: Pointer?.self)
        lineage.withCounts {
            for index in 0..<fanout {
                let child = slot(copy, index).pointee.load(ordering: .relaxed)
                if child > lazy { references(pointer(child)).pointee &+= 1 }
            }
            if let table { references(table).pointee &+= 1 }
        }
        return copy
    }

    /// A full page whose values the caller fills in.
    static func makeFullPage(_ lineage: IndexLineage, owner: UInt64) -> Pointer {
        let node = lineage.allocate(fullPageByteCount)
        initializeHeader(node, second: owner)
        _ = (node + 16).bindMemory(to: UInt64.self, capacity: keysPerPage)
        return node
    }

    static func makeTable(_ lineage: IndexLineage, fileOffset: Int64) -> Pointer {
        let node = lineage.allocate(tableByteCount)
        initializeHeader(node, second: UInt64(bitPattern: fileOffset))
        (node + 16).initializeMemory(as: UInt8.self, repeating: 0, count: fanout * 6)
        return node
    }

    // MARK: Freeing

    /// Gives up one reference to what a slot refers to. `level` is 0 for pages.
    static func release(_ slot: UInt, level: Int, _ lineage: IndexLineage) {
        guard slot > lazy else { return }
        var isLast = false
        lineage.withCounts { isLast = dropReference(pointer(slot)) }
        if isLast { destroy(slot, level: level, lineage) }
    }

    /// Frees a node whose last reference went, and gives up its references to others.
    private static func destroy(_ slot: UInt, level: Int, _ lineage: IndexLineage) {
        let node = pointer(slot)
        if level == 0 {
            let byteCount =
                switch slot & tagMask {
                case runsTag: IndexRuns.byteCount(IndexRuns.count(node))
                case sparseTag: IndexSparse.byteCount(IndexSparse.count(node))
                default: fullPageByteCount
                }
            lineage.free(node, byteCount)
            return
        }
        var dying: UInt64 = 0
        var dyingTable: Pointer?
        let table = table(node)
        lineage.withCounts {
            for index in 0..<fanout {
                let child = self.slot(node, index).pointee.load(ordering: .acquiring)
                if child > lazy, dropReference(pointer(child)) { dying |= 1 << UInt64(index) }
            }
            if let table, dropReference(table) { dyingTable = table }
        }
        while dying != 0 {
            let index = dying.trailingZeroBitCount
            destroy(self.slot(node, index).pointee.load(ordering: .relaxed), level: level - 1, lineage)
            dying &= dying - 1
        }
        if let dyingTable { lineage.free(dyingTable, tableByteCount) }
        lineage.free(node, directoryByteCount)
    }

    static func release(table: Pointer, _ lineage: IndexLineage) {
        var isLast = false
        lineage.withCounts { isLast = dropReference(table) }
        if isLast { lineage.free(table, tableByteCount) }
    }
}

internal import Synchronization

/// Counts the nodes that all living versions of one index hold together.
final class IndexLineage: Sendable {
    let liveNodes = Atomic<Int>(0)
    let liveBytes = Atomic<Int>(0)

    @inline(__always)
    func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        liveNodes.wrappingAdd(1, ordering: .relaxed)
        liveBytes.wrappingAdd(byteCount, ordering: .relaxed)
        return .allocate(byteCount: byteCount, alignment: 16)
    }

    @inline(__always)
    func free(_ node: UnsafeMutableRawPointer, _ byteCount: Int) {
        liveNodes.wrappingSubtract(1, ordering: .relaxed)
        liveBytes.wrappingSubtract(byteCount, ordering: .relaxed)
        node.deallocate()
    }
}

/// The layout and the reference counts of the raw memory that an ``ObjectIndex`` is made of.
///
/// Nodes are raw memory rather than objects so that a look-up follows plain pointers: no reference counting, and no
/// header is touched on the way to a full page's value. A node is written only by the edit that made it; afterwards the
/// only changes are its count and a directory's slots going from ``lazy`` to a loaded page, both atomic.
///
///     directory    count 8 | owner 8 | table 8 | - 8 | 64 slots of 8
///     full page    count 8 | owner 8 | 512 locations of 8
///     runs page    count 8 | runs 8 | starts: Int16, padded to a multiple of 8 | locations of 8
///     page table   count 8 | file offset 8 | 64 checksums of 4 | 64 lengths of 2
///
/// A slot is 0 (nothing), ``lazy`` (in the checkpoint file, see the page table), the address of a directory or a full
/// page, or the address of a runs page + 1.
enum IndexNode {
    typealias Pointer = UnsafeMutableRawPointer

    static let pageBits: UInt64 = 9
    static let keysPerPage = 1 << 9
    static let fanoutBits: UInt64 = 6
    static let fanout = 1 << 6
    /// A page with more runs than this is kept, in memory and in the file, as 512 locations.
    static let maximumRuns = 24

    static let runsTag: UInt = 1
    static let lazy: UInt = 2
    static let tagMask: UInt = 3

    static let directoryByteCount = 32 + fanout * 8
    static let fullPageByteCount = 16 + keysPerPage * 8
    static let tableByteCount = 16 + fanout * 6

    // SAFETY: every pointer below comes from `allocate` with the layout above; indexes are masked by the callers.

    @inline(__always)
    static func references(_ node: Pointer) -> UnsafeMutablePointer<Atomic<Int>> {
        node.assumingMemoryBound(to: Atomic<Int>.self)
    }

    @inline(__always)
    static func retain(_ node: Pointer) {
        references(node).pointee.wrappingAdd(1, ordering: .relaxed)
    }

    /// True when the last reference went: the caller frees the node.
    @inline(__always)
    static func dropReference(_ node: Pointer) -> Bool {
        references(node).pointee.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
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

    @inline(__always)
    static func table(_ directory: Pointer) -> Pointer? { directory.load(fromByteOffset: 16, as: Pointer?.self) }

    @inline(__always)
    static func values(_ fullPage: Pointer) -> UnsafeMutablePointer<UInt64> {
        (fullPage + 16).assumingMemoryBound(to: UInt64.self)
    }

    private static func initializeHeader(_ node: Pointer, second: UInt64) {
        node.bindMemory(to: Atomic<Int>.self, capacity: 1).initialize(to: Atomic(1))
        node.storeBytes(of: second, toByteOffset: 8, as: UInt64.self)
    }

    // MARK: Making

    /// A directory with empty slots. Takes over the reference to `table`.
    static func makeDirectory(_ lineage: IndexLineage, owner: UInt64, table: Pointer? = nil) -> Pointer {
        let node = lineage.allocate(directoryByteCount)
        initializeHeader(node, second: owner)
        node.storeBytes(of: table, toByteOffset: 16, as: Pointer?.self)
        node.storeBytes(of: 0, toByteOffset: 24, as: UInt64.self)
        let slots = (node + 32).bindMemory(to: Atomic<UInt>.self, capacity: fanout)
        for index in 0..<fanout { (slots + index).initialize(to: Atomic(0)) }
        return node
    }

    /// A directory that shares all children with `original`, which the caller keeps alive meanwhile.
    static func copyDirectory(_ original: Pointer, _ lineage: IndexLineage, owner: UInt64) -> Pointer {
        let copy = makeDirectory(lineage, owner: owner)
        var needsTable = false
        for index in 0..<fanout {
            // Acquiring: the slot may go from lazy to a page that another thread just loaded.
            let child = slot(original, index).pointee.load(ordering: .acquiring)
            if child > lazy {
                retain(pointer(child))
            } else if child == lazy {
                needsTable = true
            }
            slot(copy, index).pointee.store(child, ordering: .relaxed)
        }
        if needsTable, let shared = table(original) {
            retain(shared)
            copy.storeBytes(of: shared, toByteOffset: 16, as: Pointer?.self)
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
        let node = pointer(slot)
        guard dropReference(node) else { return }
        if level > 0 {
            for index in 0..<fanout {
                release(self.slot(node, index).pointee.load(ordering: .acquiring), level: level - 1, lineage)
            }
            if let table = table(node), dropReference(table) { lineage.free(table, tableByteCount) }
            lineage.free(node, directoryByteCount)
        } else if slot & runsTag != 0 {
            lineage.free(node, IndexRuns.byteCount(IndexRuns.count(node)))
        } else {
            lineage.free(node, fullPageByteCount)
        }
    }
}

internal import Synchronization

/// One version of the map from the primary keys of a root entity to where their rows lie.
///
/// Keys are dense integers, so the map is a tree of 64-way directories over pages of 512 keys. A page is either 512
/// locations (8 bytes a key) or, where keys lie in the order of their rows, a few runs (about 0.2 bytes a key), or,
/// where many are absent, the locations of the others (8 bytes each and 96 a page).
/// Versions share all nodes that did not change; a node is freed with the last version that needs it.
///
/// An index opened from a checkpoint holds its directories only; each page is read and verified on first touch.
/// Immutable and safe to use from any thread.
package final class ObjectIndex: @unchecked Sendable {
    // Unchecked: the nodes are raw memory, immutable but for counts under a lock and atomic slots; see IndexNode.
    let tree: IndexTree
    let pages: PageLoader

    /// The largest key that ever had a location, so that no key is handed out twice; 0 at first.
    package let maximumKey: UInt64

    /// An empty index.
    package convenience init() {
        let pages = PageLoader(lineage: IndexLineage(), source: nil)
        let root = IndexNode.makeDirectory(pages.lineage, owner: 0)
        self.init(IndexTree(root: root, topShift: IndexNode.pageBits), pages, maximumKey: 0)
    }

    /// Takes over the reference to the tree's root.
    init(_ tree: IndexTree, _ pages: PageLoader, maximumKey: UInt64) {
        self.tree = tree
        self.pages = pages
        self.maximumKey = maximumKey
    }

    deinit {
        IndexNode.release(UInt(bitPattern: tree.root), level: tree.height, pages.lineage)
    }

    /// Where the key's row lies; ``Location/absent`` when there is none.
    ///
    /// - Throws: `.io` or `.corruption` when the key's page has to be read from the checkpoint and cannot be.
    /// - Complexity: O(log64 n): two to four dependent loads.
    package func location(of key: UInt64) throws(StoreError) -> Location {
        // The nodes live as long as this object, whatever the optimiser makes of its last use.
        defer { withExtendedLifetime(self) {} }
        return try tree.location(of: key, pages)
    }

    /// Asks the processor for what ``location(of:)`` is going to read.
    @inline(__always)
    func prefetch(_ key: UInt64) {
        defer { withExtendedLifetime(self) {} }
        tree.prefetch(key)
    }

    /// Bytes that this version and all living versions related to it hold together.
    package var memoryByteCount: Int { pages.lineage.liveBytes.load(ordering: .relaxed) }

    /// Nodes that this version and all living versions related to it hold together: for tests of their release.
    package var liveNodeCount: Int { pages.lineage.liveNodes.load(ordering: .relaxed) }

    /// The number of pages that have at least one key.
    ///
    /// - Complexity: O(pages / 64) without touching pages.
    package var pageCount: Int {
        countSlots { $0 != 0 }
    }

    /// The number of pages in memory.
    package var residentPageCount: Int {
        countSlots { $0 > IndexNode.lazy }
    }

    private func countSlots(_ matches: (UInt) -> Bool) -> Int {
        defer { withExtendedLifetime(self) {} }
        var count = 0
        tree.forEachDirectory { (directory, _) in
            for index in 0..<IndexNode.fanout
            where matches(IndexNode.slot(directory, index).pointee.load(ordering: .acquiring)) {
                count += 1
            }
            return true
        }
        return count
    }
}

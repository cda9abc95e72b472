internal import Synchronization

/// Changes to an ``ObjectIndex`` that make a new version of it. Not thread-safe; used once.
///
/// Copies a page or directory on its first change and works in place from then on. An edit that is dropped without
/// ``finish()`` leaves no trace.
package final class IndexEdit {
    private let base: ObjectIndex
    private let pages: PageLoader
    /// Marks the nodes that this edit made and may write to, and what they hold in the end.
    private let identifier: UInt64
    // It belongs to one thread, and no access to its state calls out.
    @exclusivity(unchecked) private var tree: IndexTree
    @exclusivity(unchecked) private var ownsRoot = false
    @exclusivity(unchecked) private var isFinished = false
    /// A page that this edit made: a full one until ``finish()``.
    private struct Touched {
        let directory: UnsafeMutableRawPointer
        let slot: Int
        /// How many keys may still get another location until there may be a smaller form. Where a page was a full one
        /// before, a few places more or less in it make none.
        var unsettled: Int
    }

    private static let unsettledMaximum = 8
    /// An edit of more pages looks for the smaller forms of all.
    private static let lookedThroughMaximum = 8
    @exclusivity(unchecked) private var touched: [Touched] = []
    @exclusivity(unchecked) private var currentPage = UInt64.max
    @exclusivity(unchecked) private var currentValues: UnsafeMutablePointer<UInt64>?
    /// The position of the current page in `touched`.
    @exclusivity(unchecked) private var current = 0
    /// The highest key that ever had a location in this edit or its base.
    @exclusivity(unchecked) private(set) var maximumKey: UInt64
    @exclusivity(unchecked) private var failure: StoreError?

    package init(base: ObjectIndex) {
        self.base = base
        pages = base.pages
        tree = base.tree
        maximumKey = base.maximumKey
        identifier = IndexNode.newStamp()
    }

    deinit {
        if ownsRoot && !isFinished {
            IndexNode.release(UInt(bitPattern: tree.root), level: tree.height, pages.lineage)
        }
    }

    /// The key's location as this edit leaves it.
    ///
    /// - Throws: as ``ObjectIndex/location(of:)``.
    package func location(of key: UInt64) throws(StoreError) -> Location {
        precondition(!isFinished, "the edit is finished")
        defer { withExtendedLifetime(self) {} }
        return try tree.location(of: key, pages)
    }

    /// Gives a key a location; ``Location/absent`` removes it.
    ///
    /// Never throws: an error while reading the key's page from the checkpoint comes out of ``finish()``.
    ///
    /// - Precondition: `key` is 1 to ``ObjectRef/maximumKey``.
    /// - Complexity: O(1) within the page of the call before; a page's first touch copies it (4 KiB).
    package func set(_ key: UInt64, _ location: Location) {
        precondition(key &- 1 < ObjectRef.maximumKey, "primary key out of range")
        let page = key >> IndexNode.pageBits
        if page != currentPage, !openPage(page, replacingAll: false) { return }
        // SAFETY: openPage set the values of a page of 512 keys.
        let value = currentValues.unsafelyUnwrapped + (Int(truncatingIfNeeded: key) & (IndexNode.keysPerPage - 1))
        // A key more or less counts at once.
        if touched[current].unsettled > 0 {
            touched[current].unsettled = value.pointee == 0 || location.isAbsent ? 0 : touched[current].unsettled - 1
        }
        value.pointee = location.rawValue
        if key > maximumKey, !location.isAbsent { maximumKey = key }
    }

    /// Gives `count` consecutive keys consecutive rows of one block, or removes them all when `location` is absent.
    ///
    /// Errors as for ``set(_:_:)``.
    ///
    /// - Precondition: all keys are 1 to ``ObjectRef/maximumKey``; all rows fit in the block.
    package func setRun(firstKey: UInt64, count: Int, location: Location) {
        guard count > 0 else { return }
        precondition(
            firstKey > 0 && count <= 1 << 48 && firstKey + UInt64(count) - 1 <= ObjectRef.maximumKey,
            "primary key out of range")
        precondition(location.isAbsent || location.row + count <= 0x1_0000, "the rows do not fit in one block")
        var done = 0
        while done < count {
            let key = firstKey + UInt64(done)
            let offset = Int(truncatingIfNeeded: key) & (IndexNode.keysPerPage - 1)
            let step = min(count - done, IndexNode.keysPerPage - offset)
            let page = key >> IndexNode.pageBits
            let first = location.isAbsent ? 0 : location.rawValue + UInt64(done)
            if page == currentPage || openPage(page, replacingAll: step == IndexNode.keysPerPage) {
                touched[current].unsettled = 0
                IndexRuns.fill(currentValues.unsafelyUnwrapped + offset, count: step, from: first)
            }
            done += step
        }
        if !location.isAbsent { maximumKey = max(maximumKey, firstKey + UInt64(count) - 1) }
    }

    /// Removes all keys of a range.
    ///
    /// - Returns: those that had a location.
    /// - Throws: as ``location(of:)``, for pages in the checkpoint.
    /// - Complexity: O(keys in pages that are there); of the other pages, 64 or more are passed over at once.
    func removeAll(in range: ClosedRange<UInt64>) throws(StoreError) -> [UInt64] {
        var removed: [UInt64] = []
        try forEachPage(in: range) { keys throws(StoreError) in
            let before = removed.count
            for key in keys where try !location(of: key).isAbsent { removed.append(key) }
            if removed.count > before { setRun(firstKey: keys.lowerBound, count: keys.count, location: .absent) }
            return true
        }
        if let failure { throw failure }
        return removed
    }

    /// Whether no key of a range has a location.
    ///
    /// - Throws: as ``location(of:)``.
    /// - Complexity: O(keys in pages that are there)
    func isEmpty(in range: ClosedRange<UInt64>) throws(StoreError) -> Bool {
        var isEmpty = true
        try forEachPage(in: range) { keys throws(StoreError) in
            for key in keys where try !location(of: key).isAbsent { isEmpty = false }
            return isEmpty
        }
        return isEmpty
    }

    /// Calls the body with the part of a range in each page that is there; false stops.
    private func forEachPage(
        in range: ClosedRange<UInt64>, _ body: (ClosedRange<UInt64>) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var key = range.lowerBound
        while key <= range.upperBound {
            let shift = tree.emptyShift(at: key)
            let last = min(key | ((1 << (shift ?? IndexNode.pageBits)) - 1), range.upperBound)
            if shift == nil, try !body(key...last) { return }
            key = last + 1
        }
    }

    /// The version with all changes. The edit must not be used afterwards.
    ///
    /// - Throws: the first error that came up while pages were read from the checkpoint; no version is made.
    /// - Complexity: O(pages touched)
    package func finish() throws(StoreError) -> ObjectIndex {
        precondition(!isFinished, "the edit is finished")
        if let failure { throw failure }
        guard ownsRoot else {
            isFinished = true
            return base
        }
        for page in touched where page.unsettled == 0 || touched.count > Self.lookedThroughMaximum {
            pack(IndexNode.slot(page.directory, page.slot))
        }
        isFinished = true
        return ObjectIndex(tree, pages, maximumKey: maximumKey)
    }

    /// Puts a finished page in its smaller form.
    private func pack(_ slot: UnsafeMutablePointer<Atomic<UInt>>) {
        let full = IndexNode.pointer(slot.pointee.load(ordering: .relaxed))
        let values = UnsafePointer(IndexNode.values(full))
        if let count = IndexRuns.countRuns(values) {
            let isEmpty = count == 1 && values[0] == 0
            let packed = isEmpty ? 0 : UInt(bitPattern: IndexRuns.pack(values, count: count, pages.lineage))
            slot.pointee.store(isEmpty ? 0 : packed | IndexNode.runsTag, ordering: .relaxed)
        } else if let count = IndexSparse.countPresent(values) {
            let packed = UInt(bitPattern: IndexSparse.pack(values, count: count, pages.lineage))
            slot.pointee.store(packed | IndexNode.sparseTag, ordering: .relaxed)
        } else {
            return
        }
        pages.lineage.free(full, IndexNode.fullPageByteCount)
    }

    // MARK: Finding and copying what is to change

    /// Makes the page the current one, writable. False when it could not be read; the error is kept.
    private func openPage(_ page: UInt64, replacingAll: Bool) -> Bool {
        precondition(!isFinished, "the edit is finished")
        let directory = ownDirectory(of: page << IndexNode.pageBits)
        let index = Int(truncatingIfNeeded: page) & (IndexNode.fanout - 1)
        let slot = IndexNode.slot(directory, index)
        let found = slot.pointee.load(ordering: .relaxed)
        var full: UnsafeMutableRawPointer
        if found > IndexNode.lazy, found & IndexNode.runsTag == 0,
            IndexNode.owner(IndexNode.pointer(found)) == identifier
        {
            full = IndexNode.pointer(found)
            if touched.count <= Self.lookedThroughMaximum {
                current = touched.firstIndex { $0.directory == directory && $0.slot == index } ?? 0
            }
        } else {
            do throws(StoreError) {
                full = try copyPage(found, directory, page, replacingAll: replacingAll)
            } catch {
                if failure == nil { failure = error }
                return false
            }
            slot.pointee.store(UInt(bitPattern: full), ordering: .relaxed)
            current = touched.count
            let wasFull = found > IndexNode.lazy && found & IndexNode.tagMask == 0
            touched.append(
                reservingOne: Touched(directory: directory, slot: index, unsettled: wasFull ? Self.unsettledMaximum : 0)
            )
        }
        currentPage = page
        currentValues = IndexNode.values(full)
        return true
    }

    /// A full page of this edit with the old page's values; gives up the slot's reference to the old one.
    private func copyPage(
        _ old: UInt, _ directory: UnsafeMutableRawPointer, _ page: UInt64, replacingAll: Bool
    ) throws(StoreError) -> UnsafeMutableRawPointer {
        var source = old
        if source == IndexNode.lazy {
            source = replacingAll ? 0 : try pages.load(directory, pageNumber: page)
        }
        let full = IndexNode.makeFullPage(pages.lineage, owner: identifier)
        let values = IndexNode.values(full)
        if source == 0 || replacingAll {
            values.initialize(repeating: 0, count: IndexNode.keysPerPage)
        } else if source & IndexNode.tagMask == IndexNode.sparseTag {
            IndexSparse.unpack(IndexNode.pointer(source), into: values)
        } else if source & IndexNode.runsTag != 0 {
            IndexRuns.unpack(IndexNode.pointer(source), into: values)
        } else {
            values.initialize(from: IndexNode.values(IndexNode.pointer(source)), count: IndexNode.keysPerPage)
        }
        IndexNode.release(source, level: 0, pages.lineage)
        return full
    }

    /// The directory of the key's page, with every node on the way to it owned by this edit.
    private func ownDirectory(of key: UInt64) -> UnsafeMutableRawPointer {
        ownRoot()
        while !tree.covers(key) {
            let root = IndexNode.makeDirectory(pages.lineage, owner: identifier)
            IndexNode.slot(root, 0).pointee.store(UInt(bitPattern: tree.root), ordering: .relaxed)
            tree = IndexTree(root: root, topShift: tree.topShift + IndexNode.fanoutBits)
        }
        var node = tree.root
        var shift = tree.topShift
        while shift > IndexNode.pageBits {
            let slot = IndexNode.slot(node, IndexTree.slotNumber(key, shift))
            let child = slot.pointee.load(ordering: .relaxed)
            shift -= IndexNode.fanoutBits
            if child == 0 {
                node = IndexNode.makeDirectory(pages.lineage, owner: identifier)
                slot.pointee.store(UInt(bitPattern: node), ordering: .relaxed)
                continue
            }
            node = IndexNode.pointer(child)
            if IndexNode.owner(node) != identifier {
                node = IndexNode.copyDirectory(node, pages.lineage, owner: identifier)
                slot.pointee.store(UInt(bitPattern: node), ordering: .relaxed)
                let level = Int((shift - IndexNode.pageBits) / IndexNode.fanoutBits) + 1
                IndexNode.release(child, level: level, pages.lineage)
            }
        }
        return node
    }

    private func ownRoot() {
        if ownsRoot { return }
        tree.root = IndexNode.copyDirectory(tree.root, pages.lineage, owner: identifier)
        ownsRoot = true
    }
}

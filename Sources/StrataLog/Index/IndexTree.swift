internal import CStrataSupport
internal import Synchronization

/// The tree of directories above the pages: shared by an index and by an edit of it.
struct IndexTree {
    typealias Pointer = UnsafeMutableRawPointer

    /// A directory.
    var root: Pointer
    /// Bits of the key below the root's slot number: 9 when the root's children are pages.
    var topShift: UInt64

    /// Distance of the root from the pages: 1 when its children are pages.
    var height: Int { Int((topShift - IndexNode.pageBits) / IndexNode.fanoutBits) + 1 }

    @inline(__always)
    func covers(_ key: UInt64) -> Bool { key >> (topShift + IndexNode.fanoutBits) == 0 }

    @inline(__always)
    static func slotNumber(_ key: UInt64, _ shift: UInt64) -> Int {
        Int(truncatingIfNeeded: (key >> shift) & UInt64(IndexNode.fanout - 1))
    }

    /// The directory of the key's page, or nil where there is none.
    @inline(__always)
    func directory(of key: UInt64) -> Pointer? {
        guard covers(key) else { return nil }
        var node = root
        var shift = topShift
        while shift > IndexNode.pageBits {
            // Relaxed: slots of upper directories never change once the tree is published.
            let child = IndexNode.slot(node, Self.slotNumber(key, shift)).pointee.load(ordering: .relaxed)
            if child == 0 { return nil }
            node = IndexNode.pointer(child)
            shift -= IndexNode.fanoutBits
        }
        return node
    }

    /// How many low bits of a key may differ without there being a page for it; nil where it has one.
    func emptyShift(at key: UInt64) -> UInt64? {
        guard covers(key) else { return 48 }
        var node = root
        var shift = topShift
        while true {
            let child = IndexNode.slot(node, Self.slotNumber(key, shift)).pointee.load(ordering: .relaxed)
            if child == 0 { return shift }
            if shift == IndexNode.pageBits { return nil }
            node = IndexNode.pointer(child)
            shift -= IndexNode.fanoutBits
        }
    }

    @inline(__always)
    func location(of key: UInt64, _ pages: PageLoader) throws(StoreError) -> Location {
        guard let directory = directory(of: key) else { return .absent }
        var slot = IndexNode.slot(directory, Self.slotNumber(key, IndexNode.pageBits))
            .pointee.load(ordering: .acquiring)
        if slot == IndexNode.lazy { slot = try pages.load(directory, pageNumber: key >> IndexNode.pageBits) }
        let offset = Int(truncatingIfNeeded: key) & (IndexNode.keysPerPage - 1)
        if slot & IndexNode.runsTag != 0 {
            let page = IndexNode.pointer(slot)
            let isSparse = slot & IndexNode.tagMask == IndexNode.sparseTag
            return Location(rawValue: isSparse ? IndexSparse.value(page, offset) : IndexRuns.value(page, offset))
        }
        if slot == 0 { return .absent }
        return Location(rawValue: IndexNode.values(IndexNode.pointer(slot))[offset])
    }

    /// Asks the processor for the part of the key's page that says where its row lies.
    @inline(__always)
    func prefetch(_ key: UInt64) {
        guard let directory = directory(of: key) else { return }
        let slot = IndexNode.slot(directory, Self.slotNumber(key, IndexNode.pageBits))
            .pointee.load(ordering: .acquiring)
        if slot <= IndexNode.lazy { return }
        let page = IndexNode.pointer(slot)
        if slot & IndexNode.runsTag == 0 {
            strata_prefetch(IndexNode.values(page) + (Int(truncatingIfNeeded: key) & (IndexNode.keysPerPage - 1)))
        } else {
            // Mostly a few runs; of a sparse page what says which location it is.
            strata_prefetch(page)
            strata_prefetch(page + 64)
        }
    }

    /// Calls the body with each directory of pages and the number of its first page, in order, from the one that
    /// holds `firstKey`. False stops.
    func forEachDirectory<Failure: Error>(
        from firstKey: UInt64 = 0, _ body: (Pointer, UInt64) throws(Failure) -> Bool
    ) throws(Failure) {
        guard covers(firstKey) else { return }
        _ = try visit(root, shift: topShift, prefix: 0, from: firstKey, body)
    }

    private func visit<Failure: Error>(
        _ node: Pointer, shift: UInt64, prefix: UInt64, from firstKey: UInt64,
        _ body: (Pointer, UInt64) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        if shift == IndexNode.pageBits { return try body(node, prefix >> IndexNode.pageBits) }
        let below = firstKey > prefix ? (firstKey - prefix) >> shift : 0
        for index in Int(below)..<IndexNode.fanout {
            let child = IndexNode.slot(node, index).pointee.load(ordering: .relaxed)
            if child == 0 { continue }
            let goesOn = try visit(
                IndexNode.pointer(child), shift: shift - IndexNode.fanoutBits,
                prefix: prefix + UInt64(index) << shift, from: firstKey, body)
            if !goesOn { return false }
        }
        return true
    }
}

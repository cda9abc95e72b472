internal import CStrataSupport
internal import Synchronization

/// Bringing rows into the processor's caches that are going to be read soon: a row that lies in a block which was not
/// read for a while costs a cache miss for each step of the way to a value, one after the other. Asked for some rows
/// ahead, the misses of several rows overlap.
///
/// The three steps depend on each other: each follows pointers that the one before has asked for. Columns that were
/// never decoded are passed over. Slots are bits of a mask, the first 64 count.
extension Block {
    private func known(_ slots: UInt64) -> UInt64 {
        slotCount >= 64 ? slots : slots & (1 << UInt64(slotCount) - 1)
    }

    /// More lines than this are not asked for when only some of the columns between the first and the last are wanted.
    private static let viewLinesMaximum = 8
    private static let lineBytes = 64

    /// Asks for what says where the slots' columns lie.
    package func prefetchViews(_ slots: UInt64) {
        let known = known(slots)
        if known == 0 { return }
        strata_prefetch(UnsafeRawPointer(ready))
        let (first, last) = (known.trailingZeroBitCount, 63 - known.leadingZeroBitCount)
        let stride = MemoryLayout<ColumnView>.stride
        let start = UnsafeRawPointer(views + first)
        let span = (last - first + 1) * stride
        if span <= Self.viewLinesMaximum * Self.lineBytes {
            for offset in Swift.stride(from: 0, to: span, by: Self.lineBytes) { strata_prefetch(start + offset) }
            strata_prefetch(start + span - 1)
            return
        }
        var rest = known
        while rest != 0 {
            let view = UnsafeRawPointer(views + rest.trailingZeroBitCount)
            strata_prefetch(view)
            strata_prefetch(view + stride - 1)
            rest &= rest - 1
        }
    }

    /// Asks for all that a row's values take: their misses overlap, though those of the steps do not.
    package func prefetch(_ row: Int, _ slots: UInt64) {
        // Two values wait for each other no longer than this would take.
        if slots.nonzeroBitCount < 3 { return }
        prefetchViews(slots)
        prefetchValues(row, slots)
        prefetchBytes(row, slots)
    }

    /// Asks for a row's key and version.
    package func prefetchKey(_ row: Int) {
        guard row < rowCount else { return }
        // SAFETY: both have an entry for each row.
        if let keys { strata_prefetch(UnsafeRawPointer(keys + row)) }
        if let sequences { strata_prefetch(UnsafeRawPointer(sequences + row)) }
    }

    /// Asks for a row's values, and for where its bytes lie.
    package func prefetchValues(_ row: Int, _ slots: UInt64) {
        guard row < rowCount else { return }
        var rest = known(slots)
        while rest != 0 {
            let slot = rest.trailingZeroBitCount
            rest &= rest - 1
            if ready[slot].load(ordering: .acquiring) == 0 { continue }
            let view = views + slot
            // SAFETY: the row is one of the column's, whose values are of this width; offsets take four bytes.
            let width = view.pointee.width == 0 ? 4 : Int(view.pointee.width)
            strata_prefetch(view.pointee.values + row &* width)
        }
    }

    /// Asks for a row's texts and other bytes.
    package func prefetchBytes(_ row: Int, _ slots: UInt64) {
        guard row < rowCount else { return }
        var rest = known(slots)
        while rest != 0 {
            let slot = rest.trailingZeroBitCount
            rest &= rest - 1
            if ready[slot].load(ordering: .acquiring) == 0 { continue }
            let view = views + slot
            guard view.pointee.width == 0 else { continue }
            // SAFETY: the row is one of the column's, which has one offset more than rows.
            let offsets = view.pointee.values.assumingMemoryBound(to: UInt32.self)
            let (start, end) = (Int(offsets[row]), Int(offsets[row &+ 1]))
            guard end > start else { continue }
            let bytes = view.pointee.heap + start
            strata_prefetch(bytes)
            // Text is short: it mostly ends in the same line or the next two.
            if end - start > 1 { strata_prefetch(view.pointee.heap + end - 1) }
            if end - start > Self.lineBytes { strata_prefetch(bytes + Self.lineBytes) }
        }
    }

    /// The object that a row refers to, if the slot is a reference whose column has been decoded; else a null one.
    package func knownReference(_ row: Int, _ slot: Int) -> ObjectRef {
        guard slot < slotCount, row < rowCount, ready[slot].load(ordering: .acquiring) != 0,
            views[slot].kind == .reference
        else { return .null }
        return views[slot].reference(row)
    }
}

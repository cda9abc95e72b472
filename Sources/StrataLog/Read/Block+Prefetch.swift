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

    /// Asks for what says where the slots' columns lie.
    package func prefetchViews(_ slots: UInt64) {
        strata_prefetch(UnsafeRawPointer(ready))
        var rest = known(slots)
        while rest != 0 {
            strata_prefetch(UnsafeRawPointer(views + rest.trailingZeroBitCount))
            rest &= rest - 1
        }
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
            strata_prefetch(view.pointee.heap + start)
            // Text is short: what does not begin in the first line mostly ends in the second or third.
            if end - start > 32 { strata_prefetch(view.pointee.heap + end - 1) }
        }
    }
}

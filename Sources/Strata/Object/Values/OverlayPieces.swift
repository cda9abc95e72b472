import CStrataSupport
import StrataSupport

/// The pieces of memory that overlays are cut from, for all contexts.
///
/// The objects of an import are freed on another thread than the one that makes the next ones. By way of the heap each
/// piece would cost both of them its lock, for which one mostly had to wait for the other. A piece is one page, and
/// pages that are used together lie beside each other, so that the processor's page tables reach far.
enum OverlayPieces {
    static let byteCount = 4_096
    /// How many pieces that nobody uses keep their memory: the objects of two saves of 10,000. That of others goes back
    /// to the system; only their addresses stay.
    private static let maximumWarm = 1_024
    /// How many pieces are asked for at a time: what is aligned as large pages are.
    private static let slabCount = 512

    private struct Lists: @unchecked Sendable {
        // Unchecked: the pieces in the lists belong to them.

        /// The piece that was given back last; each begins with a pointer to the one before it.
        var warm: UnsafeMutableRawPointer?
        var warmCount = 0
        var cold: [UnsafeMutableRawPointer] = []
        /// What has never been used of the last slab.
        var fresh: UnsafeMutableRawPointer?
        var freshCount = 0

        mutating func take() -> UnsafeMutableRawPointer {
            if let piece = warm {
                warm = piece.load(as: UnsafeMutableRawPointer?.self)
                warmCount -= 1
                return piece
            }
            if let piece = cold.popLast() { return piece }
            if freshCount == 0 {
                fresh = strata_pages_map_small(slabCount * byteCount)
                freshCount = slabCount
            }
            guard let piece = fresh else {
                fatalError("there is no memory for the values of managed objects")
            }
            fresh = piece + byteCount
            freshCount -= 1
            return piece
        }

        /// Returns whether the piece can keep its memory.
        mutating func give(_ piece: UnsafeMutableRawPointer) -> Bool {
            guard warmCount < maximumWarm else { return false }
            piece.storeBytes(of: warm, as: UnsafeMutableRawPointer?.self)
            warm = piece
            warmCount += 1
            return true
        }
    }

    private static let lists = AdaptiveMutex(Lists())

    /// Uninitialised memory.
    static func take() -> UnsafeMutableRawPointer {
        // SAFETY: as an address, since a lock's value must not be handed out; the piece is no longer in its lists.
        let address = lists.withLock { UInt(bitPattern: $0.take()) }
        return UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
    }

    /// Gives back a piece that ``take()`` gave.
    static func give(_ piece: UnsafeMutableRawPointer) {
        let address = UInt(bitPattern: piece)
        let isKept = lists.withLock { $0.give(UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped) }
        if isKept { return }
        strata_pages_drop(piece, byteCount)
        lists.withLock { $0.cold.append(UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped) }
    }
}

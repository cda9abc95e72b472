import CStrataSupport
import Synchronization

/// Memory for the overlays of one context's objects, which an import makes and drops by the thousand: cut from pieces
/// of 4 KiB, each of which is given back when its last overlay is.
///
/// Overlays are made on the context's queue and freed on any thread. A piece that has one overlay left stays whole, so
/// only overlays of objects that are changed come from here, not those that cache a reference of a row.
struct OverlayArena: ~Copyable {
    /// What lies before every overlay: the piece it was cut from, nil if it has memory of its own; then, only where it
    /// has, whether it is short. As wide as the overlay's alignment.
    static let prefixBytes = 16
    private static let shortOffset = 8
    /// Larger overlays would leave too much of a piece unused.
    private static let maximumBytes = 512

    // SAFETY: a piece begins with the count of its overlays. Whoever drops the last one gives it back.
    private typealias Count = Atomic<Int>

    /// The count of a piece that overlays are still cut from, beside those that are gone already: what has been cut is
    /// counted when it is over, so that cutting one touches nothing that other threads do.
    private static let open = 1 << 32

    private var piece: UnsafeMutableRawPointer?
    private var used = OverlayPieces.byteCount
    private var cut = 0

    init() {}

    deinit {
        if let piece { Self.drop(piece, Self.open - cut) }
    }

    /// Uninitialised memory with a prefix, aligned to 16.
    mutating func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let needed = (byteCount + Self.prefixBytes + 15) & ~15
        if needed > Self.maximumBytes { return Self.allocateAlone(byteCount) }
        if used + needed > OverlayPieces.byteCount { begin() }
        guard let piece else { return Self.allocateAlone(byteCount) }
        let start = piece + used
        used += needed
        cut += 1
        start.storeBytes(of: piece, as: UnsafeMutableRawPointer?.self)
        return start + Self.prefixBytes
    }

    private mutating func begin() {
        if let piece { Self.drop(piece, Self.open - cut) }
        let new = OverlayPieces.take()
        new.bindMemory(to: Count.self, capacity: 1).initialize(to: Count(Self.open))
        (piece, used, cut) = (new, 16, 0)
    }

    /// Memory of its own, with a prefix that says so.
    static func allocateAlone(_ byteCount: Int, isShort: Bool = false) -> UnsafeMutableRawPointer {
        guard let start = strata_heap_allocate(byteCount + prefixBytes) else {
            fatalError("there is no memory for the values of a managed object")
        }
        start.storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
        start.storeBytes(of: isShort, toByteOffset: shortOffset, as: Bool.self)
        return start + prefixBytes
    }

    /// What ``allocateAlone(_:isShort:)`` was told of the memory.
    static func isShort(_ memory: UnsafeMutableRawPointer) -> Bool {
        let start = memory - prefixBytes
        return start.load(as: UnsafeMutableRawPointer?.self) == nil
            && start.load(fromByteOffset: shortOffset, as: Bool.self)
    }

    /// Gives back what either way of allocating gave. On any thread.
    static func free(_ memory: UnsafeMutableRawPointer) {
        let start = memory - prefixBytes
        if let piece = start.load(as: UnsafeMutableRawPointer?.self) { drop(piece, 1) } else { strata_heap_free(start) }
    }

    private static func drop(_ piece: UnsafeMutableRawPointer, _ count: Int) {
        // What other threads did to their overlays comes before the memory is given back.
        let (_, left) = piece.assumingMemoryBound(to: Count.self).pointee.wrappingSubtract(
            count, ordering: .acquiringAndReleasing)
        if left == 0 { OverlayPieces.give(piece) }
    }
}

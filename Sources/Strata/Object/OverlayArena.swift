import Synchronization

/// Memory for the overlays of one context's objects, which an import makes and drops by the thousand: cut from pieces
/// of 4 KiB, each of which is given back when its last overlay is.
///
/// Overlays are made on the context's queue and freed on any thread. A piece that has one overlay left stays whole, so
/// only overlays of objects that are changed come from here, not those that cache a reference of a row.
struct OverlayArena: ~Copyable {
    /// What lies before every overlay: the piece it was cut from, nil if it has memory of its own. As wide as the
    /// overlay's alignment.
    static let prefixBytes = 16
    private static let pieceBytes = 4_096
    /// Larger overlays would leave too much of a piece unused.
    private static let maximumBytes = 512

    // SAFETY: a piece begins with the count of its overlays, and one for the arena as long as it cuts from it. Whoever
    // drops the last one frees it.
    private typealias Count = Atomic<Int>

    private var piece: UnsafeMutableRawPointer?
    private var used = 0

    init() {}

    deinit {
        if let piece { Self.drop(piece) }
    }

    /// Uninitialised memory with a prefix, aligned to 16.
    mutating func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let needed = (byteCount + Self.prefixBytes + 15) & ~15
        if needed > Self.maximumBytes { return Self.allocateAlone(byteCount) }
        if piece == nil || used + needed > Self.pieceBytes { begin() }
        guard let piece else { return Self.allocateAlone(byteCount) }
        piece.assumingMemoryBound(to: Count.self).pointee.wrappingAdd(1, ordering: .relaxed)
        let start = piece + used
        used += needed
        start.storeBytes(of: piece, as: UnsafeMutableRawPointer?.self)
        return start + Self.prefixBytes
    }

    private mutating func begin() {
        if let piece { Self.drop(piece) }
        let new = UnsafeMutableRawPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
        new.bindMemory(to: Count.self, capacity: 1).initialize(to: Count(1))
        piece = new
        used = 16
    }

    /// Memory of its own, with a prefix that says so.
    static func allocateAlone(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let start = UnsafeMutableRawPointer.allocate(byteCount: byteCount + prefixBytes, alignment: 16)
        start.storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
        return start + prefixBytes
    }

    /// Gives back what either way of allocating gave. On any thread.
    static func free(_ memory: UnsafeMutableRawPointer) {
        let start = memory - prefixBytes
        if let piece = start.load(as: UnsafeMutableRawPointer?.self) { drop(piece) } else { start.deallocate() }
    }

    private static func drop(_ piece: UnsafeMutableRawPointer) {
        // What other threads did to their overlays comes before the memory is given back.
        let (left, _) = piece.assumingMemoryBound(to: Count.self).pointee.wrappingSubtract(
            1, ordering: .acquiringAndReleasing)
        if left == 1 { piece.deallocate() }
    }
}

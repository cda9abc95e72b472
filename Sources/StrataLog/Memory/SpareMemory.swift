/// Memory in pieces of one length that nobody uses for now, by address. The first word of each has the next one's
/// address; 0 is none. Not thread-safe.
struct SpareMemory {
    let byteCount: Int
    private let maximumCount: Int
    private var first: UInt = 0
    private var count = 0

    /// - Precondition: a piece has room for a word.
    init(byteCount: Int, maximumCount: Int) {
        precondition(byteCount >= MemoryLayout<UInt>.stride)
        self.byteCount = byteCount
        self.maximumCount = maximumCount
    }

    /// The address of uninitialised memory, or 0 when there is none.
    mutating func take() -> UInt {
        let piece = first
        // SAFETY: the piece was set aside, and nobody else writes to it until it is taken.
        if let memory = UnsafeRawPointer(bitPattern: piece) {
            first = memory.load(as: UInt.self)
            count -= 1
        }
        return piece
    }

    /// False when there is enough: the caller has to free the piece.
    mutating func setAside(_ piece: UInt) -> Bool {
        guard count < maximumCount, let memory = UnsafeMutableRawPointer(bitPattern: piece) else { return false }
        memory.storeBytes(of: first, as: UInt.self)
        first = piece
        count += 1
        return true
    }

    mutating func deallocate() {
        while let memory = UnsafeMutableRawPointer(bitPattern: take()) { memory.deallocate() }
    }
}

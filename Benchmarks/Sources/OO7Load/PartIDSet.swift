/// The atomic parts of one composite part that a traversal has visited: the same for every contestant, so that none
/// pays for its set.
public struct PartIDSet {
    private static let slotCount = 512
    private var slots = [Int64](repeating: 0, count: slotCount)
    private var filled: [Int] = []

    public init() {}

    /// Adds a part.
    ///
    /// - Parameter id: not 0. No composite part has as many parts as there are slots.
    /// - Returns: whether the part is new.
    public mutating func insert(_ id: Int64) -> Bool {
        // Parts of a composite part have consecutive numbers: they lie beside one another.
        var slot = Int(id & Int64(Self.slotCount - 1))
        while slots[slot] != 0 {
            if slots[slot] == id { return false }
            slot = (slot + 1) % Self.slotCount
        }
        slots[slot] = id
        filled.append(slot)
        return true
    }

    public mutating func removeAll() {
        for slot in filled { slots[slot] = 0 }
        filled.removeAll(keepingCapacity: true)
    }
}

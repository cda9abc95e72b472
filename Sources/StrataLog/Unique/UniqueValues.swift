/// The values that a row may not have, since another one has them already.
public struct UniqueValues: Sendable {
    fileprivate let slots: [Int]
    /// As ``UniqueKey`` makes them.
    fileprivate let bytes: [UInt8]
}

extension WriteTransaction {
    /// The values that a conflict of this transaction is about.
    ///
    /// - Returns: nil when the conflict is another transaction's.
    public func values(of conflict: UniqueConflict) -> UniqueValues? {
        guard let changes = uniqueChanges, let position = changes.position(conflict.constraint, conflict.ref) else {
            return nil
        }
        return UniqueValues(
            slots: changes.rules.constraints[conflict.constraint].slots,
            bytes: Array(changes.values(changes.added[position])))
    }
}

extension Snapshot {
    /// Whether an object's row is there and has these values. Others may have changed it since they were in the way.
    ///
    /// - Throws: `.corruption` or `.io`, naming segment and offset.
    /// - Complexity: O(1); reads one block when it is not cached.
    public func has(_ values: UniqueValues, _ ref: ObjectRef) throws(StoreError) -> Bool {
        guard let row = try row(ref) else { return false }
        var bytes: [UInt8] = []
        return try UniqueKey.append(values.slots, of: row, reading: source, to: &bytes) && bytes == values.bytes
    }
}

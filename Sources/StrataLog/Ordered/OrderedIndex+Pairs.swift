// Indexes over two references: which objects rows of an entity pair up, read from the entries alone.
extension OrderedIndexDefinition {
    /// Whether it is over two references, in ascending order.
    fileprivate var isOfPairs: Bool {
        elements.count == 2 && elements.allSatisfy { $0.kind == .reference && !$0.isDescending } && filter == nil
    }
}

extension Snapshot {
    /// The index over two references of an entity's rows that begins with a slot; nil while there is none, or while it
    /// is being built.
    package func pairs(of entity: UInt16, from slot: Int) -> OrderedIndex? {
        for position in ordered.rules.indexes(of: entity) {
            let index = ordered.list[position]
            if index.isReady, index.definition.isOfPairs, index.definition.elements[0].slot == slot { return index }
        }
        return nil
    }
}

extension OrderedIndex {
    private static let componentByteCount = 9

    /// Hands out what rows pair an object with, in the order of that, until the body returns false. Reads no row.
    ///
    /// - Parameter body: is given the other object and the row.
    /// - Precondition: ``Snapshot/pairs(of:from:)`` has handed the index out.
    /// - Throws: `.io` or `.corruption` when a block of the checkpoint has to be read and cannot be; what the body
    ///   throws.
    /// - Complexity: O(log n + objects).
    package func forEachPair(
        of object: ObjectRef, _ body: (_ other: ObjectRef, _ row: ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try Self.withKey(object, nil) { key throws(StoreError) in
            try forEachEntry(prefix: key) { entry throws(StoreError) in
                guard let other = Self.other(entry) else { return true }
                return try body(other, OrderedBlock.ref(entry))
            }
        }
    }

    /// The row that pairs two objects, the first one in the slot that the index begins with; nil when none does.
    ///
    /// - Throws: as ``forEachPair(of:_:)``.
    /// - Complexity: O(log n)
    package func row(pairing object: ObjectRef, with other: ObjectRef) throws(StoreError) -> ObjectRef? {
        var row: ObjectRef?
        try Self.withKey(object, other) { key throws(StoreError) in
            try forEachEntry(prefix: key) { entry throws(StoreError) in
                row = OrderedBlock.ref(entry)
                return false
            }
        }
        return row
    }

    /// The second of the two; nil for a row whose slot is empty.
    private static func other(_ entry: UnsafeRawBufferPointer) -> ObjectRef? {
        guard entry.count == 2 * componentByteCount + OrderedBlock.refByteCount, let start = entry.baseAddress else {
            return nil
        }
        return OrderedBlock.ref(endingAt: start + 2 * componentByteCount)
    }

    private static func withKey(
        _ first: ObjectRef, _ second: ObjectRef?,
        _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        let result = withUnsafeTemporaryAllocation(byteCount: 2 * componentByteCount, alignment: 8) {
            memory -> Result<Void, StoreError> in
            func write(_ ref: ObjectRef, at offset: Int) {
                memory[offset] = OrderedKey.present[0]
                memory.storeBytes(
                    of: (ref.key << 16 | UInt64(ref.entity)).bigEndian, toByteOffset: offset + 1, as: UInt64.self)
            }
            write(first, at: 0)
            if let second { write(second, at: componentByteCount) }
            let key = UnsafeRawBufferPointer(
                rebasing: memory[..<(second == nil ? componentByteCount : 2 * componentByteCount)])
            return Result { () throws(StoreError) in try body(key) }
        }
        try result.get()
    }
}

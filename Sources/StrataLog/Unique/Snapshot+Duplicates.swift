extension Snapshot {
    /// Two objects that break a constraint which the store may not have enforced so far; nil if no two do.
    ///
    /// - Throws: `.io`, or `.corruption` with segment and offset.
    /// - Complexity: O(n) in the objects that the constraint binds, each of whose rows is read; 12 to 36 bytes of
    ///   memory for each of them.
    public func duplicates(
        breaking constraint: UniqueConstraint
    ) throws(StoreError) -> (first: ObjectRef, second: ObjectRef)? {
        let entities = Set(constraint.entities)
        var table = UniqueTable(minimumCapacity: constraint.entities.reduce(0) { $0 + count(entity: $1) })
        var found: (first: ObjectRef, second: ObjectRef)?
        var block: Block?
        var bytes: [UInt8] = []
        var others: [UInt8] = []
        try forEachRun(root: constraint.root) { run throws(StoreError) in
            if block?.location != run.location.block { block = try source.block(at: run.location) }
            guard let block, entities.contains(block.entity) else { return true }
            for offset in 0..<run.count {
                let row = Row(block: block, index: run.location.row + offset)
                bytes.removeAll(keepingCapacity: true)
                guard try UniqueKey.append(constraint.slots, of: row, reading: source, to: &bytes) else { continue }
                let hash = bytes.withUnsafeBytes(UniqueKey.hash)
                try table.forEach(hash) { candidate throws(StoreError) in
                    others.removeAll(keepingCapacity: true)
                    guard let other = try self.row(candidate),
                        try UniqueKey.append(constraint.slots, of: other, reading: source, to: &others),
                        others == bytes
                    else { return true }
                    found = (candidate, row.ref)
                    return false
                }
                if found != nil { return false }
                table.insert(hash, row.ref)
            }
            return true
        }
        return found
    }
}

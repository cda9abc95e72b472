import StrataLog

extension IntegerSet {
    func union(_ other: IntegerSet) -> IntegerSet {
        if count == 0 { return other }
        if other.count == 0 { return self }
        return IntegerSet(values + other.values)
    }

    func intersection(_ other: IntegerSet) -> IntegerSet {
        let (small, large) = count <= other.count ? (self, other) : (other, self)
        return IntegerSet(small.values.filter { large.contains($0) })
    }

    /// The keys of all objects of a root entity and its subentities.
    init(keysOf root: UInt16, _ snapshot: Snapshot) throws(StoreError) {
        var keys: [Int64] = []
        try snapshot.forEachRun(root: root) { run in
            let first = Int64(run.firstKey)
            keys.append(contentsOf: first..<first + Int64(run.count))
            return true
        }
        self.init(keys)
    }
}

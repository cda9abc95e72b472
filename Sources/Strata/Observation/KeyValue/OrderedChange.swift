import Foundation

/// How observers are told that the members of a relationship change.
struct OrderedChange {
    let kind: NSKeyValueChange
    /// The places that change: those that are new or replaced after the change, those that go before it. Nil where the
    /// whole collection is set.
    let indexes: IndexSet?

    /// The whole collection is another one.
    static let setting = OrderedChange(.setting, nil)

    init(_ kind: NSKeyValueChange, _ indexes: IndexSet?) {
        self.kind = kind
        self.indexes = indexes
    }

    /// What makes one order of another: members come, members go, or as many places have others. Anything else sets
    /// the whole.
    ///
    /// - Complexity: O(n).
    init(from old: [NSManagedObject], to new: [NSManagedObject]) {
        if old.count == new.count {
            self.init(.replacement, IndexSet(old.indices.filter { old[$0] !== new[$0] }))
        } else if old.count < new.count {
            let indexes = Self.indexes(of: new, beyond: old)
            self.init(indexes == nil ? .setting : .insertion, indexes)
        } else {
            let indexes = Self.indexes(of: old, beyond: new)
            self.init(indexes == nil ? .setting : .removal, indexes)
        }
    }

    /// Where the members lie that the longer order has beyond the shorter one; nil unless the others are in the same
    /// order in both.
    private static func indexes(of longer: [NSManagedObject], beyond shorter: [NSManagedObject]) -> IndexSet? {
        var indexes = IndexSet()
        var found = 0
        for (index, object) in longer.enumerated() {
            if found < shorter.count, shorter[found] === object { found += 1 } else { indexes.insert(index) }
        }
        return found == shorter.count ? indexes : nil
    }
}

import StrataLog
import StrataSupport

/// An index that a fetch uses, and for what.
package struct IndexChoice {
    package let index: OrderedIndex
    package let name: String
    /// Where in the index the rows lie, ascending.
    package let ranges: [OrderedRange]
    /// Rows in the ranges, of all entities of the index.
    package let estimated: Int
    /// What the rows in the ranges still have to satisfy.
    let residual: CompiledPredicate
    /// Whether the index has entities that are not asked for.
    package let hasOthers: Bool
    /// Whether the rows are asked for against the order of the index.
    package let isDescending: Bool

    /// Whether every row in the ranges is a match.
    var isCovered: Bool { !residual.isSelective && residual.rest == nil }

    /// Whether the entries in the ranges are the matches: then they are counted without being read.
    package var isCounted: Bool { isCovered && !hasOthers }

    /// Hands out the objects in the ranges, in the order that was asked for, until the body returns false.
    ///
    /// - Parameters:
    ///   - skipped: so many of the first objects are left out; only if ``isCounted``.
    ///   - control: is asked now and then whether to go on.
    package func forEach(
        of entities: EntityNumbers, skipping skipped: Int = 0, _ control: RequestControl?,
        _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) {
        precondition(skipped == 0 || isCounted, "what is not looked at is skipped as it is")
        var untilCheck = Self.refsPerCheck
        try index.forEach(in: ranges, descending: isDescending, skipping: skipped) { ref throws(StoreError) in
            untilCheck -= 1
            if untilCheck == 0 {
                untilCheck = Self.refsPerCheck
                try control?.checkRead()
            }
            if hasOthers, !entities.contains(ref.entity) { return true }
            return try body(ref)
        }
    }

    private static let refsPerCheck = 1_024

    /// The objects in the ranges, by key.
    package func refs(of entities: EntityNumbers, _ control: RequestControl?) throws(StoreError) -> [ObjectRef] {
        var refs: [ObjectRef] = []
        refs.reserveCapacity(estimated)
        try forEach(of: entities, control) { ref throws(StoreError) in
            refs.append(ref)
            return true
        }
        refs.sort { $0.key < $1.key }
        return refs
    }
}

/// What of its matches a request wants of an index.
enum IndexWish {
    /// How many there are.
    case count
    /// Some in the index's order, and none of those before.
    case page(offset: Int, limit: Int)
    /// All.
    case rows
}

/// Whether fetches use ordered indexes. Only tests change it, to compare the results.
package enum IndexUse: Sendable {
    /// Where an index is likely to be quicker.
    case automatic
    case never
    /// Wherever one can be used.
    case always

    package static let setting = ScopedSetting(IndexUse.automatic)

    package static var current: IndexUse { setting.value }
}

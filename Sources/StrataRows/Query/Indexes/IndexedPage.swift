import StrataLog

/// Where in an index the results of a request lie, in order.
///
/// It holds nothing of a snapshot: as long as the index is one that has grown out of that which was chosen, the places
/// stay, whatever rows came and went.
package final class IndexedPage: Sendable {
    /// Of the index.
    package let name: String
    private let position: Int
    private let version: OrderedIndex.Version
    private let ranges: [OrderedRange]
    private let isDescending: Bool

    package init(
        name: String, position: Int, version: OrderedIndex.Version, ranges: [OrderedRange], isDescending: Bool
    ) {
        self.name = name
        self.position = position
        self.version = version
        self.ranges = ranges
        self.isDescending = isDescending
    }

    /// After so many changes of the index another choice may be better.
    private static let changesMaximum: UInt64 = 64

    /// Some of the objects; nil when the choice has to be made again, the index cannot be read, or the request should
    /// stop.
    ///
    /// - Parameter offset: how many come before the first one that is wanted.
    package func refs(
        _ snapshot: Snapshot, offset: Int, limit: Int, _ control: RequestControl? = nil
    ) -> [ObjectRef]? {
        let indexes = snapshot.orderedIndexes
        guard position < indexes.count else { return nil }
        let index = indexes[position]
        guard index.isReady, index.isExact, version.isBefore(index, byAtMost: Self.changesMaximum) else { return nil }
        if limit > Self.pageMaximum { return manyRefs(index, offset, limit, control) }
        var isRead = true
        let refs = [ObjectRef](unsafeUninitializedCapacity: limit) { buffer, count in
            guard let base = buffer.baseAddress else { return }
            isRead = forEach(index, skipping: offset) { ref in
                (base + count).initialize(to: ref)
                count += 1
                return count < limit
            }
        }
        return isRead ? refs : nil
    }

    private func manyRefs(
        _ index: OrderedIndex, _ offset: Int, _ limit: Int, _ control: RequestControl?
    ) -> [ObjectRef]? {
        var refs: [ObjectRef] = []
        let isRead = forEach(index, skipping: offset) { ref in
            refs.append(ref)
            if refs.count % Self.pageMaximum == 0, control?.isStopped == true { return false }
            return refs.count < limit
        }
        return isRead && control?.isStopped != true ? refs : nil
    }

    /// Hands out the objects until the body returns false. False if the index cannot be read: the long way says what is
    /// wrong, and has a damaged index built anew.
    private func forEach(_ index: OrderedIndex, skipping skipped: Int, _ body: (ObjectRef) -> Bool) -> Bool {
        do throws(StoreError) {
            try index.forEach(in: ranges, descending: isDescending, skipping: skipped, body)
            return true
        } catch {
            return false
        }
    }

    /// Room for more results than this is made as they are found.
    private static let pageMaximum = 1_024
}

extension IndexedPage {
    /// The way through an index that was chosen for a request's order; nil unless the index alone answers the request.
    package convenience init?(_ choice: IndexChoice, in snapshot: Snapshot) {
        // What is asked of references may have been turned into those of the snapshot.
        guard choice.isCounted, case .automatic = IndexUse.current,
            !choice.index.definition.elements.contains(where: { $0.kind == .reference }),
            let position = snapshot.orderedIndexes.firstIndex(where: { $0 === choice.index })
        else { return nil }
        self.init(
            name: choice.name, position: position, version: choice.index.version, ranges: choice.ranges,
            isDescending: choice.isDescending)
    }
}

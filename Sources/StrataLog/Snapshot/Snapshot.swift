internal import StrataSupport

/// The store as it was after one transaction.
///
/// Immutable and safe to use from any thread. Keeping it keeps its index pages in memory and its rows readable;
/// taking and releasing one costs a reference count.
public final class Snapshot: Sendable {
    /// Number of the newest transaction it shows, 0 for a new store.
    public let sequence: UInt64
    /// Time of that transaction, nanoseconds since 1970; 0 for a new store.
    public let timestampNanoseconds: Int64

    let layout: StoreLayout
    /// Parallel to the layout's roots.
    let indexes: [ObjectIndex]
    let postings: NumberTable<Postings>
    /// Live objects by entity number.
    let counts: [Int]
    let ordered: OrderedIndexes
    let source: BlockSource
    /// The end of the log as this snapshot shows it, and the checksum the next record repeats.
    let end: LogPosition
    let checksum: UInt32
    /// Keeps the segments that the snapshot reads.
    let epoch: SegmentEpoch

    init(
        sequence: UInt64, timestampNanoseconds: Int64, layout: StoreLayout, indexes: [ObjectIndex],
        postings: NumberTable<Postings>, counts: [Int], source: BlockSource, end: LogPosition, checksum: UInt32,
        ordered: OrderedIndexes = .none, epoch: SegmentEpoch? = nil
    ) {
        self.ordered = ordered
        self.sequence = sequence
        self.timestampNanoseconds = timestampNanoseconds
        self.layout = layout
        self.indexes = indexes
        self.postings = postings
        self.counts = counts
        self.source = source
        self.end = end
        self.checksum = checksum
        self.epoch = epoch ?? source.epoch
    }

    /// A store without objects whose log ends at `end`.
    static func empty(layout: StoreLayout, source: BlockSource, end: LogWriter.End) -> Snapshot {
        Snapshot(
            sequence: end.sequence, timestampNanoseconds: 0, layout: layout,
            indexes: layout.roots.map { _ in ObjectIndex() }, postings: NumberTable(),
            counts: Array(repeating: 0, count: layout.entityLimit), source: source, end: end.position,
            checksum: end.checksum)
    }

    private func with(
        indexes: [ObjectIndex], postings: NumberTable<Postings>, ordered: OrderedIndexes
    ) -> Snapshot {
        Snapshot(
            sequence: sequence, timestampNanoseconds: timestampNanoseconds, layout: layout, indexes: indexes,
            postings: postings, counts: counts, source: source, end: end, checksum: checksum, ordered: ordered,
            epoch: epoch)
    }

    /// The same contents with other ordered indexes.
    func with(_ ordered: OrderedIndexes) -> Snapshot {
        with(indexes: indexes, postings: postings, ordered: ordered)
    }

    /// The same contents, with rows from another source: one of the same store.
    func with(_ source: BlockSource) -> Snapshot {
        Snapshot(
            sequence: sequence, timestampNanoseconds: timestampNanoseconds, layout: layout, indexes: indexes,
            postings: postings, counts: counts, source: source, end: end, checksum: checksum, ordered: ordered,
            epoch: epoch)
    }

    /// The same contents, with the runs of postings and ordered indexes kept apart from those that come later.
    ///
    /// - Throws: never in practice: runs lie in memory.
    func sealed() throws(StoreError) -> Snapshot {
        with(indexes: indexes, postings: postings.mapValues { $0.sealed() }, ordered: try ordered.sealed())
    }

    /// The same contents, read from a checkpoint as far as they are in it.
    ///
    /// - Parameters:
    ///   - reopened: opened from a checkpoint of `sealed`.
    ///   - sealed: the snapshot before this one in whose place ``sealed()`` was published last.
    ///   - letsPagesGo: whether an index that has not changed since does without its pages in memory.
    func rebased(onto reopened: Snapshot, from sealed: Snapshot, letsPagesGo: Bool) -> Snapshot {
        let indexes = zip(layout.roots, indexes).map { root, index in
            guard let position = reopened.layout.position(ofRoot: root) else { return index }
            if letsPagesGo, let before = sealed.layout.position(ofRoot: root),
                sealed.indexes[before].isSameVersion(as: index)
            {
                return reopened.indexes[position]
            }
            return index.rebased(onto: reopened.indexes[position])
        }
        var postings = postings
        for (id, list) in zip(postings.numbers, postings.values) {
            guard let base = reopened.postings[id], let before = sealed.postings[id] else { continue }
            postings[id] = list.rebased(onto: base, from: before)
        }
        return with(
            indexes: indexes, postings: postings,
            ordered: ordered.rebased(onto: reopened.ordered, from: sealed.ordered))
    }

    /// Where the object's row lies; `.absent` when there is no such object. Of the reference only root entity and key
    /// count.
    ///
    /// - Throws: `.corruption` when a page of the checkpoint is damaged, `.io` when it cannot be read.
    /// - Complexity: O(1): three memory accesses once the page is loaded.
    public func locate(_ ref: ObjectRef) throws(StoreError) -> Location {
        guard let position = layout.position(ofEntity: ref.entity) else { return .absent }
        return try indexes[position].location(of: ref.key)
    }

    /// As ``locate(_:)`` for several objects, which wait for memory together. A row whose place cannot be read counts
    /// as absent.
    package func locate(
        _ numbers: Range<Int>, _ ref: (Int) -> ObjectRef, _ found: (_ number: Int, _ location: Location) -> Void
    ) {
        // Most are of one root: its index is looked up, and a reference to it counted, once.
        var position: Int?
        var index: ObjectIndex?
        for number in numbers {
            let ref = ref(number)
            let own = layout.position(ofEntity: ref.entity)
            if own != position { (position, index) = (own, own.map { indexes[$0] }) }
            index?.prefetch(ref.key)
        }
        for number in numbers {
            let ref = ref(number)
            let own = layout.position(ofEntity: ref.entity)
            if own != position { (position, index) = (own, own.map { indexes[$0] }) }
            found(number, (try? index?.location(of: ref.key)) ?? .absent)
        }
    }

    /// The object's row, or nil when there is no such object.
    ///
    /// ```swift
    /// let row = try receipt.snapshot.row(ObjectRef(entity: 1, key: key))
    /// let title = try row.map { try $0.block.column(0).string($0.index) }
    /// ```
    ///
    /// - Throws: `.corruption` or `.io`, naming segment and offset.
    /// - Complexity: O(1); reads one block when it is not cached.
    public func row(_ ref: ObjectRef) throws(StoreError) -> Row? {
        // Nothing that the snapshot shows is taken away while it is read.
        defer { withExtendedLifetime(self) {} }
        let location = try locate(ref)
        if location.isAbsent { return nil }
        let row = try source.row(at: location)
        guard row.ref.key == ref.key else {
            throw StoreError(
                .corruption, "the row of object \(ref.key) is that of \(row.ref.key)", segment: location.segment,
                offset: location.byteOffset)
        }
        return row
    }

    /// The block at a location that the snapshot shows, from the cache or the disk. Unlike
    /// ``LogStore/block(at:)`` it cannot find that compaction has taken the block away.
    ///
    /// - Throws: `.io`, or `.corruption` with segment and offset.
    public func block(at location: Location) throws(StoreError) -> Block {
        defer { withExtendedLifetime(self) {} }
        return try source.block(at: location)
    }

    /// How many objects of exactly this entity there are, without subentities. O(1).
    public func count(entity: UInt16) -> Int {
        Int(entity) < counts.count ? counts[Int(entity)] : 0
    }

    /// The objects whose relationship with this postings number refers to `target`, ascending.
    ///
    /// - Complexity: O(log n + result); reads no rows.
    public func referrers(postings id: UInt16, to target: ObjectRef) throws(StoreError) -> [ObjectRef] {
        guard let list = postings[id] else { return [] }
        return try list.referrers(of: target)
    }

    /// Calls the body with the objects that ``referrers(postings:to:)`` would return, ascending; false stops.
    ///
    /// - Complexity: O(log n + result); reads no rows.
    package func forEachReferrer(
        postings id: UInt16, to target: ObjectRef, _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try postings[id]?.forEachReferrer(of: target, body)
    }

    /// How many objects ``referrers(postings:to:)`` would return.
    ///
    /// - Complexity: O(log n); reads no rows.
    public func referrerCount(postings id: UInt16, to target: ObjectRef) throws(StoreError) -> Int {
        guard let list = postings[id] else { return 0 }
        return try list.count(of: target)
    }

    /// Where the rows of a root entity and its subentities lie; nil when it has none.
    package func objectIndex(root: UInt16) -> ObjectIndex? {
        layout.position(ofRoot: root).map { indexes[$0] }
    }

    /// Visits the rows of a root entity and its subentities, as runs of neighbouring rows with ascending keys, until
    /// `body` returns false.
    public func forEachRun(root: UInt16, _ body: (RowRun) throws(StoreError) -> Bool) throws(StoreError) {
        try forEachRun(root: root, in: nil, body)
    }

    /// As ``forEachRun(root:_:)`` for the rows in some segments (nil: in all).
    func forEachRun(
        root: UInt16, in segments: SegmentSet?, _ body: (RowRun) throws(StoreError) -> Bool
    ) throws(StoreError) {
        guard let position = layout.position(ofRoot: root) else { return }
        try indexes[position].forEachRun(in: segments, body)
    }
}

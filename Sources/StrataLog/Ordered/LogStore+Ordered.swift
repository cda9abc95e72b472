internal import Dispatch
internal import StrataSupport
internal import Synchronization

extension Snapshot {
    /// The ordered indexes of the store, also those that are not ready yet.
    public var orderedIndexes: [OrderedIndex] { ordered.list }

    /// Which indexes these are, and in which order: the same object as long as they are the same.
    package var orderedRules: OrderedRules { ordered.rules }

    /// The index at a position among ``orderedIndexes``.
    package func orderedIndex(at position: Int) -> OrderedIndex { ordered.list[position] }
}

extension LogStore {
    /// From now on the store keeps these ordered indexes and no others. Which they are is not stored in the log, only
    /// in checkpoints: whoever opens the store says it.
    ///
    /// Indexes that are there go on; others of the store's checkpoint are dropped. One that is new is empty for an
    /// empty store; else it is built in the background, while commits go on (or at once, if checkpoints are not written
    /// in the background), and is not ready before that. Building that is interrupted begins again with the next
    /// opening. A store opened for reading only keeps what it has and builds nothing.
    ///
    /// - Throws: `.closed`.
    public func maintain(_ definitions: [OrderedIndexDefinition]) throws(StoreError) {
        guard !isReadOnly, snapshot.ordered.rules.definitions != definitions else { return buildMissingIndexes() }
        try withWriter { _ throws(StoreError) in
            publishOrdered(snapshot.ordered.adopting(definitions))
        }
        buildMissingIndexes()
    }

    /// Drops what there is of an index that turned out damaged, and builds it anew.
    public func rebuild(_ index: OrderedIndex) {
        try? withWriter { _ throws(StoreError) in
            let ordered = snapshot.ordered
            guard let position = ordered.list.firstIndex(where: { $0.lineage === index.lineage }) else { return }
            publishOrdered(ordered.replacing(position, with: OrderedIndex(unbuilt: index.definition)))
        }
        buildMissingIndexes()
    }

    /// To be called with the writer's lock held.
    private func publishOrdered(_ ordered: OrderedIndexes) {
        let current = snapshot
        published.withLock { $0 = current.with(ordered) }
        state.withLock { $0.orderedRules = ordered.rules }
    }

    /// Starts building indexes that are not ready, unless somebody is at it.
    func buildMissingIndexes() {
        guard !isReadOnly, snapshot.ordered.list.contains(where: { !$0.isReady }) else { return }
        let isNeeded = state.withLock { state in
            guard !state.isBuildingIndexes, !state.isClosed else { return false }
            state.isBuildingIndexes = true
            return true
        }
        guard isNeeded else { return }
        let isSmall = snapshot.ordered.list.allSatisfy { $0.isReady || Self.rowCount($0, snapshot) == 0 }
        if options.checkpointsInBackground, !isSmall {
            DispatchQueue.global(qos: .utility).async { [self] in buildIndexes() }
        } else {
            buildIndexes()
        }
    }

    private static func rowCount(_ index: OrderedIndex, _ snapshot: Snapshot) -> Int {
        index.definition.entities.reduce(0) { $0 + snapshot.count(entity: $1) }
    }

    private func buildIndexes() {
        defer { state.withLock { $0.isBuildingIndexes = false } }
        var failed: [OrderedIndex.Lineage] = []
        while let (index, base) = beginBuilding(except: failed) {
            do throws(StoreError) {
                let sorter = OrderedSorter(
                    maximumByteCount: options.indexBuildMaximumBytes,
                    scratch: OrderedScratch(index.definition, of: self))
                let builder = OrderedIndexBuilder(index.definition, base)
                guard let list = try builder.build(with: sorter, while: { !isClosed }) else { return }
                try withWriter { _ throws(StoreError) in
                    let ordered = snapshot.ordered
                    guard let position = ordered.list.firstIndex(where: { $0.lineage === index.lineage }) else {
                        return
                    }
                    publishOrdered(ordered.replacing(position, with: ordered.list[position].built(list)))
                }
            } catch {
                // A row cannot be read, or the store is closed: queries go on without the index.
                failed.append(index.lineage)
            }
        }
    }

    /// An index to build, begun anew, and what is to be in it: what is committed from now on it notes by itself.
    private func beginBuilding(except failed: [OrderedIndex.Lineage]) -> (OrderedIndex, Snapshot)? {
        try? withWriter { _ throws(StoreError) in
            let ordered = snapshot.ordered
            let missing = ordered.list.firstIndex { index in
                !index.isReady && !failed.contains { $0 === index.lineage }
            }
            guard let missing else { return nil }
            let begun = OrderedIndex(unbuilt: ordered.list[missing].definition)
            publishOrdered(ordered.replacing(missing, with: begun))
            return (begun, snapshot)
        }
    }
}

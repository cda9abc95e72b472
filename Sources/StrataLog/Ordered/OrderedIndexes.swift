/// The ordered indexes of a store, by the entities whose rows are in them.
package final class OrderedRules: Sendable {
    static let none = OrderedRules([])

    let definitions: [OrderedIndexDefinition]
    /// For each index the slots on which its entries depend.
    let slots: [SlotSet]
    private let byEntity: [UInt16: [Int]]

    init(_ definitions: [OrderedIndexDefinition]) {
        self.definitions = definitions
        slots = definitions.map(\.slots)
        var byEntity: [UInt16: [Int]] = [:]
        for (index, definition) in definitions.enumerated() {
            for entity in definition.entities { byEntity[entity, default: []].append(index) }
        }
        self.byEntity = byEntity
    }

    func indexes(of entity: UInt16) -> [Int] { byEntity[entity] ?? [] }

    var isEmpty: Bool { definitions.isEmpty }
}

/// One version of all ordered indexes of a store. Immutable.
final class OrderedIndexes: Sendable {
    static let none = OrderedIndexes(.none, [])

    let rules: OrderedRules
    /// Parallel to the rules' definitions.
    let list: [OrderedIndex]

    init(_ rules: OrderedRules, _ list: [OrderedIndex]) {
        self.rules = rules
        self.list = list
    }

    convenience init(_ list: [OrderedIndex]) {
        self.init(OrderedRules(list.map(\.definition)), list)
    }

    private func with(_ list: [OrderedIndex]) -> OrderedIndexes { OrderedIndexes(rules, list) }

    /// The same indexes with one exchanged.
    func replacing(_ position: Int, with index: OrderedIndex) -> OrderedIndexes {
        var list = list
        list[position] = index
        return with(list)
    }

    /// Those of some definitions; the ones that are not there yet have to be built.
    func adopting(_ definitions: [OrderedIndexDefinition]) -> OrderedIndexes {
        OrderedIndexes(
            definitions.map { definition in
                list.first { $0.definition == definition } ?? OrderedIndex(unbuilt: definition)
            })
    }

    /// The version after a transaction.
    func applying(_ transaction: WriteTransaction) throws(StoreError) -> OrderedIndexes {
        if rules.isEmpty { return self }
        guard let changes = transaction.orderedChanges, changes.rules === rules else {
            // The transaction was begun before the indexes were: those of its entities have missed it.
            let missed = Set(transaction.writers.flatMap { rules.indexes(of: $0.entity) })
            if missed.isEmpty { return self }
            var list = list
            for index in missed { list[index] = OrderedIndex(unbuilt: list[index].definition) }
            return with(list)
        }
        guard changes.isUsed else { return self }
        var list = list
        for (index, changed) in changes.lists.enumerated() {
            switch changed {
            case .entries(let entries): list[index] = try list[index].adding(entries)
            case .tooMany: list[index] = OrderedIndex(unbuilt: list[index].definition)
            case nil: break
            }
        }
        return with(list)
    }

    /// Tells which indexes can be read.
    var readyLineages: [OrderedIndex.Lineage] { list.filter(\.isReady).map(\.lineage) }

    func sealed() throws(StoreError) -> OrderedIndexes {
        list.isEmpty ? self : with(try list.map { index throws(StoreError) in try index.sealed() })
    }

    /// See ``OrderedIndex/rebased(onto:from:)``.
    func rebased(onto reopened: OrderedIndexes, from sealed: OrderedIndexes) -> OrderedIndexes {
        if list.isEmpty { return self }
        return with(
            list.map { index in
                guard let other = reopened.list.first(where: { $0.definition == index.definition }),
                    let before = sealed.list.first(where: { $0.definition == index.definition })
                else { return index }
                return index.rebased(onto: other, from: before)
            })
    }

    var memoryByteCount: Int { list.reduce(0) { $0 + $1.memoryByteCount } }
}

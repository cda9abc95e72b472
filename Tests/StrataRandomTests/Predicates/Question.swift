/// A fetch, and what it should find.
struct Question {
    struct Order {
        var path: Condition.Path
        var isAscending: Bool
    }

    var entity: String
    var withSubentities = true
    var condition: Condition?
    /// Objects that these leave equal follow each other by their keys; nil for no order at all.
    var orders: [Order]? = []
    var limit = 0
    var offset = 0
    var countsOnly = false
    /// Asks for dictionaries in place of objects.
    var table: Table?

    /// The keys of what is found, in order.
    func answer(_ world: World) -> [Int] {
        var keys = world.keys(entity, withSubentities: withSubentities)
        if let condition { keys.removeAll { condition.evaluate($0, world) != true } }
        if let orders, !orders.isEmpty {
            let rows = keys.map { key in (key, orders.map { $0.path.value(key, world) }) }
            keys = rows.sorted { Self.precedes($0, $1, orders) }.map(\.0)
        }
        keys.removeFirst(min(offset, keys.count))
        return limit == 0 ? keys : Array(keys.prefix(limit))
    }

    /// What it asks of: dictionaries show what is stored, also in a context with changes.
    func world(of oracle: Oracle, inNewContext isNew: Bool) -> World {
        isNew || table != nil ? oracle.stored : oracle.view
    }

    private static func precedes(_ a: (Int, [Value]), _ b: (Int, [Value]), _ orders: [Order]) -> Bool {
        for (index, order) in orders.enumerated() {
            let place = order.order(a.1[index], b.1[index])
            if place != 0 { return order.isAscending ? place < 0 : place > 0 }
        }
        return a.0 < b.0
    }
}

extension Question.Order {
    /// How two values lie to each other; null and not-a-number are equal and come before all others.
    func order(_ a: Value, _ b: Value) -> Int {
        switch (a.isNothing, b.isNothing) {
        case (true, true): 0
        case (true, false): -1
        case (false, true): 1
        case (false, false): a.order(b, path.attribute.kind)
        }
    }
}

import StrataLog

/// The entities whose rows a search wants, by the numbers that a store gives them.
package struct EntityNumbers: Sendable {
    /// By entity number.
    private let isMember: [Bool]
    package let count: Int

    package init(_ numbers: [UInt16]) {
        var isMember = [Bool](repeating: false, count: Int(numbers.max() ?? 0) + 1)
        for number in numbers { isMember[Int(number)] = true }
        self.isMember = isMember
        count = isMember.count { $0 }
    }

    /// Those of the entities that a store holds.
    package init(_ shapes: [EntityShape], in map: StoreMap) {
        self.init(shapes.map { map.numbers[$0.index] }.filter { $0 != 0 })
    }

    /// How many rows of the entities there are.
    package func rowCount(in snapshot: Snapshot) -> Int {
        isMember.indices.reduce(0) { isMember[$1] ? $0 + snapshot.count(entity: UInt16($1)) : $0 }
    }

    package func contains(_ number: UInt16) -> Bool { Int(number) < isMember.count && isMember[Int(number)] }
}

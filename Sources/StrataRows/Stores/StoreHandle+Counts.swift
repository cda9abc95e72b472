import StrataLog

extension StoreHandle {
    /// How many rows of some entities there are in a state of the store; none of those that it does not hold.
    package func rowCount(of shapes: [EntityShape], in snapshot: Snapshot) -> Int {
        shapes.reduce(0) { total, shape in
            map.holds(shape) ? total + snapshot.count(entity: map.numbers[shape.index]) : total
        }
    }
}

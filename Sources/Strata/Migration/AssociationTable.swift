import StrataLog

/// Which objects of the destination were made of which of the source, by one mapping. 16 bytes a pair.
///
/// Both are mostly made in the order of their keys, so that the pairs are sorted as they come.
struct AssociationTable {
    struct Pair {
        var source: ObjectRef
        var destination: ObjectRef
    }

    /// In the order in which the objects were made.
    private(set) var pairs: [Pair] = []
    private var areSourcesSorted = true
    private var areDestinationsSorted = true
    /// Positions in the order of the sources or destinations, once they are needed.
    private var bySource: [UInt32]?
    private var byDestination: [UInt32]?

    mutating func append(_ pair: Pair) {
        if let last = pairs.last {
            if last.source > pair.source { areSourcesSorted = false }
            if last.destination > pair.destination { areDestinationsSorted = false }
        }
        pairs.append(pair)
        bySource = nil
        byDestination = nil
    }

    /// - Complexity: O(log n); the first time after additions in another order, O(n log n).
    mutating func destinations(of source: ObjectRef) -> [ObjectRef] {
        if !areSourcesSorted, bySource == nil { bySource = sorted(by: \.source) }
        return search(source, bySource, \.source).map(\.destination)
    }

    /// - Complexity: as ``destinations(of:)``.
    mutating func sources(of destination: ObjectRef) -> [ObjectRef] {
        if !areDestinationsSorted, byDestination == nil { byDestination = sorted(by: \.destination) }
        return search(destination, byDestination, \.destination).map(\.source)
    }

    private func sorted(by key: KeyPath<Pair, ObjectRef>) -> [UInt32] {
        (0..<UInt32(pairs.count)).sorted {
            (pairs[Int($0)][keyPath: key], $0) < (pairs[Int($1)][keyPath: key], $1)
        }
    }

    private func search(_ ref: ObjectRef, _ order: [UInt32]?, _ key: KeyPath<Pair, ObjectRef>) -> [Pair] {
        func pair(_ index: Int) -> Pair { pairs[order.map { Int($0[index]) } ?? index] }
        var (low, high) = (0, pairs.count)
        while low < high {
            let middle = (low + high) / 2
            if pair(middle)[keyPath: key] < ref { low = middle + 1 } else { high = middle }
        }
        var found: [Pair] = []
        while low < pairs.count, pair(low)[keyPath: key] == ref {
            found.append(pair(low))
            low += 1
        }
        return found
    }
}

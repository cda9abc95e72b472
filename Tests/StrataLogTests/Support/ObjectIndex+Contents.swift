import Synchronization

@testable import StrataLog

extension ObjectIndex {
    /// The nodes that this version needs, counted one by one.
    var reachableNodeCount: Int { reachableNodes.count }

    /// The addresses of the nodes that this version needs.
    var reachableNodes: Set<UInt> {
        var nodes: Set<UInt> = []
        func visit(_ slot: UInt, _ level: Int) {
            guard slot > IndexNode.lazy else { return }
            let node = IndexNode.pointer(slot)
            nodes.insert(UInt(bitPattern: node))
            guard level > 0 else { return }
            if let table = IndexNode.table(node) { nodes.insert(UInt(bitPattern: table)) }
            for index in 0..<IndexNode.fanout {
                visit(IndexNode.slot(node, index).pointee.load(ordering: .acquiring), level - 1)
            }
        }
        visit(UInt(bitPattern: tree.root), tree.height)
        return nodes
    }

    /// All present keys, by way of the runs.
    func contents(from first: UInt64 = 0, to end: UInt64 = .max) throws -> [UInt64: Location] {
        var result: [UInt64: Location] = [:]
        try forEachRun(from: first, to: end) { run in
            for index in 0..<run.count {
                result[run.firstKey + UInt64(index)] = Location(
                    segment: run.location.segment, byteOffset: run.location.byteOffset,
                    row: run.location.row + index)
            }
            return true
        }
        return result
    }
}

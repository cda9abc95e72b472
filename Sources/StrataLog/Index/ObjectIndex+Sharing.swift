internal import Synchronization

extension ObjectIndex {
    /// Whether two versions have the same nodes for some keys, and so the same locations. When it is false, they may
    /// have the same locations in different nodes.
    ///
    /// - Complexity: O(nodes that differ); reads no pages.
    package func shares(_ keys: Range<UInt64>, with other: ObjectIndex) -> Bool {
        if self === other || keys.isEmpty { return true }
        guard tree.topShift == other.tree.topShift else { return false }
        defer { withExtendedLifetime((self, other)) {} }
        return Self.areSame(tree.root, other.tree.root, tree.topShift, prefix: 0, keys)
    }

    /// - Parameters:
    ///   - shift: of the directories.
    ///   - prefix: their first key.
    private static func areSame(
        _ a: IndexTree.Pointer, _ b: IndexTree.Pointer, _ shift: UInt64, prefix: UInt64, _ keys: Range<UInt64>
    ) -> Bool {
        if a == b { return true }
        let first = keys.lowerBound > prefix ? (keys.lowerBound - prefix) >> shift : 0
        let last = min(UInt64(IndexNode.fanout - 1), (keys.upperBound - 1 - prefix) >> shift)
        var number = first
        while number <= last {
            let x = IndexNode.slot(a, Int(number)).pointee.load(ordering: .acquiring)
            let y = IndexNode.slot(b, Int(number)).pointee.load(ordering: .acquiring)
            if x != y {
                if shift == IndexNode.pageBits || x == 0 || y == 0 { return false }
                let isSame = areSame(
                    IndexNode.pointer(x), IndexNode.pointer(y), shift - IndexNode.fanoutBits,
                    prefix: prefix + number << shift, keys)
                if !isSame { return false }
            } else if x == IndexNode.lazy {
                // Pages of two directories, of which nobody knows yet whether they are one.
                return false
            }
            number += 1
        }
        return true
    }
}

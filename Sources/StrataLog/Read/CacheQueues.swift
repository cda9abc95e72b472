/// The S3-FIFO queues of one part of a ``BlockCache``. Guarded by the part's lock.
struct CacheQueues: ~Copyable {
    private enum Queue: Int {
        case free, small, main, ghost
    }

    /// A block in a queue, or (ghost) the memory of one that was dropped.
    private struct Node {
        var key: UInt64 = 0
        var block: Unmanaged<Block>?
        var byteCount = 0
        var next = Self.none
        var uses: UInt8 = 0

        static let none = UInt32.max
    }

    /// First in, first out, linked through the nodes.
    private struct List {
        var head = Node.none
        var tail = Node.none
        var count = 0
        var byteCount = 0
    }

    private static let usesMaximum: UInt8 = 3

    private let budgetBytes: Int
    private var table = CacheTable()
    private var nodes: UnsafeMutablePointer<Node>
    private var nodeCapacity = 64
    /// Nodes handed out at least once.
    private var nodeCount = 0
    /// By ``Queue``.
    private let lists: UnsafeMutablePointer<List>
    /// Blocks that came in.
    private var tick: UInt32 = 0
    private var hits: UInt64 = 0
    private var misses: UInt64 = 0
    private var evictions: UInt64 = 0

    init(budgetBytes: Int) {
        self.budgetBytes = budgetBytes
        nodes = .allocate(capacity: nodeCapacity)
        lists = .allocate(capacity: 4)
        lists.initialize(repeating: List(), count: 4)
    }

    deinit {
        for index in 0..<nodeCount { nodes[index].block?.release() }
        nodes.deallocate()
        lists.deallocate()
    }

    private subscript(_ queue: Queue) -> List {
        lists[queue.rawValue]
    }

    var statistics: BlockCache.Statistics {
        BlockCache.Statistics(
            hits: hits, misses: misses, evictions: evictions, byteCount: heldBytes,
            blockCount: self[.small].count + self[.main].count)
    }

    @inline(__always)
    mutating func get(_ key: UInt64, hash: UInt64) -> Block? {
        reference(key, hash: hash)?.takeUnretainedValue()
    }

    /// As ``get(_:hash:)`` without counting a reference.
    @inline(__always)
    mutating func reference(_ key: UInt64, hash: UInt64) -> Unmanaged<Block>? {
        guard let entry = table.find(key, hash: hash), let block = entry.pointee.block else {
            misses &+= 1
            return nil
        }
        hits &+= 1
        if entry.pointee.tick != tick {
            entry.pointee.tick = tick
            let node = nodes + Int(entry.pointee.node)
            node.pointee.uses = min(node.pointee.uses + 1, Self.usesMaximum)
        }
        return block
    }

    func peek(_ key: UInt64, hash: UInt64) -> Block? {
        table.find(key, hash: hash)?.pointee.block?.takeUnretainedValue()
    }

    @inline(__always)
    func prefetch(hash: UInt64) { table.prefetch(hash: hash) }

    /// Where the block lies, if it is here. Nothing keeps it there once the lock is given back, and it does not count
    /// as used.
    @inline(__always)
    func address(_ key: UInt64, hash: UInt64) -> UnsafeRawPointer? {
        guard let entry = table.find(key, hash: hash), let block = entry.pointee.block else { return nil }
        return UnsafeRawPointer(block.toOpaque())
    }

    mutating func insert(_ block: Block, key: UInt64, hash: UInt64) -> Block {
        precondition(key != 0, "a block at the absent location")
        let found = table.find(key, hash: hash)
        if let present = found?.pointee.block { return present.takeUnretainedValue() }
        guard block.estimatedByteCount <= budgetBytes else { return block }
        tick &+= 1
        let ghost = found?.pointee.node
        if let ghost {
            // The ghost stays in its queue as an entry without a key until it comes out.
            table.remove(key)
            nodes[Int(ghost)].key = 0
        }
        makeRoom(block.estimatedByteCount)
        let index = takeNode()
        let kept = Unmanaged.passRetained(block)
        nodes[Int(index)] = Node(key: key, block: kept, byteCount: block.estimatedByteCount)
        append(index, to: ghost == nil ? .small : .main)
        table.insert(CacheTable.Entry(key: key, block: kept, node: index, tick: tick), hash: hash)
        return block
    }

    /// Forgets blocks, and the ghosts of blocks, of which `isUnwanted` says so.
    ///
    /// - Returns: the blocks, for the caller to let go of when the lock is given back.
    mutating func remove(
        where isUnwanted: @Sendable (_ key: UInt64, _ block: Unmanaged<Block>?) -> Bool
    ) -> [Block] {
        var removed: [Block] = []
        for queue in [Queue.small, .main, .ghost] {
            let list = self[queue]
            lists[queue.rawValue] = List()
            var index = list.head
            while index != Node.none {
                let node = nodes[Int(index)]
                if node.key == 0 || isUnwanted(node.key, node.block) {
                    if node.key != 0 { table.remove(node.key) }
                    if let block = node.block { removed.append(block.takeRetainedValue()) }
                    giveBack(index)
                } else {
                    append(index, to: queue)
                }
                index = node.next
            }
        }
        return removed
    }
}

// MARK: - Eviction

extension CacheQueues {
    private var heldBytes: Int { self[.small].byteCount + self[.main].byteCount }

    private mutating func makeRoom(_ byteCount: Int) {
        while heldBytes + byteCount > budgetBytes {
            let small = self[.small]
            if small.count > 0, small.byteCount > budgetBytes / 10 || self[.main].count == 0 {
                evictSmall()
            } else {
                evictMain()
            }
        }
    }

    /// Moves the oldest block of the small queue to the main one if it was used again, else drops it and remembers its
    /// key.
    private mutating func evictSmall() {
        let index = popFirst(.small)
        let node = nodes + Int(index)
        if node.pointee.uses > 0 {
            node.pointee.uses = 0
            append(index, to: .main)
            return
        }
        table.find(node.pointee.key, hash: CacheTable.hash(node.pointee.key))?.pointee.block = nil
        drop(node)
        append(index, to: .ghost)
        // As many ghosts as blocks held, so that "soon" follows the size of the cache.
        while self[.ghost].count > max(self[.small].count + self[.main].count, 16) {
            let oldest = popFirst(.ghost)
            let key = nodes[Int(oldest)].key
            if key != 0 { table.remove(key) }
            giveBack(oldest)
        }
    }

    /// Drops the oldest block of the main queue that was not used since it last came by.
    private mutating func evictMain() {
        while true {
            let index = popFirst(.main)
            let node = nodes + Int(index)
            if node.pointee.uses > 0 {
                node.pointee.uses -= 1
                append(index, to: .main)
                continue
            }
            table.remove(node.pointee.key)
            drop(node)
            giveBack(index)
            return
        }
    }

    private mutating func drop(_ node: UnsafeMutablePointer<Node>) {
        node.pointee.block?.release()
        node.pointee.block = nil
        node.pointee.byteCount = 0
        evictions &+= 1
    }
}

// MARK: - Nodes and lists

extension CacheQueues {
    private mutating func takeNode() -> UInt32 {
        if self[.free].count > 0 { return popFirst(.free) }
        if nodeCount == nodeCapacity {
            let grown = UnsafeMutablePointer<Node>.allocate(capacity: nodeCapacity * 2)
            grown.moveInitialize(from: nodes, count: nodeCount)
            nodes.deallocate()
            nodes = grown
            nodeCapacity *= 2
        }
        (nodes + nodeCount).initialize(to: Node())
        nodeCount += 1
        return UInt32(nodeCount - 1)
    }

    private func giveBack(_ index: UInt32) {
        nodes[Int(index)] = Node()
        append(index, to: .free)
    }

    private func append(_ index: UInt32, to queue: Queue) {
        let list = lists + queue.rawValue
        nodes[Int(index)].next = Node.none
        if list.pointee.tail == Node.none {
            list.pointee.head = index
        } else {
            nodes[Int(list.pointee.tail)].next = index
        }
        list.pointee.tail = index
        list.pointee.count += 1
        list.pointee.byteCount += nodes[Int(index)].byteCount
    }

    private func popFirst(_ queue: Queue) -> UInt32 {
        let list = lists + queue.rawValue
        let index = list.pointee.head
        list.pointee.head = nodes[Int(index)].next
        if list.pointee.head == Node.none { list.pointee.tail = Node.none }
        list.pointee.count -= 1
        list.pointee.byteCount -= nodes[Int(index)].byteCount
        return index
    }
}

internal import Synchronization

/// The S3-FIFO queues of one part of a ``BlockCache``. Guarded by the part's lock, but for what readers look at
/// (``CacheFront``).
struct CacheQueues: ~Copyable {
    enum Queue: Int {
        case free, small, main, ghost
    }

    /// A block in a queue, or (ghost) the memory of one that was dropped.
    struct Node {
        var key: UInt64 = 0
        var block: Unmanaged<Block>?
        var byteCount = 0
        var next = Self.none
        /// Where in the table its entry is.
        var entry: UInt32 = 0

        static let none = UInt32.max
    }

    /// First in, first out, linked through the nodes.
    struct List {
        var head = Node.none
        var tail = Node.none
        var count = 0
        var byteCount = 0
    }

    let budgetBytes: Int
    private let front: UnsafeMutablePointer<CacheFront>
    private var table: CacheTable
    /// Entries of the table that have a key, and those of them that are no longer needed.
    private var usedEntries = 0
    private var deadEntries = 0
    var nodes: UnsafeMutablePointer<Node>
    var nodeCapacity = 64
    /// Nodes handed out at least once.
    var nodeCount = 0
    /// By ``Queue``.
    let lists: UnsafeMutablePointer<List>
    /// Blocks that came in.
    private var tick: UInt32 = 0
    /// That of the last ``removeUnused()``.
    private var roundTick: UInt32 = 0
    private(set) var evictions: UInt64 = 0
    /// What readers may still look at.
    private var retired = RetiredMemory()

    /// - Parameter front: lives as long as the queues.
    init(budgetBytes: Int, front: UnsafeMutablePointer<CacheFront>) {
        self.budgetBytes = budgetBytes
        self.front = front
        table = CacheTable(room: 0)
        front.pointee.table.store(table.word, ordering: .sequentiallyConsistent)
        nodes = .allocate(capacity: nodeCapacity)
        lists = .allocate(capacity: 4)
        lists.initialize(repeating: List(), count: 4)
    }

    deinit {
        for index in 0..<nodeCount { nodes[index].block?.release() }
        nodes.deallocate()
        lists.deallocate()
        table.deallocate()
    }

    subscript(_ queue: Queue) -> List {
        lists[queue.rawValue]
    }

    var blockCount: Int { self[.small].count + self[.main].count }

    /// - Parameter allowance: what the part may hold; more than that only in the place of what it has.
    mutating func insert(_ block: Block, key: UInt64, hash: UInt64, allowance: Int) -> Block {
        precondition(key != 0, "a block at the absent location")
        let found = table.find(key, hash: hash)
        if let found, let present = Self.block(found) { return present.takeUnretainedValue() }
        guard block.estimatedByteCount <= budgetBytes else { return block }
        advanceTick()
        var isGhost = false
        if let found, found.pointee.node != CacheTable.noNode {
            // The ghost stays in its queue without a key until it comes out.
            isGhost = true
            nodes[Int(found.pointee.node)].key = 0
            forget(found)
        }
        makeRoom(block.estimatedByteCount, within: min(budgetBytes, max(allowance, heldBytes)))
        let index = takeNode()
        let kept = Unmanaged.passRetained(block)
        let slot = entry(for: key, hash: hash, node: index)
        nodes[Int(index)] = Node(
            key: key, block: kept, byteCount: block.estimatedByteCount, entry: UInt32(slot - table.entries))
        append(index, to: isGhost ? .main : .small)
        CacheTable.begin(slot, tick: tick)
        slot.pointee.block.store(UInt(bitPattern: kept.toOpaque()), ordering: .sequentiallyConsistent)
        return block
    }

    private mutating func advanceTick() {
        tick = CacheTable.tick(after: tick)
        front.pointee.tick.store(tick, ordering: .relaxed)
    }

    /// Forgets blocks, and the ghosts of blocks, of which `isUnwanted` says so.
    mutating func remove(where isUnwanted: @Sendable (_ key: UInt64, _ block: Unmanaged<Block>?) -> Bool) {
        remove { node, _ in isUnwanted(node.key, node.block) }
    }

    /// Forgets blocks that were neither found nor put in since the last call, and gives back what the table took for
    /// more than there is.
    mutating func removeUnused() {
        let (now, round) = (tick, CacheTable.distance(from: roundTick, to: tick))
        remove { _, entry in CacheTable.distance(from: CacheTable.tick(entry), to: now) > round }
        trimGhosts()
        // What is found from here on is told from what was found before.
        advanceTick()
        roundTick = tick
        shrinkTable()
    }

    /// Forgets blocks as for a smaller budget.
    mutating func shrink(to byteCount: Int) {
        makeRoom(0, within: byteCount)
        shrinkTable()
    }

    private mutating func remove(where isUnwanted: (Node, UnsafeMutablePointer<CacheTable.Entry>) -> Bool) {
        for queue in [Queue.small, .main, .ghost] {
            let list = self[queue]
            lists[queue.rawValue] = List()
            var index = list.head
            while index != Node.none {
                let node = nodes[Int(index)]
                if node.key == 0 || isUnwanted(node, entry(of: node)) {
                    if node.key != 0 { forget(entry(of: node)) }
                    if let block = node.block { retired.add(block, byteCount: node.byteCount) }
                    giveBack(index)
                } else {
                    append(index, to: queue)
                }
                index = node.next
            }
        }
    }

    /// Hands out what nobody looks at any more, for the caller to free when the lock has been given back.
    ///
    /// - Parameter isUrgent: whether a little is worth asking all readers.
    mutating func reclaim(isUrgent: Bool) -> RetiredMemory.Batch {
        // A part of the budget: as much may be in memory beside it.
        guard isUrgent || retired.byteCount > budgetBytes / 64 else { return RetiredMemory.Batch() }
        return retired.reclaim()
    }

    var hasRetired: Bool { !retired.isEmpty }
}

// MARK: - The table

extension CacheQueues {
    static func block(_ entry: UnsafeMutablePointer<CacheTable.Entry>) -> Unmanaged<Block>? {
        UnsafeRawPointer(bitPattern: entry.pointee.block.load(ordering: .relaxed)).map { .fromOpaque($0) }
    }

    private func entry(of node: Node) -> UnsafeMutablePointer<CacheTable.Entry> { table.entries + Int(node.entry) }

    /// The entry of a key, an old one or a new one.
    private mutating func entry(
        for key: UInt64, hash: UInt64, node: UInt32
    ) -> UnsafeMutablePointer<CacheTable.Entry> {
        if let dead = table.find(key, hash: hash) {
            deadEntries -= 1
            dead.pointee.node = node
            return dead
        }
        if !table.hasRoom(usedEntries) { renewTable() }
        usedEntries += 1
        return table.entries + table.insert(key, hash: hash, node: node)
    }

    /// The entry is no longer needed.
    private mutating func forget(_ entry: UnsafeMutablePointer<CacheTable.Entry>) {
        entry.pointee.block.store(0, ordering: .sequentiallyConsistent)
        entry.pointee.node = CacheTable.noNode
        deadEntries += 1
    }

    /// Puts what is needed into a new table. Readers of the old one find what was there.
    private mutating func renewTable() {
        let old = table
        let new = CacheTable(room: usedEntries - deadEntries + 1)
        for index in 0..<old.capacity {
            let entry = old.entries + index
            let (key, node) = (entry.pointee.key.load(ordering: .relaxed), entry.pointee.node)
            guard key != 0, node != CacheTable.noNode else { continue }
            let slot = new.insert(key, hash: CacheTable.hash(key), node: node)
            nodes[Int(node)].entry = UInt32(slot)
            new.entries[slot].mark.store(entry.pointee.mark.load(ordering: .relaxed), ordering: .relaxed)
            new.entries[slot].block.store(entry.pointee.block.load(ordering: .relaxed), ordering: .relaxed)
        }
        (usedEntries, deadEntries) = (usedEntries - deadEntries, 0)
        table = new
        front.pointee.table.store(new.word, ordering: .sequentiallyConsistent)
        retired.add(old)
    }
}

// MARK: - Giving back

extension CacheQueues {
    private static var smallNodeCapacity: Int { 1_024 }

    /// Moves nodes and entries to smaller memory once most of it stands empty.
    private mutating func shrinkTable() {
        let needed = blockCount + self[.ghost].count
        guard nodeCapacity > Self.smallNodeCapacity, needed * 4 <= nodeCapacity else { return }
        let old = nodes
        nodeCapacity = Self.smallNodeCapacity / 16
        while nodeCapacity < needed { nodeCapacity *= 2 }
        nodes = .allocate(capacity: nodeCapacity)
        nodeCount = 0
        lists[Queue.free.rawValue] = List()
        for queue in [Queue.small, .main, .ghost] {
            var index = self[queue].head
            lists[queue.rawValue] = List()
            while index != Node.none {
                let node = old[Int(index)]
                index = node.next
                let moved = UInt32(nodeCount)
                (nodes + nodeCount).initialize(to: node)
                nodeCount += 1
                if node.key != 0 { entry(of: node).pointee.node = moved }
                append(moved, to: queue)
            }
        }
        old.deallocate()
        renewTable()
    }
}

// MARK: - Eviction

extension CacheQueues {
    var heldBytes: Int { self[.small].byteCount + self[.main].byteCount }

    private mutating func makeRoom(_ byteCount: Int, within limit: Int) {
        while heldBytes + byteCount > limit, blockCount > 0 {
            let small = self[.small]
            if small.count > 0, small.byteCount > limit / 10 || self[.main].count == 0 {
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
        let entry = entry(of: node.pointee)
        if CacheTable.uses(entry) > 0 {
            CacheTable.setUses(entry, 0)
            append(index, to: .main)
            return
        }
        entry.pointee.block.store(0, ordering: .sequentiallyConsistent)
        drop(node)
        append(index, to: .ghost)
        trimGhosts()
    }

    /// As many ghosts as blocks held, so that "soon" follows the size of the cache.
    private mutating func trimGhosts() {
        while self[.ghost].count > max(blockCount, 16) {
            let oldest = popFirst(.ghost)
            let ghost = nodes[Int(oldest)]
            if ghost.key != 0 { forget(self.entry(of: ghost)) }
            giveBack(oldest)
        }
    }

    /// Drops the oldest block of the main queue that was not used since it last came by.
    private mutating func evictMain() {
        while true {
            let index = popFirst(.main)
            let node = nodes + Int(index)
            let entry = entry(of: node.pointee)
            let uses = CacheTable.uses(entry)
            if uses > 0 {
                CacheTable.setUses(entry, uses - 1)
                append(index, to: .main)
                continue
            }
            forget(entry)
            drop(node)
            giveBack(index)
            return
        }
    }

    /// - Precondition: the entry no longer shows the block.
    private mutating func drop(_ node: UnsafeMutablePointer<Node>) {
        if let block = node.pointee.block { retired.add(block, byteCount: node.pointee.byteCount) }
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

internal import StrataSupport

/// What was taken out of sight of readers who take no lock, until none of them looks at it any more.
struct RetiredMemory: ~Copyable {
    /// What may be freed.
    struct Batch {
        fileprivate var blocks: [(epoch: UInt64, block: Unmanaged<Block>)] = []
        fileprivate var tables: [(epoch: UInt64, table: CacheTable)] = []

        /// Frees it all. Without a lock: many blocks take a while.
        func free() {
            for (_, block) in blocks { block.release() }
            for (_, table) in tables { table.deallocate() }
        }

        /// Takes what is of earlier epochs out.
        fileprivate mutating func take(before epoch: UInt64) -> Batch {
            // Mostly nobody is looking.
            if (blocks.last?.epoch ?? 0) < epoch, (tables.last?.epoch ?? 0) < epoch {
                defer { self = Batch() }
                return self
            }
            let blockCount = blocks.prefix { $0.epoch < epoch }.count
            let tableCount = tables.prefix { $0.epoch < epoch }.count
            var taken = Batch()
            taken.blocks = Array(blocks[..<blockCount])
            taken.tables = Array(tables[..<tableCount])
            blocks.removeFirst(blockCount)
            tables.removeFirst(tableCount)
            return taken
        }
    }

    private var waiting = Batch()
    /// What the waiting blocks and tables take, about.
    private(set) var byteCount = 0

    init() {}

    deinit { waiting.free() }

    var isEmpty: Bool { waiting.blocks.isEmpty && waiting.tables.isEmpty }

    /// Takes the cache's reference over.
    mutating func add(_ block: Unmanaged<Block>, byteCount: Int) {
        waiting.blocks.append((ReadGuard.epoch, block))
        self.byteCount += byteCount
    }

    mutating func add(_ table: CacheTable) {
        waiting.tables.append((ReadGuard.epoch, table))
        byteCount += table.capacity * MemoryLayout<CacheTable.Entry>.stride
    }

    /// Hands out what nobody looks at any more. What is left is counted as nothing, so that it is asked for again only
    /// with what comes.
    mutating func reclaim() -> Batch {
        byteCount = 0
        return waiting.take(before: ReadGuard.nextEpoch())
    }
}

/// A workload, in the order in which they run: what an earlier one left is what a later one reads.
enum Group: String, CaseIterable {
    /// Inserts in key order, 10,000 rows a durable transaction; and the size on disk.
    case fillbatch
    /// Inserts of one row, each durable; one writer, and 8 and 32 that share flushes.
    case fillsync
    /// One field of a random row a transaction, which waits for no disk.
    case overwrite
    /// Reads by random key, decoded blocks and pages cached.
    case readrandom
    /// Reads with an empty block cache: the first row of a block and its neighbours, apart.
    case readcold
    /// Every row with every field, in key order.
    case readseq
    /// A predicate over all rows, and sums by department.
    case scan
    /// Ordered pages by index, and from departments to their persons.
    case index
    /// Conditions on the members of to-many relationships.
    case tomany
    /// Batch requests with both indexes live: inserting, updating and deleting.
    case batch
    /// Opening and reading the first row, after a clean close.
    case open
    /// The same after the process was killed.
    case openkilled
    /// Memory of the object index.
    case memory
    /// Half of the rows deleted, 10,000 a durable transaction; then nine tenths, and the space given back.
    case deletes
    /// A million changes of one field, 1,000 a durable transaction, while the store cleans up.
    case storm
    /// Making, reading, changing, saving and deleting managed objects.
    case objects

    var contestants: [ContestantName] {
        switch self {
        case .fillbatch:
            [
                .engine, .enginePlain, .objects, .sqlite, .sqliteDefault, .sqliteIndexed, .sqliteDefaultIndexed,
                .lmdb, .raw, .grdb,
            ]
        case .fillsync:
            [
                .engine, .raw, .rawReserved, .rawWritten, .engine8, .engine32, .objects, .sqlite, .sqliteDefault, .lmdb,
                .grdb,
            ]
        case .overwrite: [.engine, .objects, .sqlite, .sqliteDefault]
        case .readrandom, .readseq, .scan, .deletes, .open:
            [.engine, .objects, .sqlite, .sqliteDefault, .lmdb, .grdb]
        case .index: [.engine, .objects, .sqliteIndexed, .sqliteDefaultIndexed, .grdb]
        case .tomany: [.objects, .sqliteIndexed]
        case .batch: [.objects, .sqliteIndexed, .sqliteDefaultIndexed]
        case .readcold: [.engine, .objects]
        case .openkilled: [.engine, .objects, .sqlite, .lmdb]
        case .memory: [.engine]
        case .storm: [.engine, .engineForgetful, .sqlite, .sqliteDefault]
        case .objects: [.objects]
        }
    }

    /// Whether the group reads what fillbatch left.
    var needsFilledStore: Bool {
        switch self {
        case .fillbatch, .fillsync, .overwrite, .tomany, .batch, .openkilled, .storm, .objects: false
        case .readrandom, .readcold, .readseq, .scan, .index, .open, .memory, .deletes: true
        }
    }
}

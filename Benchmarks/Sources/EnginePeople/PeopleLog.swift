public import BenchSupport
import DataSet
import Glibc
import StrataIO
public import StrataLog
import SystemPackage

/// The people in the engine, without an object graph above it. The numbers of the data set are the primary keys.
public final class PeopleLog: BenchStore, StormStore, Sendable {
    /// How the store is opened.
    public struct Options: Sendable {
        public var flushing = Flushing.full
        /// Keep the persons of each department; only asked when the store is made.
        public var keepsPostings = true
        /// Keep an ordered index on age and name.
        public var isIndexed = false
        /// The budget of decoded blocks; nil for the engine's own.
        public var cacheByteCount: Int?
        /// Keep change tables, from which the history is read.
        public var keepsHistory = true

        public init() {}
    }

    public let store: LogStore

    /// Opens the store in `folder`, creating it with its departments when it is not there.
    public init(in folder: Folder, options: Options = Options()) throws {
        let isNew = folder.isEmpty
        var log = LogOptions()
        log.durability = options.flushing.durability
        if !options.keepsHistory { log.retention.historyFloor = .max }
        if let cacheByteCount = options.cacheByteCount { log.cacheMaximumBytes = cacheByteCount }
        store = try LogStore.open(
            FilePath(folder.path), in: PosixFileSystem(), options: log,
            schema: isNew ? PeopleSchema.schema(postings: options.keepsPostings) : nil)
        try store.maintain(options.isIndexed ? [PeopleSchema.index] : [])
        if isNew { try insertDepartments() }
    }

    public func buildIndex() throws {
        try store.maintain([PeopleSchema.index])
        while !(store.snapshot.orderedIndexes.first?.isReady ?? false) { usleep(1_000) }
    }

    private func insertDepartments() throws {
        let first = try store.allocateKeys(root: PeopleSchema.department, count: PersonRow.departmentCount)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: PeopleSchema.department)
        for number in 1...PersonRow.departmentCount {
            writer.beginInsert(key: first + UInt64(number) - 1)
            writer.set(0, departmentName(number))
            writer.endRow()
        }
        _ = try store.commit(transaction)
    }

    /// The reference to person `id`.
    @inline(__always)
    static func person(_ id: UInt64) -> ObjectRef {
        ObjectRef(entity: PeopleSchema.person, key: id)
    }

    /// Bytes of the records written so far.
    public var writtenByteCount: Int { store.statistics.writtenByteCount }

    /// What the engine did so far, for people to read.
    public var statisticsText: String { "\(store.statistics)" }

    public func settle() throws {
        try store.checkpoint()
    }

    /// The older of two checkpoints goes with the next.
    public func shrink() throws {
        try store.checkpoint()
        try store.compact()
        try store.checkpoint()
    }

    public func close() throws {
        try store.close()
    }
}

extension Flushing {
    var durability: LogOptions.Durability {
        switch self {
        case .full: .full
        case .interval: .interval(milliseconds: 100)
        case .system: .os
        }
    }
}

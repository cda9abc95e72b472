import BenchSupport
import DataSet

/// The modes of the protocol.
enum Mode: String {
    case load, loadi, open, opencold, delete, storm

    func run(_ session: Session) throws {
        switch self {
        case .load: try session.load()
        case .loadi: try session.loadIndexed()
        case .open: try session.openAndRead("W8")
        case .opencold:
            session.folder.dropPageCache()
            try session.openAndRead("W8c")
        case .delete: try session.deleteHalf()
        case .storm: try session.storm()
        }
    }
}

extension Session {
    /// W1i: the store always keeps the postings of the to-many relationship; the ordered index is the other one.
    func loadIndexed() throws {
        let rows = PersonRow.all(rowCount)
        let store = try variant.open(folder, .full, isIndexed: true)
        let seconds = try insert(rows, into: store)
        emitter.emit("W1i", "rows_per_s_with_indexes", Double(rowCount) / seconds, "rows/s")
        try store.close()
    }

    /// W8, W8c: opens, reads the first object with all fields.
    func openAndRead(_ workload: String) throws {
        let expected = PersonRow(id: 1).digest
        let (seconds, store) = try timed {
            let store = try open()
            guard try store.read([1], variant.wholeRow) == expected else {
                throw BenchFailure("the first row is wrong")
            }
            return store
        }
        emitter.emit(workload, "open_first_read_ms", seconds * 1e3, "ms")
        emitter.emit(workload, "peak_rss_MiB", MemoryUse().peakMebibytes, "MiB")
        try store.close()
    }

    /// W9: deletes about half of the rows, 10,000 a durable transaction.
    func deleteHalf() throws {
        let ids = (1...UInt64(rowCount)).filter(deletedHalf)
        let store = try open()
        try store.prepareKeys(rowCount)
        let (seconds, _) = try timed {
            for batch in Workload.batches(ids.count) { try store.delete(Array(ids[batch])) }
        }
        emitter.emit("W9", "rows_per_s", Double(ids.count) / seconds, "rows/s")
        emitter.emit("W9", "check", exactly: UInt64(ids.count), "rows")
        try store.close()
    }
}

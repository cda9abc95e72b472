import BenchSupport
import DataSet

/// One call of the program: what is measured, where, and over how many rows.
struct Session {
    let variant: Variant
    let folder: Folder
    let rowCount: Int
    let emitter: Emitter

    init(variant: Variant, folder: Folder, rowCount: Int) {
        self.variant = variant
        self.folder = folder
        self.rowCount = rowCount
        emitter = Emitter(peer: "strata-\(variant.rawValue)")
    }

    /// Opens the store with durable commits.
    func open() throws -> any BenchStore {
        try variant.open(folder, .full)
    }

    /// Inserts rows, 10,000 a durable transaction. Returns the seconds it took.
    func insert(_ rows: [PersonRow], into store: any BenchStore) throws -> Double {
        // Neither variant reads packed rows.
        let packed = PackedPeople([])
        return try timed {
            for batch in Workload.batches(rows.count) { try store.insert(rows[batch], packed: packed) }
        }.seconds
    }

    /// Says on standard error what the caches did, since every read figure depends on them.
    func noteCaches(_ workload: String, _ store: any BenchStore) {
        let text = store.statisticsText
        emitter.note("\(workload): " + (text.isEmpty ? "the layer does not report its block cache" : text))
    }
}

import BenchSupport
import DataSet

extension Session {
    /// W1, then everything that reads what it left, then W2.
    func load() throws {
        let rows = PersonRow.all(rowCount)
        let packedBytes = rows.reduce(0) { $0 + PackedPeople.packedByteCount($1) }
        let store = try open()
        let before = WriteCounters(devicesOf: folder.path)
        let seconds = try insert(rows, into: store)
        try store.settle()
        let after = WriteCounters(devicesOf: folder.path)
        emitter.emit("W1", "rows_per_s", Double(rowCount) / seconds, "rows/s")
        emitter.emit("W1", "disk_bytes", exactly: folder.allocatedBytes, "bytes")
        emitter.emit("W1", "device_bytes", exactly: after.deviceBytes - before.deviceBytes, "bytes")
        emitter.emit("W1", "packed_bytes", exactly: UInt64(packedBytes), "bytes")
        try scan(store)
        let (buildSeconds, _) = try timed { try store.buildIndex() }
        emitter.emit("W1", "index_build_s", buildSeconds, "s")
        try readRandom(store)
        try readPages(store)
        try traverse(store)
        try store.close()
        for flushing in Flushing.allCases { try commitSingly(flushing) }
    }

    /// W4, W4b. The blocks may still be in the cache from the load, as SQLite's pages may.
    private func scan(_ store: any BenchStore) throws {
        let queries: [(ScanQuery, String, String, String)] = [
            (.predicate, "W4", "rows_scanned_per_s", "rows"), (.groupSum, "W4b", "rows_per_s", "sum"),
        ]
        for (query, workload, metric, unit) in queries {
            let (seconds, check) = try timed { try store.scan(query) }
            guard let check else { continue }
            emitter.emit(workload, metric, Double(rowCount) / seconds, "rows/s")
            emitter.emit(workload, "check", exactly: check, unit)
        }
        noteCaches("W4", store)
    }

    /// W3: whole rows; W3z: two fields, nothing copied.
    private func readRandom(_ store: any BenchStore) throws {
        try store.prepareKeys(rowCount)
        var random = SplitMix64(7)
        let ids = (0..<Workload.randomReads).map { _ in random.next() % UInt64(rowCount) + 1 }
        for (workload, manner) in [("W3", variant.wholeRow), ("W3z", ReadManner.twoFields)] {
            let (seconds, check) = try timed { try store.read(ids, manner) }
            guard let check else { continue }
            emitter.emit(workload, "reads_per_s", Double(ids.count) / seconds, "reads/s")
            emitter.emit(workload, "ns_per_read", seconds / Double(ids.count) * 1e9, "ns")
            if workload == "W3" { emitter.emit(workload, "check", exactly: check, "digest") }
            noteCaches(workload, store)
        }
    }

    /// W5: whole objects of an ordered page; W5id: their IDs.
    private func readPages(_ store: any BenchStore) throws {
        for idsOnly in [false, true] {
            let starts = PageOrder.same.starts(Workload.pages, rowCount: rowCount)
            let (seconds, check) = try timed { try store.readPages(starts, idsOnly: idsOnly) }
            let workload = idsOnly ? "W5id" : "W5"
            emitter.emit(workload, "queries_per_s", Double(Workload.pages) / seconds, "queries/s")
            if !idsOnly { emitter.emit(workload, "check", exactly: check, "digest") }
        }
    }

    /// W6: from each department to its persons, reading all fields; W6n: their names only.
    private func traverse(_ store: any BenchStore) throws {
        for (workload, decodesAll) in [("W6", true), ("W6n", false)] {
            var count = 0
            var sum: UInt64 = 0
            let (seconds, _) = try timed {
                for department in 1...PersonRow.departmentCount {
                    let found = try store.traverse(department: department, decodesAll: decodesAll)
                    count += found.count
                    sum &+= found.digest
                }
            }
            emitter.emit(workload, "objects_per_s", Double(count) / seconds, "objects/s")
            emitter.emit(workload, "check", exactly: sum, "digest")
            noteCaches(workload, store)
        }
    }

    /// W2: one changed field a commit, flushed; W2n: the same with less durability.
    private func commitSingly(_ flushing: Flushing) throws {
        let store = try variant.open(folder, flushing)
        try store.prepareKeys(rowCount)
        settleDisks()
        let seed: UInt64 = flushing == .full ? 11 : flushing == .interval ? 12 : 13
        let rate = try SingleUpdates.run(Workload.singleCommits, seed: seed, rowCount: rowCount, on: store)
        let metric = flushing == .full ? "commits_per_s" : "commits_per_s_\(flushing.rawValue)"
        emitter.emit(flushing == .full ? "W2" : "W2n", metric, rate, "commits/s")
        try store.close()
    }
}

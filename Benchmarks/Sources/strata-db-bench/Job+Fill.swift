import BenchSupport
import DataSet
import EnginePeople

extension Job {
    /// Inserts all rows, 10,000 a durable transaction. The rows are made before the clock starts.
    func fillBatch() throws {
        let rows = PersonRow.all(rowCount)
        let packed = PackedPeople(rows)
        let people = try open()
        settleDisks()
        let before = WriteCounters(devicesOf: folder.path)
        let (seconds, _) = try timed {
            for batch in Workload.batches(rowCount) { try people.insert(rows[batch], packed: packed) }
        }
        let after = WriteCounters(devicesOf: folder.path)
        emit("rows_per_s", Double(rowCount) / seconds, "rows/s")
        emit(
            "write_amp", Double(after.systemCallBytes - before.systemCallBytes) / Double(packed.byteCount),
            "x of packed")
        // Closing folds SQLite's log into its file, as a checkpoint would.
        try people.close()
        emit("bytes_per_row", Double(folder.allocatedBytes) / Double(rowCount), "bytes")
        emit("disk_bytes", exactly: folder.allocatedBytes, "bytes")
    }

    /// One durable transaction for each row.
    func fillSync() throws {
        let commits = contestant == .grdb ? Workload.singleCommits / 4 : Workload.singleCommits * contestant.writers
        let rows = PersonRow.all(commits)
        let packed = PackedPeople(rows)
        let people = try open()
        settleDisks()
        let before = WriteCounters(devicesOf: folder.path)
        var latencies: [Double] = []
        let seconds: Double
        if contestant.writers > 1, let log = people as? PeopleLog {
            seconds = try GroupCommit.run(rows, writers: contestant.writers, into: log)
        } else {
            latencies.reserveCapacity(commits)
            let start = now()
            var last = start
            for index in rows.indices {
                try people.insert(rows[index...index], packed: packed)
                let end = now()
                latencies.append(end - last)
                last = end
            }
            seconds = last - start
        }
        let after = WriteCounters(devicesOf: folder.path)
        emit("commits_per_s", Double(commits) / seconds, "commits/s")
        if !latencies.isEmpty {
            latencies.sort()
            emit("p50_us", percentile(latencies, 0.5) * 1e6, "us")
            emit("p99_us", percentile(latencies, 0.99) * 1e6, "us")
        }
        emit(
            "record_bytes", exactly: (after.systemCallBytes - before.systemCallBytes) / UInt64(commits),
            "bytes written a commit")
        try people.close()
    }

    /// Deletes about half of the rows, 10,000 a durable transaction.
    func deleteHalf() throws {
        let ids = (1...UInt64(rowCount)).filter(deletedHalf)
        let people = try open()
        try people.prepareKeys(rowCount)
        settleDisks()
        let (seconds, _) = try timed {
            for batch in Workload.batches(ids.count) { try people.delete(Array(ids[batch])) }
        }
        emit("rows_per_s", Double(ids.count) / seconds, "rows/s")
        try people.close()
    }
}

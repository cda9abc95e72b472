import BenchSupport
import DataSet
import EnginePeople
import ObjectPeople

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
        let recordsBefore = (people as? PeopleLog)?.writtenByteCount ?? 0
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
        // The engine's without the zeros that it writes ahead: a raw log writes records of that length.
        let written =
            (people as? PeopleLog).map { UInt64($0.writtenByteCount - recordsBefore) }
            ?? after.systemCallBytes - before.systemCallBytes
        emit("record_bytes", exactly: written / UInt64(commits), "bytes written a commit")
        try people.close()
    }

    /// Updates of one row each, with the last ones at risk for 100 ms (SQLite: until its checkpoint), and as long as
    /// the system likes.
    func overwrite() throws {
        let rows = PersonRow.all(Workload.overwrittenRows)
        let packed = PackedPeople(rows)
        for (flushing, name) in [(Flushing.system, "unflushed"), (.interval, "interval")] {
            try folder.clear()
            guard let people = try contestant.open(in: folder, flushing) else {
                throw BenchFailure("\(contestant.rawValue) is only measured with full durability")
            }
            for batch in Workload.batches(rows.count) { try people.insert(rows[batch], packed: packed) }
            try people.prepareKeys(rows.count)
            settleDisks()
            let rate = try SingleUpdates.run(
                Workload.unflushedCommits, seed: 13, rowCount: rows.count, on: people)
            emit("\(name)_commits_per_s", rate, "commits/s")
            emit("check_\(name)", exactly: try people.scan(.groupSum) ?? 0, "digest")
            try people.close()
        }
    }

    /// Batch requests into a store with both indexes.
    func writeBatches() throws {
        let rows = PersonRow.all(rowCount)
        let packed = PackedPeople(rows)
        let people = try contestant.openIndexed(in: folder)
        settleDisks()
        let (inserting, _) = try timed { try people.insertInBatches(rows, packed: packed) }
        emit("insert_rows_per_s", Double(rowCount) / inserting, "rows/s")
        try people.prepareKeys(rowCount)
        settleDisks()
        let (updating, updated) = try timed { try people.setScore(1.5, fromAge: 40) }
        emit("update_rows_per_s", Double(updated) / updating, "rows/s")
        emit("check_updated", exactly: UInt64(updated), "rows")
        let ids = (1...UInt64(rowCount)).filter(deletedHalf)
        settleDisks()
        let (deleting, _) = try timed { try people.deleteInBatches(ids) }
        emit("delete_rows_per_s", Double(ids.count) / deleting, "rows/s")
        settleDisks()
        let (deletingByPredicate, deleted) = try timed { try people.deleteActive() }
        emit("delete_by_predicate_rows_per_s", Double(deleted) / deletingByPredicate, "rows/s")
        emit("check_deleted", exactly: UInt64(deleted), "rows")
        emit("check_left", exactly: try people.scan(.groupSum) ?? 0, "digest")
        if let graph = people as? PeopleGraph {
            settleDisks()
            let (inserting, _) = try timed { try graph.insertDictionaries(rows) }
            emit("insert_dictionaries_rows_per_s", Double(rowCount) / inserting, "rows/s")
        }
        try people.close()
    }

    /// Deletes about half of the rows, 10,000 a durable transaction; then as many more that one of ten is left, and
    /// gives back the space.
    func deleteHalf() throws {
        let ids = (1...UInt64(rowCount)).filter(deletedHalf)
        let full = folder.allocatedBytes
        let people = try open()
        try people.prepareKeys(rowCount)
        settleDisks()
        let (seconds, _) = try timed {
            for batch in Workload.batches(ids.count) { try people.delete(Array(ids[batch])) }
        }
        emit("rows_per_s", Double(ids.count) / seconds, "rows/s")
        guard let store = people as? any ShrinkingStore else { return try people.close() }
        let others = (1...UInt64(rowCount)).filter { !deletedHalf($0) }
        let more = others.indices.filter { $0 % 5 != 0 }.map { others[$0] }
        for batch in Workload.batches(more.count) { try store.delete(Array(more[batch])) }
        settleDisks()
        let (shrinking, _) = try timed { try store.shrink() }
        try store.close()
        emit("shrink_s", shrinking, "s")
        emit("left_rows", Double(others.count - more.count) / Double(rowCount), "of the rows")
        emit("left_bytes", Double(folder.allocatedBytes) / Double(full), "of the bytes")
    }
}

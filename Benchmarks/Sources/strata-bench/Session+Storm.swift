import BenchSupport
import DataSet

extension Session {
    /// W7: a million updates of one field over 100,000 rows, 1,000 a durable transaction, while the store compacts
    /// itself in the background.
    func storm() throws {
        let rows = PersonRow.all(Workload.stormRows)
        let packedBytes = Double(rows.reduce(0) { $0 + PackedPeople.packedByteCount($1) })
        let store = try open()
        _ = try insert(rows, into: store)
        try store.settle()
        try store.prepareKeys(rows.count)
        settleDisks()
        let bytesBefore = folder.allocatedBytes
        let before = WriteCounters(devicesOf: folder.path)
        var random = SplitMix64(21)
        let (seconds, _) = try timed {
            for _ in 0..<(Workload.stormUpdates / Workload.stormUpdatesPerCommit) {
                let changes = (0..<Workload.stormUpdatesPerCommit).map { _ in
                    let bits = random.next()
                    return (id: updatedID(bits, of: rows.count), score: newScore(bits))
                }
                try store.updateScores(changes)
            }
        }
        let after = WriteCounters(devicesOf: folder.path)
        let bytesAfter = folder.allocatedBytes
        // What was changed, had each update rewritten its whole packed row.
        let payload = packedBytes / Double(rows.count) * Double(Workload.stormUpdates)
        emitter.emit("W7", "updates_per_s", Double(Workload.stormUpdates) / seconds, "updates/s")
        emitter.emit("W7", "write_amp_device", Double(after.deviceBytes - before.deviceBytes) / payload, "x")
        emitter.emit("W7", "write_amp_syscall", Double(after.systemCallBytes - before.systemCallBytes) / payload, "x")
        emitter.emit("W7", "disk_bytes_before", exactly: bytesBefore, "bytes")
        emitter.emit("W7", "disk_bytes_after", exactly: bytesAfter, "bytes")
        emitter.emit("W7", "space_amp", Double(bytesAfter) / packedBytes, "x of packed")
        noteCaches("W7", store)
        try store.close()
    }
}

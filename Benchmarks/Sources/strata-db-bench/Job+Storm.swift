import BenchSupport

extension Job {
    /// Updates of single fields, evenly over all rows and mostly of a tenth of them.
    func storm() throws {
        for skew in UpdateStorm.Skew.allCases {
            try folder.clear()
            guard let people = try open() as? any StormStore else {
                throw BenchFailure("\(contestant.rawValue) takes no part in the storm")
            }
            let storm = try UpdateStorm(skew, on: people, in: folder)
            let name = skew.rawValue
            emit("\(name)_updates_per_s", storm.updatesPerSecond, "updates/s")
            emit("\(name)_write_amp", storm.writeAmplification, "x of packed")
            emit("\(name)_p50_ms", storm.median, "ms")
            emit("\(name)_p99_over_p50", storm.percentile99 / storm.median, "x")
            emit("\(name)_floor_p50_ms", storm.floor.median, "ms")
            emit("\(name)_floor_p99_over_p50", storm.floor.percentile99 / storm.floor.median, "x")
            emit("\(name)_slowest_ms", storm.slowest, "ms")
            emit("\(name)_largest_over_live", Double(storm.largestBytes) / Double(storm.liveBytes), "x")
            emit("\(name)_live_bytes", exactly: storm.liveBytes, "bytes")
            emit("check_\(name)", exactly: storm.check, "digest")
            try people.close()
        }
    }
}

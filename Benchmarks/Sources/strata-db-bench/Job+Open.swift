import BenchSupport
import DataSet
import Glibc

extension Job {
    /// Opens, reads the first row with all its fields; the closing is not counted.
    func openAndRead(_ metric: String) throws {
        let expected = PersonRow(id: 1).digest
        let (seconds, people) = try timed {
            let people = try open()
            let manner: ReadManner = contestant == .grdb || contestant == .objects ? .strings : .allFields
            guard try people.read([1], manner) == expected else { throw BenchFailure("the first row is wrong") }
            return people
        }
        emit(metric, seconds * 1e3, "ms")
        emit("\(metric)_peak_rss", MemoryUse().peakMebibytes, "MiB")
        try people.close()
    }

    /// In an empty folder: fills the store, commits 1,000 rows one by one and is killed in the midst of it, closing
    /// nothing. In a filled one: opens what was left.
    func fillAndDieOrOpen() throws {
        if !folder.isEmpty { return try openAndRead("open_first_read_ms") }
        let single = 1_000
        let rows = PersonRow.all(rowCount + single)
        let packed = PackedPeople(rows)
        let people = try open()
        for batch in Workload.batches(rowCount) { try people.insert(rows[batch], packed: packed) }
        for index in rowCount..<rows.count { try people.insert(rows[index...index], packed: packed) }
        kill(getpid(), SIGKILL)
    }
}

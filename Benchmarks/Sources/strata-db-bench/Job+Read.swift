import BenchSupport
import DataSet
import EnginePeople
import ObjectPeople

extension Job {
    /// Reads by random key. Every row is read once beforehand, so that whatever caches there are, are warm.
    func readRandom() throws {
        let people = try open()
        _ = try people.readSequentially()
        try people.prepareKeys(rowCount)
        let count = contestant == .grdb ? Workload.randomReads / 20 : Workload.randomReads
        var random = SplitMix64(7)
        let ids = (0..<count).map { _ in random.next() % UInt64(rowCount) + 1 }
        for manner in ReadManner.allCases {
            let (seconds, check) = try timed { try people.read(ids, manner) }
            guard let check else { continue }
            emit("\(manner.rawValue)_ns", seconds / Double(count) * 1e9, "ns/read")
            // GRDB reads fewer rows, of fewer: its sums cannot agree.
            if contestant == .grdb { continue }
            emit(manner == .twoFields ? "check_two_fields" : "check_all_fields", exactly: check, "digest")
        }
        if let graph = people as? PeopleGraph {
            for (manner, name) in [(ReadManner.twoFields, "fault_two_fields"), (.strings, "fault_all_fields")] {
                let (seconds, _) = try graph.fireFaults(ids, manner)
                emit("\(name)_ns", seconds / Double(count) * 1e9, "ns/read")
            }
        }
        noteStatistics(people)
        try people.close()
    }

    /// Reads with an empty block cache; the kernel's pages of the files stay. The blocks come in random order, and of
    /// each the first row read is timed apart from its neighbours.
    func readCold() throws {
        let store = contestant == .objects ? PeopleGraph.storeFolder(in: folder) : folder
        let blocks = try PeopleLog.blocks(ofEntityNamed: "Person", in: store)
        let people = try open()
        try people.prepareKeys(rowCount)
        let timings = try ColdReads(blocks, limit: 2_000, through: people)
        try people.close()
        emit("first_of_block_us", timings.first * 1e6, "us/read")
        emit("first_of_block_p99_us", timings.first99 * 1e6, "us/read")
        emit("neighbour_ns", timings.neighbour * 1e9, "ns/read")
        emit("rows_a_block", timings.rowsPerBlock, "rows")
    }

    /// Reads every row twice: right after opening, then again.
    func readSequentially() throws {
        let people = try open()
        for state in ["cold", "warm"] {
            let (seconds, check) = try timed { try people.readSequentially() }
            guard let check else { continue }
            emit("\(state)_rows_per_s", Double(rowCount) / seconds, "rows/s")
            emitCheck("check", check)
        }
        noteStatistics(people)
        try people.close()
    }

    /// Each query twice: right after opening, then again.
    func scan() throws {
        for query in ScanQuery.allCases {
            let people = try open()
            for state in ["cold", "warm"] {
                let (seconds, check) = try timed { try people.scan(query) }
                guard let check else { continue }
                emit("\(query.rawValue)_\(state)_rows_per_s", Double(rowCount) / seconds, "rows/s")
                emitCheck("check_\(query.rawValue)", check)
            }
            noteStatistics(people)
            try people.close()
        }
    }

    /// Memory that the object index takes: after opening, and after every object was looked up (no row is read).
    func indexMemory() throws {
        try touchEngineOnce()
        let empty = MemoryUse()
        let log = try PeopleLog(in: folder)
        let opened = MemoryUse()
        guard try log.locateAll(rowCount) == rowCount else { throw BenchFailure("objects are missing") }
        let touched = MemoryUse()
        func perObject(_ bytes: Int) -> Double { Double(bytes) / Double(rowCount) }
        emit("opened_bytes_per_object", perObject(opened.residentBytes - empty.residentBytes), "bytes")
        emit("touched_bytes_per_object", perObject(touched.residentBytes - empty.residentBytes), "bytes")
        emit("touched_anonymous_bytes_per_object", perObject(touched.anonymousBytes - empty.anonymousBytes), "bytes")
        emit("opened_bytes", exactly: UInt64(max(0, opened.residentBytes - empty.residentBytes)), "bytes")
        try log.close()
    }

    /// Opens, reads and closes a store of a few rows, so that the program's own pages are resident already.
    private func touchEngineOnce() throws {
        let small = Folder(folder.path + "-small")
        try small.clear()
        for _ in 0..<2 {
            let log = try PeopleLog(in: small)
            if try log.locateAll(1) == 0 { try log.insert(PersonRow.all(10)[...]) }
            try log.close()
        }
        try small.remove()
    }

    /// Pages and relationships, each twice: the second time all that is read is cached.
    func readIndexed() throws {
        guard let people = try open() as? any IndexedReads else { throw BenchFailure("no indexes") }
        let (seconds, _) = try timed { try people.buildIndex() }
        emit("index_build_s", seconds, "s")
        // What opening leaves to other threads is over by then.
        for idsOnly in [false, true] {
            _ = try people.readPages(PageOrder.same.starts(500, rowCount: rowCount), idsOnly: idsOnly)
        }
        for order in PageOrder.allCases {
            let starts = order.starts(Workload.pages, rowCount: rowCount)
            for (metric, idsOnly) in [("page_ids", true), ("page_objects", false)] {
                let (seconds, check) = try timed { try people.readPages(starts, idsOnly: idsOnly) }
                emit("\(metric)\(order.suffix)_per_s", Double(starts.count) / seconds, "pages of up to 100/s")
                emitCheck("check_\(metric)\(order.suffix)", check)
            }
        }
        if let graph = people as? PeopleGraph, try !graph.checkPage() { throw BenchFailure("IDs of another page") }
        for (metric, decodesAll) in [("to_many_names_per_s", false), ("to_many_objects_per_s", true)] {
            for state in ["cold", "warm"] {
                var count = 0
                var sum: UInt64 = 0
                let (seconds, _) = try timed {
                    for department in 1...PersonRow.departmentCount {
                        let found = try people.traverse(department: department, decodesAll: decodesAll)
                        count += found.count
                        sum &+= found.digest
                    }
                }
                guard count == rowCount else { throw BenchFailure("\(count) persons of all departments") }
                emit("\(metric)_\(state)", Double(count) / seconds, "objects/s")
                emitCheck("check_to_many", sum)
            }
        }
        noteStatistics(people)
        try people.close()
    }

    /// A check that only contestants with all rows can agree on.
    private func emitCheck(_ metric: String, _ value: UInt64) {
        emit(contestant == .grdb ? "\(metric)_grdb" : metric, exactly: value, "digest")
    }

    private func noteStatistics(_ people: any Contestant) {
        if let store = people as? any BenchStore, !store.statisticsText.isEmpty { note(store.statisticsText) }
    }
}

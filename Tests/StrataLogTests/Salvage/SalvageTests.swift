import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

@Suite struct SalvageTests {
    private static let target = FilePath("/saved")

    private func workload(_ seed: UInt64, compacts: Bool = false) throws -> (StoreWorkload, SimulatedFileSystem) {
        let fileSystem = SimulatedFileSystem()
        let workload = StoreWorkload(seed: seed, fileSystem: fileSystem, compacts: compacts)
        try workload.run(steps: 80)
        if compacts { try workload.opened().compact() }
        try workload.close()
        return (workload, fileSystem)
    }

    private func contents(_ store: LogStore) throws -> StoreModel.Contents {
        var found: StoreModel.Contents = [:]
        try store.snapshot.forEachRun(root: SampleSchema.person) { run throws(StoreError) in
            for index in 0..<run.count {
                let row = try store.row(at: Location(rawValue: run.location.rawValue + UInt64(index)))
                found[row.ref] = try StoreModel.person(row, store)
            }
            return true
        }
        return found
    }

    /// A store that is whole is copied whole, but for references to departments, which the workload never makes.
    @Test(arguments: [false, true]) func aWholeStoreIsCopied(compacts: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let (workload, fileSystem) = try workload(seed, compacts: compacts)
        let report = try LogSalvage.run(StoreWorkload.path, in: fileSystem, to: Self.target)
        #expect(report.problems.isEmpty, "seed \(seed)")
        #expect(report.rows == workload.model.newest.count, "seed \(seed)")
        #expect(report.lostRows == 0 && report.staleRows == 0 && report.lostValues == 0, "seed \(seed)")
        let saved = try LogStore.open(Self.target, in: fileSystem, options: StoreWorkload.options(), schema: nil)
        let expected = workload.model.newest.mapValues { person in
            var person = person
            person.department = .null
            return person
        }
        #expect(try contents(saved) == expected, "seed \(seed)")
        #expect(try saved.verify().problems.isEmpty, "seed \(seed)")
        let newest = workload.model.newest.keys.map(\.key).max() ?? 0
        #expect(try saved.allocateKeys(root: SampleSchema.person, count: 1) > newest, "seed \(seed)")
        try saved.close()
    }

    /// With a byte changed somewhere, what is saved is what some transaction wrote, most of it the newest, and what is
    /// missing is told.
    @Test func damageCostsWhatItHits() throws {
        for _ in 0..<20 {
            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SeededGenerator(seed: seed)
            let (workload, fileSystem) = try workload(seed)
            let segments = try fileSystem.list(StoreWorkload.path).filter { $0.hasSuffix(".seg") }.sorted()
            let path = StoreWorkload.path.appending(try #require(segments.randomElement(using: &random)))
            let file = try fileSystem.open(path, .readWrite)
            let length = Int(try file.byteCount())
            var bytes = [UInt8](repeating: 0xA5, count: 100)
            let offset = Int64.random(in: 64..<Int64(max(65, length - 100)), using: &random)
            _ = try bytes.withUnsafeMutableBytes { try file.readAll(into: $0, at: offset) }
            let damaged = bytes.map { ~$0 }
            try damaged.withUnsafeBytes { try file.writeAll([$0], at: offset) }
            try file.close()
            let report = try LogSalvage.run(StoreWorkload.path, in: fileSystem, to: Self.target)
            let saved = try LogStore.open(Self.target, in: fileSystem, options: StoreWorkload.options(), schema: nil)
            let found = try contents(saved)
            #expect(found.count == report.rows, "seed \(seed)")
            var wrong = 0
            for (ref, person) in found {
                let versions = workload.model.states.compactMap { $0[ref] }
                let isKnown = versions.contains { version in
                    version.name == person.name && version.age == person.age
                        && (person.notes == nil || version.notes == person.notes)
                }
                #expect(isKnown, "seed \(seed): object \(ref.key) never looked like that")
                if workload.model.newest[ref]?.name != person.name { wrong += 1 }
            }
            let missing = workload.model.newest.keys.filter { found[$0] == nil }.count
            if report.problems.isEmpty { #expect(wrong == 0 && missing == 0, "seed \(seed): nothing was told") }
            #expect(try saved.verify().problems.isEmpty, "seed \(seed)")
            try saved.close()
        }
    }

    @Test func whatIsThereIsNotOverwritten() throws {
        let (_, fileSystem) = try workload(3)
        let error = #expect(throws: StoreError.self) {
            try LogSalvage.run(StoreWorkload.path, in: fileSystem, to: StoreWorkload.path)
        }
        #expect(error?.code == .invalidArgument)
    }
}

import Foundation
import Testing

/// `strata bench` in a directory of the tests: what it measures, and that nothing stays.
@Suite(.serialized) struct BenchCommandTests {
    private let fixture: CommandFixture
    private let place: URL

    init() throws {
        fixture = try CommandFixture()
        place = fixture.directory.appendingPathComponent("place")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: place.appendingPathComponent("note"))
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? [] }

    private static let short = ["--seconds", "0.1", "--rows", "1500", "--clients", "3"]

    @Test func eachKindOfWorkIsMeasuredAndNothingStays() throws {
        let result = try fixture.run("bench", Self.short + ["-f", "json"], on: place)
        #expect(result.code == 0, "\(result)")
        let works = result.records.map { "\($0["work"] ?? "") \($0["clients"] ?? "")" }
        #expect(
            works == [
                "save of 1000 1", "flush 1", "save 1", "save 3", "fetch by index 1", "fetch by index 3", "scan 1",
                "count 1", "nine fetches, a save 3",
            ])
        for record in result.records {
            let (calls, rate) = (record["calls"] as? Int ?? 0, record["callsASecond"] as? Double ?? 0)
            #expect(calls > 0 && rate > 0, "\(record)")
            let times = ["p50", "p99", "max"].map { record[$0] as? Double ?? -1 }
            #expect(times == times.sorted() && times[0] >= 0, "\(record)")
        }
        #expect(result.record(0)["calls"] as? Int == 2, "1,500 objects in saves of 1,000")
        #expect(result.record(1)["objectsASecond"] is NSNull)
        #expect(names == ["note"])
    }

    @Test func aTableSaysWhereAndOnWhat() throws {
        let result = try fixture.run(
            "bench", Self.short + ["--format", "table"], on: place, environment: ["STRATA_PROGRESS_SECONDS": "3600"])
        #expect(result.code == 0 && result.messages.isEmpty, "\(result)")
        #expect(result.lines.first?.hasPrefix(place.resolvingSymlinksInPath().path) == true)
        #expect(result.lines.first?.hasSuffix("1500 objects") == true)
        #expect(result.lines.contains { $0.hasPrefix("work") && $0.hasSuffix("max") })
        let csv = try fixture.run("bench", Self.short + ["-f", "csv"], on: place)
        #expect(csv.lines.count == 10 && csv.lines[0].hasPrefix("work,clients,calls,"))
    }

    @Test func whatTakesLongSaysSo() throws {
        let result = try fixture.run(
            "bench", Self.short, on: place, environment: ["STRATA_PROGRESS_SECONDS": "0"])
        #expect(result.code == 0 && result.messages.contains("strata: measuring: "), "\(result)")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func nothingStaysAfterASignal(_ signal: Int32) throws {
        let output = fixture.directory.appendingPathComponent("output")
        let process = try CommandFixture.start(
            ["bench", place.path, "--seconds", "600"], output: output,
            messages: fixture.directory.appendingPathComponent("messages"))
        for _ in 0..<3_000 where names.count < 2 { usleep(10_000) }
        #expect(names.count == 2)
        usleep(300_000)
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == signal)
        #expect(names == ["note"])
        #expect(try Data(contentsOf: output).isEmpty)
    }

    @Test func storesAndWhatIsNoDirectoryAreLeftAlone() throws {
        try fixture.fill()
        fixture.close()
        let before = try FileManager.default.contentsOfDirectory(atPath: fixture.store.path)
        let store = try fixture.run("bench", Self.short)
        #expect(store.code == 1 && store.messages.contains("is a store"), "\(store)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.store.path) == before)
        let missing = try fixture.run("bench", Self.short, on: place.appendingPathComponent("missing"))
        #expect(missing.code == 1 && missing.messages.contains("is no directory"), "\(missing)")
        let file = try fixture.run("bench", Self.short, on: place.appendingPathComponent("note"))
        #expect(file.code == 1 && file.messages.contains("is no directory"), "\(file)")
    }

    @Test(arguments: [
        ["--seconds", "0"], ["--seconds", "nan"], ["--rows", "0"], ["--clients", "1001"], ["--seconds", "1e9"],
    ])
    func numbersThatCannotBeAreRefused(_ options: [String]) throws {
        let result = try fixture.run("bench", options, on: place)
        #expect(result.code == 64 && result.messages.contains(options[0]), "\(result)")
        #expect(names == ["note"])
    }

    /// What the largest number of objects may take is more than most machines have in memory.
    @Test(
        .enabled("/dev/shm has room for 100,000,000 objects, or is not there") {
            let attributes = try? FileManager.default.attributesOfFileSystem(forPath: "/dev/shm")
            return (attributes?[.systemFreeSize] as? NSNumber).map { $0.int64Value < 40 << 30 } ?? false
        })
    func moreThanTheDiskHoldsIsRefused() throws {
        let result = try fixture.run(
            "bench", ["--rows", "100000000"], on: URL(fileURLWithPath: "/dev/shm", isDirectory: true))
        #expect(result.code == 1 && result.messages.contains("left, and 100000000 objects may take"), "\(result)")
        let left = try FileManager.default.contentsOfDirectory(atPath: "/dev/shm")
        #expect(!left.contains { $0.hasPrefix("strata-bench-") })
    }
}

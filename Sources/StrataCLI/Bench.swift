import ArgumentParser
import Foundation
import StrataBrowsing

/// How quick stores are on this machine.
struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure how quick a new store is in a directory of this machine.",
        discussion: """
            Makes a store in a new directory in the one that is named, fills it, works with it, and removes it, also \
            after Ctrl-C. Saves are durable as they are in a program. `flush` is what the disk takes for 4 KiB without \
            a store: no save of one client is quicker. A temporary directory may be in memory, where it costs nothing: \
            name one on the disk that counts.

            Times are in milliseconds. 50 and 99 of a hundred calls took as long as p50 and p99 say, or less. Of scans \
            and counts, the objects are those that were looked at.
            """)

    @Argument(help: "Where the store is to be; a directory for temporary files by default.", completion: .directory)
    var directory: String?
    @Option(help: "For how many seconds each kind of work is measured.")
    var seconds = 2.0
    @Option(help: "How many objects the store is filled with, 1,000 a save.")
    var rows = 100_000
    @Option(help: "How many clients work at once, where many do.")
    var clients = 16
    @OptionGroup var output: OutputOptions

    private static let columns = [
        "work", "clients", "calls", "calls a second", "objects a second", "p50", "p99", "max",
    ]

    func validate() throws {
        guard (0.01...3_600).contains(seconds) else { throw ValidationError("--seconds is from 0.01 to 3600.") }
        guard (1...100_000_000).contains(rows) else { throw ValidationError("--rows is from 1 to 100000000.") }
        guard (1...1_000).contains(clients) else { throw ValidationError("--clients is from 1 to 1000.") }
    }

    func run() throws {
        // From before there is a directory until it is gone.
        let stop = StopSignal()
        try reporting { try measure(stop) }
        stop.end()
    }

    private func measure(_ stop: StopSignal) throws {
        let parent =
            directory.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? FileManager.default.temporaryDirectory
        let store = try BenchStore(in: parent.resolvingSymlinksInPath(), rows: rows)
        let measured = Result { try records(store, stop) }
        do {
            try store.remove()
        } catch {
            Terminal.messages.write("strata: \(store.directory.path) could not be removed: \(error)\n")
            Terminal.messages.flush()
        }
        let found = try measured.get()
        if stop.isSet { return }
        if output.format == .table { printPlace(parent) }
        let names = output.format == .table ? Self.columns : Self.columns.map(StoreSummary.key)
        let writer = RecordWriter(output, columns: names)
        for record in found { writer.write(record) }
        writer.finish()
    }

    /// What figures depend on.
    private func printPlace(_ parent: URL) {
        let type = Examination.fileSystemType(at: parent.resolvingSymlinksInPath().path) ?? "unknown file system"
        Terminal.output.write("\(Cell.visible(parent.path)) (\(Cell.visible(type)))")
        Terminal.output.write(", \(ProcessInfo.processInfo.activeProcessorCount) processors, \(rows) objects\n")
        #if DEBUG
        Terminal.output.write("This build of the command is not optimised: in one that is, stores are much quicker.\n")
        #endif
        Terminal.output.write("\n")
    }

    private func records(_ store: BenchStore, _ stop: StopSignal) throws -> [[Cell]] {
        var records = [try fill(store, stop)]
        let bar = ProgressBar("measuring", .time)
        defer { bar.finish() }
        let workloads = BenchWorkload.all
        for (index, workload) in workloads.enumerated() {
            if stop.isSet { break }
            let count = workload.isShared ? clients : 1
            let result = try BenchClients.run(count, for: .seconds(seconds)) {
                try workload.makeCall(store, $0)
            } watch: { elapsed in
                let done = (Double(index) + min(1, elapsed / .seconds(seconds))) * 1_000
                bar.update(Int(done), of: workloads.count * 1_000)
                return !stop.isSet
            }
            records.append(Self.record(workload.name, count, result))
        }
        return records
    }

    /// As long as it takes.
    private func fill(_ store: BenchStore, _ stop: StopSignal) throws -> [Cell] {
        let workload = BenchWorkload.fill(rows)
        let bar = ProgressBar("filling", .objects)
        defer { bar.finish() }
        let result = try BenchClients.run(1, for: .seconds(86_400)) {
            try workload.makeCall(store, $0)
        } watch: { _ in
            bar.update(store.count, of: rows)
            return !stop.isSet
        }
        return Self.record(workload.name, 1, result)
    }

    private static func record(_ name: String, _ clients: Int, _ result: BenchClients.Result) -> [Cell] {
        let seconds = max(result.elapsed / .seconds(1), 1e-9)
        let (calls, latencies) = (result.latencies.count, result.latencies)
        return [
            .text(name), .count(clients), .count(calls), rate(Double(calls) / seconds),
            result.objects == 0 ? .absent : rate(Double(result.objects) / seconds),
            milliseconds(latencies.percentile(0.5)), milliseconds(latencies.percentile(0.99)),
            milliseconds(calls == 0 ? nil : latencies.maximum),
        ]
    }

    private static func rate(_ value: Double) -> Cell { .number(String(format: value < 100 ? "%.1f" : "%.0f", value)) }

    private static func milliseconds(_ duration: Duration?) -> Cell {
        duration.map { .number(String(format: "%.3f", $0 / .milliseconds(1))) } ?? .absent
    }
}

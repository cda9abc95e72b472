import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataIO
import StrataLog
import StrataModelFile
import SystemPackage

/// Checks a store, and saves what is readable of a damaged one.
struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check every byte of a store.",
        discussion: """
            Names every damaged place. Exits with 2 when something is damaged, also when it has been salvaged.
            """)

    @OptionGroup var argument: StoreArgument
    @Option(help: "Write what can be read into a new store in this directory.", completion: .directory)
    var salvage: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
        let problems = try reporting { try salvage.map { try save(to: $0) } ?? check() }
        guard problems.isEmpty else { throw ExitCodes.damage }
    }

    private func check() throws -> [StoreError] {
        let bar = ProgressBar("verifying", .bytes)
        defer { bar.finish() }
        let report: VerifyReport
        var problems: [StoreError] = []
        do {
            let log = try argument.openLog()
            report = try log.verify { bar.update($0, of: $1) }
            do {
                try StoreMetadata.check(log.metadata)
            } catch {
                problems = [error]
            }
        } catch let error as StoreError where error.code == .corruption {
            // What keeps it from being opened, and what else there is.
            problems = [error]
            report = try LogStore.verifyFiles(FilePath(argument.url.path), in: PosixFileSystem()) {
                bar.update($0, of: $1)
            }
        }
        bar.finish()
        for problem in report.problems + report.damagedCaches
        where !problems.contains(where: { $0.description == problem.description }) {
            problems.append(problem)
        }
        var values = [
            ("segments", Cell.count(report.segments)), ("records", .count(report.records)),
            ("transactions", .count(report.transactions)), ("blocks", .count(report.blocks)),
            ("rows", .count(report.rows)), ("bytes", .bytes(report.byteCount)),
        ]
        if report.unlistedProblems > 0 { values.append(("unlistedProblems", .count(report.unlistedProblems))) }
        print(problems, values: values)
        return problems
    }

    private func save(to directory: String) throws -> [StoreError] {
        let bar = ProgressBar("salvaging", .bytes)
        defer { bar.finish() }
        let target = FilePath(URL(fileURLWithPath: directory, isDirectory: true).path)
        let report = try LogSalvage.run(
            FilePath(argument.url.path), in: PosixFileSystem(), to: target,
            metadata: { HistoryMetadata.begunAnew($0) }, progress: { bar.update($0, of: $1) })
        bar.finish()
        print(
            report.problems,
            values: [
                ("segments", .count(report.segments)), ("transactions", .count(report.transactions)),
                ("rows", .count(report.rows)), ("skippedBytes", .bytes(report.skippedByteCount)),
                ("lostRows", .count(report.lostRows)), ("staleRows", .count(report.staleRows)),
                ("lostValues", .count(report.lostValues)), ("clearedReferences", .count(report.clearedReferences)),
            ])
        return report.problems
    }

    private func print(_ problems: [StoreError], values: [(String, Cell)]) {
        let terminal = Terminal.output
        switch output.format {
        case .table:
            for (name, value) in values { terminal.write("\(name): \(value.tableText(exactBytes: output.bytes))\n") }
            for problem in problems { terminal.write(terminal.red("damaged: ") + problem.description + "\n") }
            if problems.isEmpty { terminal.write("the store is sound\n") }
        case .json, .ndjson:
            var fields = values.map { "\(QuotedText.of($0.0)):\($0.1.json)" }
            fields.append("\"problems\":[\(problems.map { QuotedText.of($0.description) }.joined(separator: ","))]")
            terminal.write("{\(fields.joined(separator: ","))}\n")
        case .csv:
            let writer = RecordWriter(output, columns: ["what", "value"])
            for (name, value) in values { writer.write([.text(name), value]) }
            for problem in problems { writer.write([.text("problem"), .text(problem.description)]) }
        }
        terminal.flush()
    }
}

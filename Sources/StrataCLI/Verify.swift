import ArgumentParser
import Foundation
import Strata
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
        let bar = ProgressBar("verifying")
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
            ("segments", report.segments), ("records", report.records), ("transactions", report.transactions),
            ("blocks", report.blocks), ("rows", report.rows), ("bytes", report.byteCount),
        ]
        if report.unlistedProblems > 0 { values.append(("unlistedProblems", report.unlistedProblems)) }
        print(problems, values: values)
        return problems
    }

    private func save(to directory: String) throws -> [StoreError] {
        let bar = ProgressBar("salvaging")
        defer { bar.finish() }
        let target = FilePath(URL(fileURLWithPath: directory, isDirectory: true).path)
        let report = try LogSalvage.run(
            FilePath(argument.url.path), in: PosixFileSystem(), to: target,
            metadata: { HistoryMetadata.begunAnew($0) }, progress: { bar.update($0, of: $1) })
        bar.finish()
        print(
            report.problems,
            values: [
                ("segments", report.segments), ("transactions", report.transactions), ("rows", report.rows),
                ("skippedBytes", report.skippedByteCount), ("lostRows", report.lostRows),
                ("staleRows", report.staleRows), ("lostValues", report.lostValues),
                ("clearedReferences", report.clearedReferences),
            ])
        return report.problems
    }

    private func print(_ problems: [StoreError], values: [(String, Int)]) {
        let terminal = Terminal.output
        switch output.format {
        case .table:
            for (name, value) in values { terminal.write("\(name): \(value)\n") }
            for problem in problems { terminal.write(terminal.red("damaged: ") + problem.description + "\n") }
            if problems.isEmpty { terminal.write("the store is sound\n") }
        case .json:
            var fields = values.map { "\(QuotedText.of($0.0)):\($0.1)" }
            fields.append("\"problems\":[\(problems.map { QuotedText.of($0.description) }.joined(separator: ","))]")
            terminal.write("{\(fields.joined(separator: ","))}\n")
        case .csv:
            let writer = RecordWriter(.csv, columns: ["what", "value"])
            for (name, value) in values { writer.write([.text(name), .integer(Int64(value))]) }
            for problem in problems { writer.write([.text("problem"), .text(problem.description)]) }
        }
        terminal.flush()
    }
}

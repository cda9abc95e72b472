import Foundation
import StrataSourceTools

/// Ports the sources of a module, or says what porting would change; the plugin `port` runs it.
@main
enum PortTool {
    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }

    /// An argument is missing or unknown.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// `--module NAME --work DIRECTORY [--compiler PATH] [--condition NAME]... [--write] SOURCE...`
    private static func run(_ arguments: [String]) throws {
        var values: [String: String] = [:]
        var conditions: [String] = []
        var sources: [String] = []
        var writes = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--write": writes = true
            case "--module", "--work", "--compiler", "--condition":
                guard let value = rest.popFirst() else { throw Failure(description: "\(argument) lacks a value") }
                if argument == "--condition" { conditions.append(value) } else { values[argument] = value }
            case let option where option.hasPrefix("--"): throw Failure(description: "\(option) is not known")
            default: sources.append(argument)
            }
        }
        guard let module = values["--module"], let work = values["--work"] else {
            throw Failure(description: "--module and --work are needed")
        }
        var porter = SourcePorter(
            module: module, sources: sources, workDirectory: URL(fileURLWithPath: work, isDirectory: true))
        porter.compiler = values["--compiler"]
        porter.conditions = conditions
        let report = try porter.report()
        if writes {
            for (path, text) in report.rewritten {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            }
        }
        print(report, module, writes: writes)
    }

    private static func print(_ report: SourcePorter.Report, _ module: String, writes: Bool) {
        let files = report.rewritten.count
        if report.changes.isEmpty {
            Swift.print("\(module): nothing to rewrite")
        } else {
            let what = writes ? "rewrote" : "would rewrite (--write does)"
            Swift.print("\(module): \(what) \(files) \(files == 1 ? "file" : "files")")
            for change in report.changes { Swift.print("  \(change)") }
        }
        guard !report.remaining.isEmpty else { return }
        Swift.print("\(module): left for you")
        for note in report.remaining { Swift.print("  \(note)") }
    }
}

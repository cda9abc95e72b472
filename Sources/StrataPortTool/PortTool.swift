internal import CStrataSupport
import Foundation
import StrataSourceTools

/// Ports the sources of a module, or says what porting would change; the plugin `port` runs it.
@main
enum PortTool {
    static func main() {
        // What is printed must not land in what is written.
        strata_standard_descriptors_occupy()
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
    ///
    /// With `--output DIRECTORY` the sources stay as they are, and what the compiler is to have instead goes there.
    /// `--context PATH` names a source of the module that is looked into only. `--resources` says that the target has
    /// some, `--model NAME` which models are among them, `--importable NAME` what modules it depends on (if none is
    /// named they are not known), `--without-core-data` that it does not depend on CoreData,
    /// `--root DIRECTORY` that paths in it are printed as they are from there. `--model-error TEXT` is something that
    /// is wrong with a model, and left for the user.
    private static func run(_ arguments: [String]) throws {
        var values: [String: String] = [:]
        var conditions: [String] = []
        var context: [String] = []
        var models: Set<String> = []
        var sources: [String] = []
        var modelErrors: [String] = []
        var writes = false
        var hasResources = false
        var hasCoreData = true
        var importable: Set<String>?
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--write": writes = true
            case "--resources": hasResources = true
            case "--without-core-data": hasCoreData = false
            case "--module", "--work", "--compiler", "--condition", "--output", "--context", "--model", "--root",
                "--importable", "--model-error":
                guard let value = rest.popFirst() else { throw Failure(description: "\(argument) lacks a value") }
                switch argument {
                case "--condition": conditions.append(value)
                case "--context": context.append(value)
                case "--model": models.insert(value)
                case "--model-error": modelErrors.append(value)
                case "--importable": importable = (importable ?? []).union([value])
                default: values[argument] = value
                }
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
        porter.context = context
        porter.hasResources = hasResources
        porter.models = models
        porter.hasCoreData = hasCoreData
        porter.importable = importable
        let report = try porter.report()
        if let output = values["--output"] { return try compile(report, sources, to: output) }
        if writes {
            for (path, text) in report.rewritten {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            }
        }
        print(report, module, modelErrors, writes: writes, root: values["--root"])
    }

    /// Writes what the compiler is to have. A file that has the text already is left alone, so that nothing is compiled
    /// again.
    private static func compile(_ report: SourcePorter.Report, _ sources: [String], to output: String) throws {
        let directory = URL(fileURLWithPath: output, isDirectory: true)
        for path in sources {
            // Another name, or the compiler warns that two files of a module are called the same.
            let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent + "+Ported.swift"
            let file = directory.appendingPathComponent(name)
            let text = Data((report.mapped[path] ?? "").utf8)
            if (try? Data(contentsOf: file)) != text { try text.write(to: file, options: .atomic) }
        }
        for note in report.remaining {
            Swift.print("\(note.path):\(note.line): warning: \(note.message)")
        }
    }

    private static func print(
        _ report: SourcePorter.Report, _ module: String, _ modelErrors: [String], writes: Bool, root: String?
    ) {
        let files = report.rewritten.count
        if report.changes.isEmpty {
            Swift.print("\(module): nothing to rewrite")
        } else {
            let what = writes ? "rewrote" : "would rewrite (--write does)"
            Swift.print("\(module): \(what) \(files) \(files == 1 ? "file" : "files")")
            for change in report.changes { Swift.print("  \(change.description(from: root))") }
        }
        guard !report.remaining.isEmpty || !modelErrors.isEmpty else { return }
        Swift.print("\(module): left for you")
        for error in modelErrors {
            let prefix = root.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
            Swift.print("  \(error.hasPrefix(prefix) ? String(error.dropFirst(prefix.count)) : error)")
        }
        for note in report.remaining { Swift.print("  \(note.description(from: root))") }
    }
}

internal import CStrataSupport
import Foundation
import StrataSourceTools

/// Generates the accessors of a target; the plugin ManagedAccessors runs it.
@main
enum AccessorTool {
    static func main() {
        // What is printed must not land in what is written.
        strata_standard_descriptors_occupy()
        do {
            let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
            let output = try arguments.generator.generate()
            for problem in output.problems { report("\(problem)") }
            if !output.problems.isEmpty { exit(1) }
            try write(output.text, to: arguments.output)
        } catch {
            report("error: \(error)")
            exit(1)
        }
    }

    /// A file that has the text already is left alone, so that nothing is compiled again.
    private static func write(_ text: String, to output: URL) throws {
        if let old = try? Data(contentsOf: output), old == Data(text.utf8) { return }
        try Data(text.utf8).write(to: output, options: .atomic)
    }

    private static func report(_ message: String) {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
    }
}

/// What the tool is told: `--module NAME --output FILE --work DIRECTORY [--compiler PATH] [--condition NAME]...
/// [--dependency NAME SOURCE... --]... SOURCE...`.
struct Arguments {
    var generator: AccessorGenerator
    var output: URL

    /// An argument is missing or unknown.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: [String]) throws {
        var values: [String: String] = [:]
        var conditions: [String] = []
        var dependencies: [Dependency] = []
        var sources: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                sources.append(argument)
                continue
            }
            guard let value = rest.popFirst() else { throw Failure(description: "\(argument) lacks a value") }
            switch argument {
            case "--module", "--output", "--work", "--compiler": values[argument] = value
            case "--condition": conditions.append(value)
            case "--dependency":
                let paths = rest.prefix { $0 != "--" }
                rest = rest.dropFirst(paths.count + 1)
                dependencies.append(Dependency(name: value, sources: Array(paths)))
            default: throw Failure(description: "\(argument) is not known")
            }
        }
        guard let module = values["--module"], let output = values["--output"], let work = values["--work"] else {
            throw Failure(description: "--module, --output and --work are needed")
        }
        self.output = URL(fileURLWithPath: output)
        generator = AccessorGenerator(
            module: module, sources: sources, workDirectory: URL(fileURLWithPath: work, isDirectory: true))
        generator.conditions = conditions
        generator.dependencies = dependencies
        generator.compiler = values["--compiler"]
    }
}

internal import CStrataSupport
import Foundation
import StrataModelFile
import StrataModelXML

/// What the plugins run: compiles models, generates classes and looks for mistakes.
///
/// It has no dependencies but Foundation, so that a package that uses the plugin builds it in seconds.
@main
struct ModelTool {
    static let usage = """
        usage: StrataModelTool compile MODEL --momd DIRECTORY --swift FILE --module NAME [--config FILE]
               StrataModelTool compile-mapping MAPPING MODEL... --cdm FILE --module NAME
               StrataModelTool generate MODEL --output DIRECTORY --module NAME [--config FILE]
               StrataModelTool outline MODEL --swift FILE --module NAME [--config FILE]
               StrataModelTool lint (MODEL | MAPPING)...
        """

    static func main() {
        // What is printed must not land in what is written.
        strata_standard_descriptors_occupy()
        do {
            let warnings = try run(Array(CommandLine.arguments.dropFirst()))
            warnings.forEach { print($0) }
        } catch {
            FileHandle.standardError.write(Data((Self.text(of: error) + "\n").utf8))
            exit(1)
        }
    }

    static func text(of error: any Error) -> String {
        switch error {
        case let error as ToolError: error.message
        case let error as ModelFileError: "error: \(error.message)"
        default: "error: \(error)"
        }
    }

    /// Does what the arguments say.
    ///
    /// - Returns: the warnings, as they are printed.
    /// - Throws: ``ToolError`` or ``ModelFileError``.
    static func run(_ arguments: [String]) throws -> [String] {
        let command = try ToolArguments(arguments)
        switch command.name {
        case "compile": return try compile(command)
        case "compile-mapping": return try MappingCompiler(command).run()
        case "generate": return try generate(command)
        case "outline": return try outline(command)
        case "lint": return try lint(command)
        default: throw ToolError(usage)
        }
    }

    private static func compile(_ command: ToolArguments) throws -> [String] {
        let momd = URL(fileURLWithPath: try command.option("momd"), isDirectory: true)
        let swift = URL(fileURLWithPath: try command.option("swift"))
        let module = try command.option("module")
        let model = URL(fileURLWithPath: try command.onlyModel())
        var (reading, generator) = try prepare(model, module: module, command)
        let source = generator.file(named: swift.lastPathComponent)
        for position in reading.model.versions.indices {
            resolveModules(in: &reading.model.versions[position].document, module: module)
        }
        try reading.model.writeCompiled(to: momd)
        try write(source.text, to: swift)
        return reading.diagnostics.map(\.description)
    }

    private static func generate(_ command: ToolArguments) throws -> [String] {
        let output = URL(fileURLWithPath: try command.option("output"), isDirectory: true)
        let module = try command.option("module")
        let (reading, generator) = try prepare(
            URL(fileURLWithPath: try command.onlyModel()), module: module, command)
        do {
            try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        } catch {
            throw ToolError("\(output.path): error: \(error.localizedDescription)")
        }
        let files = generator.files()
        for file in files {
            try write(file.text, to: output.appendingPathComponent(file.name))
        }
        return reading.diagnostics.map(\.description) + files.map { "wrote \(output.path)/\($0.name)" }
    }

    /// The classes of a model as far as it can be read, for `port`, which looks into them and compiles nothing.
    ///
    /// - Returns: the errors that building would stop at.
    private static func outline(_ command: ToolArguments) throws -> [String] {
        let url = URL(fileURLWithPath: try command.onlyModel())
        let options = try command.optional("config").map { try GeneratorOptions(contentsOf: URL(fileURLWithPath: $0)) }
        let reading: XcodeModel.Reading
        do {
            reading = try XcodeModel.read(contentsOf: url, linting: true)
        } catch let error as ModelFileError {
            return ["error: \(error.message)"]
        }
        let swift = URL(fileURLWithPath: try command.option("swift"))
        if let document = reading.model.current?.document {
            let generator = ClassGenerator(
                document, module: try command.option("module"), options: options ?? GeneratorOptions())
            try write(generator.file(named: swift.lastPathComponent).text, to: swift)
        }
        return reading.diagnostics.filter { $0.severity == .error }.map(\.description)
    }

    private static func lint(_ command: ToolArguments) throws -> [String] {
        var found: [ModelDiagnostic] = []
        let files = command.models.map { URL(fileURLWithPath: $0) }
        for file in files {
            found +=
                file.pathExtension == "xcmappingmodel"
                ? try XcodeMappingModel.read(contentsOf: file, models: files).diagnostics
                : try XcodeModel.read(contentsOf: file, linting: true).diagnostics
        }
        let texts = found.map(\.description)
        guard !found.contains(where: { $0.severity == .error }) else {
            throw ToolError(texts.joined(separator: "\n"))
        }
        return texts
    }

    /// Reads a model and checks it.
    private static func prepare(
        _ url: URL, module: String, _ command: ToolArguments
    ) throws -> (XcodeModel.Reading, ClassGenerator) {
        let options = try command.optional("config").map { try GeneratorOptions(contentsOf: URL(fileURLWithPath: $0)) }
        let reading = try XcodeModel.read(contentsOf: url, linting: true)
        guard let current = reading.model.current else { throw ToolError("\(url.path): error: it has no version") }
        let generator = ClassGenerator(current.document, module: module, options: options ?? GeneratorOptions())
        let problems = generator.problems().map { problem in
            var problem = problem
            problem.file = url.path
            return problem
        }
        let all = reading.diagnostics + problems
        guard !all.contains(where: { $0.severity == .error }) else {
            throw ToolError(all.map(\.description).joined(separator: "\n"))
        }
        return (reading, generator)
    }

    /// Puts the module's name in the place of "the current module", which is known now and not at run time. Generated
    /// classes are in the module, whatever the model says, and their bare names might be those of other modules' too.
    private static func resolveModules(in document: inout ModelDocument, module: String) {
        for position in document.entities.indices where document.entities[position].className != nil {
            let entity = document.entities[position]
            if entity.classModule == "" || entity.codeGeneration == .classDefinition {
                document.entities[position].classModule = module
            }
        }
    }

    private static func write(_ text: String, to file: URL) throws {
        try write(Data(text.utf8), to: file)
    }

    /// Leaves a file alone that has these contents already.
    static func write(_ data: Data, to file: URL) throws {
        if (try? Data(contentsOf: file)) == data { return }
        do {
            try data.write(to: file, options: .atomic)
        } catch {
            throw ToolError("\(file.path): error: \(error.localizedDescription)")
        }
    }
}

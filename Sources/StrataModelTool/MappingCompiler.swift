import Foundation
import StrataModelFile
import StrataModelXML

/// Compiles a mapping model.
struct MappingCompiler {
    private let mapping: URL
    private let models: [URL]
    private let output: URL
    private let module: String

    /// - Throws: ``ToolError`` for arguments that are missing.
    init(_ command: ToolArguments) throws {
        let urls = command.models.map { URL(fileURLWithPath: $0) }
        mapping = urls[0]
        models = Array(urls.dropFirst())
        output = URL(fileURLWithPath: try command.option("cdm"))
        module = try command.option("module")
    }

    /// Does it.
    ///
    /// - Returns: the warnings, as they are printed.
    /// - Throws: ``ToolError`` with all that is wrong; ``ModelFileError``.
    func run() throws -> [String] {
        var reading = try XcodeMappingModel.read(contentsOf: mapping, models: models)
        let texts = reading.diagnostics.map(\.description)
        guard !reading.diagnostics.contains(where: { $0.severity == .error }) else {
            throw ToolError(texts.joined(separator: "\n"))
        }
        for position in reading.document.entityMappings.indices {
            // A class that is named without its module can be found at run time only with it.
            guard let name = reading.document.entityMappings[position].policyClassName, !name.contains(".") else {
                continue
            }
            reading.document.entityMappings[position].policyClassName = "\(module).\(name)"
        }
        try ModelTool.write(CompiledMapping.data(of: reading.document), to: output)
        return texts
    }
}

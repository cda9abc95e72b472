import Foundation
import PackagePlugin

/// `swift package strata-model generate` writes the classes of the models of targets into their folders, for those who
/// want to keep them with their sources; `swift package strata-model lint` says what is wrong with the models.
@main
struct StrataModelCommandPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        let output = extractor.extractOption(named: "output").last
        let verbs = extractor.remainingArguments
        guard let verb = verbs.first, verbs.count == 1, ["generate", "lint"].contains(verb) else {
            Diagnostics.error("usage: strata-model generate|lint [--target NAME]... [--output FOLDER]")
            return
        }
        let targets = names.isEmpty ? context.package.targets : try context.package.targets(named: names)
        let tool = try context.tool(named: "StrataModelTool").url
        for case let target as any SourceModuleTarget in targets {
            let files = target.sourceFiles.map(\.url)
            let configuration = files.first { $0.lastPathComponent == "StrataModel.json" }
            for model in files where ["xcdatamodeld", "xcdatamodel"].contains(model.pathExtension) {
                var command = [verb, model.path]
                if verb == "generate" {
                    let folder = URL(
                        filePath: output ?? "Generated", relativeTo: target.directoryURL)
                    command += ["--output", folder.path, "--module", target.moduleName]
                    if let configuration { command += ["--config", configuration.path] }
                }
                try run(tool, command)
            }
        }
    }

    private func run(_ tool: URL, _ arguments: [String]) throws {
        let process = try Process.run(tool, arguments: arguments)
        process.waitUntilExit()
        if process.terminationStatus != 0 { Diagnostics.error("StrataModelTool \(arguments[0]) failed") }
    }
}

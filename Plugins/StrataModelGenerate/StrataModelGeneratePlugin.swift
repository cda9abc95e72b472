import Foundation
import PackagePlugin

/// `swift package generate-model-classes` writes the classes of the models of targets into their folders, for those who
/// want to keep them with their sources.
@main
struct StrataModelGeneratePlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        let output = extractor.extractOption(named: "output").last ?? "Generated"
        guard extractor.remainingArguments.isEmpty else {
            Diagnostics.error("usage: generate-model-classes [--target NAME]... [--output FOLDER]")
            return
        }
        let targets = names.isEmpty ? context.package.targets : try context.package.targets(named: names)
        let tool = try context.tool(named: "StrataModelTool").url
        for case let target as any SourceModuleTarget in targets {
            let files = target.sourceFiles.map(\.url)
            let configuration = files.first { $0.lastPathComponent == "StrataModel.json" }
            let folder = URL(filePath: output, relativeTo: target.directoryURL)
            for model in files where ["xcdatamodeld", "xcdatamodel"].contains(model.pathExtension) {
                var command = ["generate", model.path, "--output", folder.path, "--module", target.moduleName]
                if let configuration { command += ["--config", configuration.path] }
                let process = try Process.run(tool, arguments: command)
                process.waitUntilExit()
                if process.terminationStatus != 0 { Diagnostics.error("\(model.path): no classes were generated") }
            }
        }
    }
}

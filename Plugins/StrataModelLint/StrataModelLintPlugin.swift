import Foundation
import PackagePlugin

/// `swift package lint-models` says what is wrong with the models and mapping models of targets, as Xcode would.
@main
struct StrataModelLintPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        guard extractor.remainingArguments.isEmpty else {
            Diagnostics.error("usage: lint-models [--target NAME]...")
            return
        }
        let targets = names.isEmpty ? context.package.targets : try context.package.targets(named: names)
        let tool = try context.tool(named: "StrataModelTool").url
        let models = targets.compactMap { $0 as? any SourceModuleTarget }
            .flatMap { $0.sourceFiles.map(\.url) }
            .filter { ["xcdatamodeld", "xcdatamodel", "xcmappingmodel"].contains($0.pathExtension) }
        guard !models.isEmpty else { return }
        let process = try Process.run(tool, arguments: ["lint"] + models.map(\.path))
        process.waitUntilExit()
        if process.terminationStatus != 0 { Diagnostics.error("there are errors in the models") }
    }
}

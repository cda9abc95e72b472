import Foundation
import PackagePlugin

/// Compiles the models of a target into its resources and generates the classes of their entities.
///
/// What it finds in the target's folder: "NAME.xcdatamodeld" and "NAME.xcdatamodel", and the options in
/// "StrataModel.json".
@main
struct StrataModelPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let tool = try context.tool(named: "StrataModelTool").url
        let files = target.sourceFiles.map(\.url)
        let configuration = files.first { $0.lastPathComponent == "StrataModel.json" }
        var names: Set<String> = []
        return try files.filter { ["xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) }.map { model in
            let name = model.deletingPathExtension().lastPathComponent
            guard names.insert(name).inserted else {
                Diagnostics.error("\(model.path): target '\(target.name)' has two models named '\(name)'")
                throw CocoaError(.fileReadUnknown)
            }
            let momd = context.pluginWorkDirectoryURL.appending(path: "\(name).momd")
            let swift = context.pluginWorkDirectoryURL.appending(path: "\(name)+CoreDataModel.swift")
            var arguments = [
                "compile", model.path, "--momd", momd.path, "--swift", swift.path, "--module", target.moduleName,
            ]
            if let configuration { arguments += ["--config", configuration.path] }
            return .buildCommand(
                displayName: "Compiling model \(name)", executable: tool, arguments: arguments,
                inputFiles: [model] + contents(of: model) + [configuration].compactMap(\.self),
                outputFiles: [swift, momd])
        }
    }

    /// The files in a model. A directory alone as an input would not show an edit inside of it.
    private func contents(of model: URL) -> [URL] {
        let found = FileManager.default.enumerator(at: model, includingPropertiesForKeys: nil)
        return (found?.allObjects ?? []).compactMap { $0 as? URL }
            .filter { ["contents", ".xccurrentversion"].contains($0.lastPathComponent) }
            .sorted { $0.path < $1.path }
    }
}

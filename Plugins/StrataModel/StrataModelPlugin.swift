import Foundation
import PackagePlugin

/// Compiles the models and mapping models of a target into its resources and generates the classes of the models'
/// entities.
///
/// What it finds in the target's folder: "NAME.xcdatamodeld", "NAME.xcdatamodel" and "NAME.xcmappingmodel", and the
/// options in "StrataModel.json".
@main
struct StrataModelPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let tool = try context.tool(named: "StrataModelTool").url
        let files = target.sourceFiles.map(\.url)
        let configuration = files.first { $0.lastPathComponent == "StrataModel.json" }
        let models = files.filter { ["xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) }
        let mappings = files.filter { $0.pathExtension == "xcmappingmodel" }
        var names: Set<String> = []
        for file in models + mappings {
            // Models and mapping models may go by one name: they are compiled to files of different kinds.
            let name = file.deletingPathExtension().lastPathComponent
            let kind = mappings.contains(file) ? "mapping models" : "models"
            guard names.insert("\(kind) \(name)").inserted else {
                Diagnostics.error("\(file.path): target '\(target.name)' has two \(kind) named '\(name)'")
                throw CocoaError(.fileReadUnknown)
            }
        }
        StaleOutputs(
            work: context.pluginWorkDirectoryURL, bundle: "\(context.package.displayName)_\(target.name)",
            models: models, mappings: mappings
        ).remove()
        let compiling = models.map { model in
            let name = model.deletingPathExtension().lastPathComponent
            let momd = context.pluginWorkDirectoryURL.appending(path: "\(name).momd")
            let swift = context.pluginWorkDirectoryURL.appending(path: "\(name)+CoreDataModel.swift")
            var arguments = [
                "compile", model.path, "--momd", momd.path, "--swift", swift.path, "--module", target.moduleName,
            ]
            if let configuration { arguments += ["--config", configuration.path] }
            return Command.buildCommand(
                displayName: "Compiling model \(name)", executable: tool, arguments: arguments,
                inputFiles: [model] + contents(of: model) + [configuration].compactMap(\.self),
                outputFiles: [swift, momd])
        }
        let mapping = mappings.map { mapping in
            let name = mapping.deletingPathExtension().lastPathComponent
            let cdm = context.pluginWorkDirectoryURL.appending(path: "\(name).cdm")
            return Command.buildCommand(
                displayName: "Compiling mapping model \(name)", executable: tool,
                arguments: ["compile-mapping", mapping.path] + models.map(\.path)
                    + ["--cdm", cdm.path, "--module", target.moduleName],
                inputFiles: ([mapping] + models).flatMap { [$0] + contents(of: $0) }, outputFiles: [cdm])
        }
        return compiling + mapping
    }

    /// The files in a model. A directory alone as an input would not show an edit inside of it.
    private func contents(of model: URL) -> [URL] {
        let found = FileManager.default.enumerator(at: model, includingPropertiesForKeys: nil)
        return (found?.allObjects ?? []).compactMap { $0 as? URL }
            .filter { ["contents", ".xccurrentversion", "xcmapping.xml"].contains($0.lastPathComponent) }
            .sorted { $0.path < $1.path }
    }
}

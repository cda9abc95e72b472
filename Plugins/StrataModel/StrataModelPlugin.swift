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
        removeWhatIsLeft(of: target, models: models, mappings: mappings, in: context.pluginWorkDirectoryURL)
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

    /// Removes what was compiled of models that the target has no more, or excludes by now. SwiftPM would leave it in
    /// the target's bundle, where programs look for models.
    ///
    /// - Parameter work: "plugins/outputs/PACKAGE/TARGET/destination/StrataModel" below the build folder.
    private func removeWhatIsLeft(of target: any Target, models: [URL], mappings: [URL], in work: URL) {
        func names(_ files: [URL], _ suffix: String) -> [String] {
            files.map { $0.deletingPathExtension().lastPathComponent + suffix }
        }
        let files = FileManager.default
        let current = Set(
            names(models, ".momd") + names(models, "+CoreDataModel.swift") + names(mappings, ".cdm"))
        let stale = ((try? files.contentsOfDirectory(atPath: work.path)) ?? []).filter { name in
            [".momd", ".cdm", "+CoreDataModel.swift"].contains { name.hasSuffix($0) } && !current.contains(name)
        }
        guard !stale.isEmpty else { return }
        let directories = [work] + bundles(of: target, besides: work)
        for directory in directories {
            for name in stale { try? files.removeItem(at: directory.appending(path: name)) }
        }
    }

    /// The bundles of a target in the build folder, of every platform and configuration.
    private func bundles(of target: any Target, besides work: URL) -> [URL] {
        func contents(_ directory: URL) -> [URL] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
            return names.map { directory.appending(path: $0) }
        }
        var build = work
        while build.lastPathComponent != "plugins", build.path.count > 1 { build.deleteLastPathComponent() }
        return contents(build.deletingLastPathComponent()).flatMap(contents).flatMap(contents).filter { url in
            ["resources", "bundle"].contains(url.pathExtension)
                && url.deletingPathExtension().lastPathComponent.hasSuffix("_\(target.name)")
        }
    }

    /// The files in a model. A directory alone as an input would not show an edit inside of it.
    private func contents(of model: URL) -> [URL] {
        let found = FileManager.default.enumerator(at: model, includingPropertiesForKeys: nil)
        return (found?.allObjects ?? []).compactMap { $0 as? URL }
            .filter { ["contents", ".xccurrentversion", "xcmapping.xml"].contains($0.lastPathComponent) }
            .sorted { $0.path < $1.path }
    }
}

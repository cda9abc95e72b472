import Foundation
import PackagePlugin

/// `swift package port [--write] [--target NAME]...`: rewrites what the Linux compiler does not take, or says what it
/// would rewrite.
@main
struct Port: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        let writes = extractor.extractFlag(named: "write") > 0
        if let unknown = extractor.remainingArguments.first {
            Diagnostics.error("\(unknown) is not known; port takes --write and --target NAME")
            return
        }
        let targets = context.package.targets.compactMap { $0 as? SwiftSourceModuleTarget }
        let chosen = names.isEmpty ? targets : targets.filter { names.contains($0.name) }
        for name in names where !targets.contains(where: { $0.name == name }) {
            Diagnostics.error("the package has no Swift target named \(name)")
        }
        for target in chosen {
            let sources = target.sourceFiles(withSuffix: "swift").map(\.url.path)
            guard !sources.isEmpty else { continue }
            let process = try Process.run(
                context.tool(named: "StrataPortTool").url,
                arguments: self.arguments(for: target, context) + (writes ? ["--write"] : []) + sources)
            process.waitUntilExit()
            if process.terminationStatus != 0 { Diagnostics.error("\(target.name) could not be ported") }
        }
    }

    private func arguments(for target: SwiftSourceModuleTarget, _ context: PluginContext) throws -> [String] {
        let work = context.pluginWorkDirectoryURL.appending(path: target.name)
        var arguments = [
            "--module", target.moduleName, "--work", work.path, "--root", context.package.directoryURL.path,
        ]
        if let compiler = try? context.tool(named: "swiftc").url { arguments += ["--compiler", compiler.path] }
        for condition in target.compilationConditions { arguments += ["--condition", condition] }
        let files = Array(target.sourceFiles)
        let models = files.map(\.url).filter { ["xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) }
        // The plugin StrataModel makes resources of models.
        if !models.isEmpty || files.contains(where: { $0.type == .resource }) { arguments.append("--resources") }
        if !target.recursiveTargetDependencies.contains(where: { $0.name == "CoreData" }) {
            arguments.append("--without-core-data")
        }
        arguments += ["--importable", target.moduleName]
        for dependency in target.recursiveTargetDependencies {
            let module = (dependency as? any SourceModuleTarget)?.moduleName ?? dependency.name
            arguments += ["--importable", module]
        }
        for model in models { arguments += ["--model", model.deletingPathExtension().lastPathComponent] }
        for classes in try models.compactMap({ try self.classes(of: $0, in: target, context, work) }) {
            arguments += ["--context", classes.path]
        }
        return arguments
    }

    /// The classes that the plugin StrataModel generates of a model: the sources name their properties. Nil if the
    /// model cannot be read, which the plugin is to say when the target is built.
    private func classes(
        of model: URL, in target: SwiftSourceModuleTarget, _ context: PluginContext, _ work: URL
    ) throws -> URL? {
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        let name = model.deletingPathExtension().lastPathComponent
        let swift = work.appending(path: "\(name)+CoreDataModel.swift")
        var arguments = [
            "compile", model.path, "--momd", work.appending(path: "\(name).momd").path, "--swift", swift.path,
            "--module", target.moduleName,
        ]
        let configuration = target.sourceFiles.map(\.url).first { $0.lastPathComponent == "StrataModel.json" }
        if let configuration { arguments += ["--config", configuration.path] }
        let process = Process()
        process.executableURL = try context.tool(named: "StrataModelTool").url
        process.arguments = arguments
        // The plugin prints the warnings.
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? swift : nil
    }
}

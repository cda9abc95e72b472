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
        for model in models {
            let (classes, errors) = try self.classes(of: model, in: target, context, work)
            if let classes { arguments += ["--context", classes.path] }
            for error in errors { arguments += ["--model-error", error] }
        }
        return arguments
    }

    /// The classes that the plugin StrataModel generates of a model, as far as it can be read: the sources name their
    /// properties. What is wrong with the model is part of the report.
    private func classes(
        of model: URL, in target: SwiftSourceModuleTarget, _ context: PluginContext, _ work: URL
    ) throws -> (file: URL?, errors: [String]) {
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        let name = model.deletingPathExtension().lastPathComponent
        let swift = work.appending(path: "\(name)+CoreDataModel.swift")
        try? FileManager.default.removeItem(at: swift)
        var arguments = ["outline", model.path, "--swift", swift.path, "--module", target.moduleName]
        let configuration = target.sourceFiles.map(\.url).first { $0.lastPathComponent == "StrataModel.json" }
        if let configuration { arguments += ["--config", configuration.path] }
        let process = Process()
        process.executableURL = try context.tool(named: "StrataModelTool").url
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let errors = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (
            FileManager.default.fileExists(atPath: swift.path) ? swift : nil,
            errors.split(separator: "\n").map { String($0) }
        )
    }
}

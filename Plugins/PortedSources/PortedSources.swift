import Foundation
import PackagePlugin

/// Compiles sources that were written for Apple's platforms and stay as they are: those in the target's folder which
/// the target excludes. What `port` would write into them goes into the build directory.
@main
struct PortedSources: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? SwiftSourceModuleTarget else { return [] }
        let listed = target.sourceFiles(withSuffix: "swift").map(\.url)
        let generated = target.pluginGeneratedSources.filter { $0.pathExtension == "swift" }
        let sources = excluded(target, except: Set(listed.map(\.standardizedFileURL.path)))
        guard !sources.isEmpty else {
            Diagnostics.warning("target '\(target.name)' excludes no sources for PortedSources to compile")
            return []
        }
        let output = context.pluginWorkDirectoryURL.appending(path: "Sources")
        let work = context.pluginWorkDirectoryURL.appending(path: "Work")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        var arguments = ["--module", target.moduleName, "--output", output.path, "--work", work.path]
        if let compiler = try? context.tool(named: "swiftc") { arguments += ["--compiler", compiler.url.path] }
        for condition in target.compilationConditions { arguments += ["--condition", condition] }
        let hasResources =
            target.sourceFiles.contains { $0.type == .resource } || !target.pluginGeneratedResources.isEmpty
        if hasResources { arguments.append("--resources") }
        for model in target.sourceFiles.map(\.url) where ["xcdatamodeld", "xcdatamodel"].contains(model.pathExtension) {
            arguments += ["--model", model.deletingPathExtension().lastPathComponent]
        }
        if !target.recursiveTargetDependencies.contains(where: { $0.name == "CoreData" }) {
            arguments.append("--without-core-data")
        }
        for file in listed + generated { arguments += ["--context", file.path] }
        return [
            .buildCommand(
                displayName: "Porting the sources of \(target.moduleName)",
                executable: try context.tool(named: "StrataPortTool").url, arguments: arguments + sources.map(\.path),
                inputFiles: sources + listed + generated,
                // As the tool names them.
                outputFiles: sources.map {
                    output.appending(path: $0.deletingPathExtension().lastPathComponent + "+Ported.swift")
                })
        ]
    }

    /// The Swift files in the target's folder that are none of the target's.
    private func excluded(_ target: SwiftSourceModuleTarget, except listed: Set<String>) -> [URL] {
        let found = FileManager.default.enumerator(at: target.directoryURL, includingPropertiesForKeys: nil)
        return (found?.allObjects ?? []).compactMap { $0 as? URL }
            .filter { $0.pathExtension == "swift" && !listed.contains($0.standardizedFileURL.path) }
            .sorted { $0.path < $1.path }
    }
}

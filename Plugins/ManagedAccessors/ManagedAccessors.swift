import Foundation
import PackagePlugin

/// Generates the accessors of a target's `@NSManaged` properties and methods.
@main
struct ManagedAccessors: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? SwiftSourceModuleTarget else { return [] }
        let sources = target.sourceFiles(withSuffix: "swift").map(\.url)
        let generated = target.pluginGeneratedSources.filter { $0.pathExtension == "swift" }
        let inputs = sources + generated
        guard !inputs.isEmpty else { return [] }

        let work = context.pluginWorkDirectoryURL
        let output = work.appending(path: "ManagedAccessors.swift")
        var arguments = ["--module", target.moduleName, "--output", output.path, "--work", work.path]
        if let compiler = try? context.tool(named: "swiftc") { arguments += ["--compiler", compiler.url.path] }
        for condition in target.compilationConditions { arguments += ["--condition", condition] }
        for dependency in Self.dependencies(of: target) {
            arguments += ["--dependency", dependency.moduleName]
            arguments += dependency.sourceFiles(withSuffix: "swift").map(\.url.path) + ["--"]
        }
        arguments += inputs.map(\.path)
        return [
            .buildCommand(
                displayName: "Generating accessors of \(target.moduleName)",
                executable: try context.tool(named: "StrataAccessorTool").url, arguments: arguments,
                inputFiles: inputs, outputFiles: [output])
        ]
    }

    /// The modules whose types a property could have, dependencies first. Strata's own are known to the tool.
    private static func dependencies(of target: SwiftSourceModuleTarget) -> [SwiftSourceModuleTarget] {
        let own: Set<String> = ["Strata", "CoreData", "StrataLog", "StrataIO"]
        let all = target.recursiveTargetDependencies.compactMap { $0 as? SwiftSourceModuleTarget }
        let modules = all.filter { !own.contains($0.moduleName) }
        // Those of Strata's own dependencies are of no use to a property.
        let inner = Set(
            all.filter { own.contains($0.moduleName) }
                .flatMap { $0.recursiveTargetDependencies }.map(\.id))
        var seen: Set<String> = []
        return modules.filter { !inner.contains($0.id) && seen.insert($0.moduleName).inserted }
    }
}

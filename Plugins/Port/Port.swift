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
        let tool = try context.tool(named: "StrataPortTool").url
        let compiler = try? context.tool(named: "swiftc").url
        for target in chosen {
            let sources = target.sourceFiles(withSuffix: "swift").map(\.url.path)
            guard !sources.isEmpty else { continue }
            let work = context.pluginWorkDirectoryURL.appending(path: target.name)
            var arguments = ["--module", target.moduleName, "--work", work.path]
            if let compiler { arguments += ["--compiler", compiler.path] }
            for condition in target.compilationConditions { arguments += ["--condition", condition] }
            if writes { arguments.append("--write") }
            let process = try Process.run(tool, arguments: arguments + sources)
            process.waitUntilExit()
            if process.terminationStatus != 0 { Diagnostics.error("\(target.name) could not be ported") }
        }
    }
}

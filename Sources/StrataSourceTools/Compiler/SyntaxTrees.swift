import Foundation

/// Has the compiler print the trees of a module's files, as far as it understands them: what cannot be resolved is an
/// error to the compiler, and does not matter.
struct SyntaxTrees {
    let module: String
    let conditions: [String]
    let workDirectory: URL
    /// Modules that `#if canImport` holds for.
    var importable: [String] = []

    init(module: String, conditions: [String], workDirectory: URL) {
        self.module = module
        self.conditions = conditions
        self.workDirectory = workDirectory
    }

    /// The trees of some of the module's files, in their order.
    ///
    /// - Throws: ``SwiftFrontend/Failure`` if the compiler printed none, and what reading files throws.
    func read(
        _ files: [SourceText], all sources: [String], withBodies: Bool, stubs: StubModules, frontend: SwiftFrontend
    ) throws -> [SyntaxNode] {
        let directory = workDirectory.appendingPathComponent("trees")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let outputs = files.indices.map { directory.appendingPathComponent("\($0).json") }
        for output in outputs { try? FileManager.default.removeItem(at: output) }
        let relevant = Set(files.map(\.path))
        var arguments = [
            "-dump-ast", "-dump-ast-format", "json", "-module-name", module, "-package-name", "package",
            "-swift-version", "6", "-I", stubs.directory.path, "-experimental-allow-module-with-compiler-errors",
            "-suppress-warnings",
        ]
        // A file of this name may have statements outside of functions.
        if !sources.contains(where: { $0.hasSuffix("/main.swift") }) { arguments.append("-parse-as-library") }
        // Bodies are read to be ported, and then imports of parts of Core Data, which there are not, are still there.
        arguments += withBodies ? ["-import-module", "CoreData"] : ["-experimental-skip-all-function-bodies"]
        for name in ["SWIFT_PACKAGE"] + conditions { arguments += ["-D", name] }
        for name in importable { arguments += ["-module-can-import", name] }
        for path in sources where !relevant.contains(path) { arguments.append(path) }
        for (file, output) in zip(files, outputs) { arguments += ["-primary-file", file.path, "-o", output.path] }
        let outcome = try frontend.run(arguments)
        return try zip(files, outputs).map { file, output in
            guard let json = try? Data(contentsOf: output), !json.isEmpty else {
                throw SwiftFrontend.Failure(
                    description: "the compiler printed nothing of \(file.path):\n\(outcome.messages)")
            }
            return try SyntaxNode(json: json)
        }
    }
}

public import Foundation

/// Rewrites sources written for Apple's platforms where no plugin can make the Linux compiler take them, and lists what
/// is left for a person.
///
/// What it changes, once: `@objc` attributes go (the name that one gave a class of managed objects is kept as
/// `objectiveCName`), overrides move from extensions into their classes, `#keyPath` becomes the string that it stands
/// for, a forced cast to `NSFetchRequest<...>` becomes the converting initialiser, and imports of parts of Core Data
/// become imports of all of it. Optional requirements of protocols get defaults and their calls lose the second
/// question mark, `Bundle(for:)` becomes `Bundle.module`, and files that use what only Apple's Foundation has import
/// CoreData. Sources that it has rewritten it leaves as they are.
public struct SourcePorter {
    /// The module's name.
    public var module: String
    /// The paths of the module's sources.
    public var sources: [String]
    /// The paths of further sources of the module, which are looked into and stay as they are.
    public var context: [String] = []
    /// Whether the target has resources, compiled models among them, and so a `Bundle.module`.
    public var hasResources = false
    /// The names of the target's models, which are resources.
    public var models: Set<String> = []
    /// Whether the target can import CoreData.
    public var hasCoreData = true
    /// The modules of what the target depends on; nil if they are not known, and then imports of other modules than
    /// Apple's own are not looked at.
    public var importable: Set<String>?
    /// Names that `#if` knows. What they exclude is not rewritten.
    public var conditions: [String] = []
    /// The path of `swiftc` or `swift-frontend`; nil looks for one.
    public var compiler: String?
    /// A directory for what the compiler is given and prints.
    public var workDirectory: URL

    /// What is to be done about the sources.
    public struct Report: Sendable {
        /// The new text of each file that changes, by its path.
        public var rewritten: [String: String] = [:]
        /// The text of every file for the compiler, rewritten where it has to be, by its path: directives say which
        /// line of the file each line was.
        public var mapped: [String: String] = [:]
        /// What was changed, in the order of the files.
        public var changes: [PortNote] = []
        /// What a person has to see to.
        public var remaining: [PortNote] = []
    }

    /// Describes a module.
    public init(module: String, sources: [String], workDirectory: URL) {
        self.module = module
        self.sources = sources
        self.workDirectory = workDirectory
    }

    /// Finds out what is to be done. Writes no source.
    ///
    /// - Throws: ``SwiftFrontend/Failure`` if the compiler cannot be run, and what reading files throws.
    public func report() throws -> Report {
        let files = try (sources + context).map { try SourceText(path: $0) }
        guard !files.isEmpty else { return Report() }
        let frontend = try SwiftFrontend(compiler: compiler)
        let stubs = try StubModules(in: workDirectory.appendingPathComponent("modules"), frontend: frontend)
        let trees = try SyntaxTrees(module: module, conditions: conditions, workDirectory: workDirectory)
            .read(files, all: sources + context, withBodies: true, stubs: stubs, frontend: frontend)

        let declarations = PortedDeclarations(zip(files, trees).map { ($0, $1) })
        let requirements = OptionalRequirements(zip(files, trees).map { ($0, $1) })
        let dependencies = PortedDependencies(
            modules: (importable ?? []).union([module, "CoreData"]), areAll: importable != nil)
        var files2: [PortedFile] = zip(files, trees).map { PortedFile($0, $1, declarations, requirements) }
        for index in files2.indices {
            files2[index].isContext = index >= sources.count
            files2[index].hasResources = hasResources
            files2[index].models = models
            files2[index].hasCoreData = hasCoreData
            files2[index].dependencies = dependencies
            if !files2[index].isContext { files2[index].rewrite() }
        }
        for requirement in requirements.rewritten {
            for method in declarations.unheard(requirement) {
                files2[method.file].report(
                    remaining: method.offset,
                    "'\(requirement.title)' is not called through \(requirement.owner): declare it in "
                        + "\(method.conforming), which conforms to it, and override it here")
            }
        }
        OverrideMover(declarations).move(in: &files2)

        var report = Report()
        for file in files2 where !file.isContext {
            let text = file.edits.applied
            if text != file.source.bytes { report.rewritten[file.source.path] = String(decoding: text, as: UTF8.self) }
            report.mapped[file.source.path] = String(decoding: file.edits.mapped(file.source.path), as: UTF8.self)
            report.changes += file.changes.sorted { $0.line < $1.line }
            report.remaining += file.remaining.sorted { $0.line < $1.line }
        }
        return report
    }
}

/// A place in a source file and what was, or is to be, done there.
public struct PortNote: Equatable, Sendable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// From 1.
    public let line: Int
    /// What it is about.
    public let message: String

    /// `file:line: message`.
    public var description: String { description(from: nil) }

    /// The same, with the path of a file below a directory as it is from there.
    public func description(from directory: String?) -> String {
        let prefix = directory.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
        return "\(path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path):\(line): \(message)"
    }
}

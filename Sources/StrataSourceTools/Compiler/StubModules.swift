import Foundation

/// Modules that say just enough of Strata for the compiler to resolve the declarations of a target.
///
/// The tool runs before the target's dependencies are built, and needs none of them but for the types that
/// `@NSManaged` properties have.
struct StubModules {
    /// Types of descriptions and expressions that a property could be of: Strata exports them, and the compiler says in
    /// symbols where they are declared.
    private static let schema = """
        @_exported import Foundation
        public final class NSManagedObjectModel: NSObject {}
        public final class NSEntityDescription: NSObject {}
        open class NSPropertyDescription: NSObject {}
        open class NSAttributeDescription: NSPropertyDescription {}
        open class NSRelationshipDescription: NSPropertyDescription {}
        open class NSExpression: NSObject {}
        open class NSComparisonPredicate: NSPredicate {}
        """

    /// The same of the rows below the object graph.
    private static let rows = """
        @_exported import Foundation
        public final class NSManagedObjectID: NSObject {}
        """

    /// What a class of managed objects inherits, and the other types that a property could be of.
    private static let strata = """
        @_exported import Foundation
        @_exported import StrataRows
        @_exported import StrataSchema
        public typealias NSExpression = StrataSchema.NSExpression
        public typealias NSComparisonPredicate = StrataSchema.NSComparisonPredicate
        open class NSManagedObject: NSObject {}
        public final class NSManagedObjectContext: NSObject {}
        public protocol NSFetchRequestResult: NSObjectProtocol {}
        public final class NSFetchRequest<ResultType: NSFetchRequestResult>: NSObject {}
        extension NSManagedObject: NSFetchRequestResult {}
        public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>
        """

    let directory: URL

    /// Compiles the modules into a directory, unless it has them.
    ///
    /// - Throws: ``SwiftFrontend/Failure``, and what writing throws.
    init(in directory: URL, frontend: SwiftFrontend) throws {
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try compile("StrataSchema", Self.schema, frontend)
        try compile("StrataRows", Self.rows, frontend)
        try compile("Strata", Self.strata, frontend)
        try compile("CoreData", "@_exported import Strata", frontend)
    }

    private func compile(_ name: String, _ text: String, _ frontend: SwiftFrontend) throws {
        let source = directory.appendingPathComponent("\(name).swift")
        let module = directory.appendingPathComponent("\(name).swiftmodule")
        // The compiler of another toolchain may be used next time.
        let line = "// \(frontend.executable.path)\n\(text)\n"
        if FileManager.default.fileExists(atPath: module.path),
            (try? String(contentsOf: source, encoding: .utf8)) == line
        {
            return
        }
        try? FileManager.default.removeItem(at: source)
        let part = directory.appendingPathComponent("\(name).\(UUID().uuidString).swift")
        try Data(line.utf8).write(to: part)
        defer { try? FileManager.default.removeItem(at: part) }
        let outcome = try frontend.run([
            "-emit-module", "-parse-as-library", "-module-name", name, "-I", directory.path, part.path, "-o",
            module.path,
        ])
        guard outcome.status == 0 else {
            throw SwiftFrontend.Failure(
                description: "the compiler refused the outline of \(name):\n\(outcome.messages)")
        }
        try Data(line.utf8).write(to: source)
    }

    /// Compiles what a dependency declares, as far as the compiler understands it without its dependencies.
    func add(_ dependency: Dependency, frontend: SwiftFrontend) throws {
        let module = directory.appendingPathComponent("\(dependency.name).swiftmodule")
        _ = try frontend.run(
            ["-emit-module", "-parse-as-library", "-module-name", dependency.name, "-I", directory.path]
                + ["-package-name", "package", "-swift-version", "6", "-experimental-skip-all-function-bodies"]
                + ["-experimental-allow-module-with-compiler-errors", "-o", module.path] + dependency.sources)
    }
}

/// A module that the target depends on, as far as its sources are known.
public struct Dependency: Equatable, Sendable {
    /// The module's name.
    public var name: String
    /// Paths.
    public var sources: [String]

    /// Describes a module.
    public init(name: String, sources: [String]) {
        self.name = name
        self.sources = sources
    }
}

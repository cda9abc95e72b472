import Foundation

@testable import StrataSourceTools

/// Source files in a directory of their own, which goes with the fixture.
final class SourceFixture {
    let directory: URL
    private(set) var paths: [String] = []

    init(_ files: [(name: String, text: String)]) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("strata-sources-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        paths = try files.map { try write($0.name, $0.text) }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        let file = directory.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    var work: URL { directory.appendingPathComponent("work") }

    func generator() -> AccessorGenerator { AccessorGenerator(module: "Mod", sources: paths, workDirectory: work) }

    func report() throws -> SourcePorter.Report {
        try SourcePorter(module: "Mod", sources: paths, workDirectory: work).report()
    }

    /// What porting makes of the file with a name.
    func ported(_ name: String) throws -> String? {
        try report().rewritten.first { $0.key.hasSuffix("/\(name)") }?.value
    }
}

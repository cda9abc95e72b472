import Foundation

@testable import DebianIndex

/// A folder that is gone when the test is.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "debian-index-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Writes a file and returns its path.
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
        return file.path
    }

    func file(_ name: String, _ text: String) throws -> String { try file(name, Array(text.utf8)) }
}

/// Reads text as an index file.
func readIndex(_ texts: String...) throws -> PackageIndex {
    let folder = try TemporaryFolder()
    let paths = try texts.enumerated().map { try folder.file("Packages-\($0.offset)", $0.element) }
    return try PackageIndex.read(paths)
}

/// The error that reading text as an index file throws.
func readingFailure(_ text: String) throws -> IndexError? {
    let folder = try TemporaryFolder()
    let path = try folder.file("Packages", text)
    do throws(IndexError) {
        _ = try PackageIndex.read([path])
        return nil
    } catch {
        return error
    }
}

extension PackageIndex {
    func package(_ name: String) -> PackageRecord? { packages.first { $0.name == name } }

    /// The dependencies of a package of one kind, written out.
    func relations(_ name: String, _ kind: DependencyKind) -> [String] {
        guard let owner = packages.firstIndex(where: { $0.name == name }) else { return [] }
        return dependencies.filter { $0.owner == owner && $0.kind == kind }.map { dependency in
            let target = dependency.target.map { packages[$0].name } ?? "?" + (dependency.unresolvedName ?? "")
            let qualifier = dependency.qualifier.map { ":" + $0 } ?? ""
            let constraint = dependency.version.map { " (\(dependency.relation.symbol) \($0))" } ?? ""
            return "\(dependency.group).\(dependency.alternative) \(target)\(qualifier)\(constraint)"
        }
    }
}

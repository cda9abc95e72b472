import Foundation

/// The index files of a machine.
public struct IndexSource: Hashable, Sendable {
    /// The files, to be read together.
    public let paths: [String]
    /// What they are, to be shown to a reader.
    public let summary: String

    /// One index file.
    public init(path: String) {
        paths = [path]
        summary = path
    }

    private init(paths: [String], summary: String) {
        self.paths = paths
        self.summary = summary
    }

    /// The best source that this machine has: apt's lists, else dpkg's list of installed packages, else the sample.
    ///
    /// Empty files and those whose compression this program does not read are passed over.
    ///
    /// - Parameter root: Where `var/lib` lies; tests give a folder of their own.
    public static func discover(root: String = "/") -> IndexSource {
        let lists = URL(filePath: root).appending(path: "var/lib/apt/lists")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: lists.path)) ?? []
        let paths = names.sorted()
            .filter { $0.hasSuffix("_Packages") || $0.hasSuffix("_Packages.lz4") }
            .map { lists.appending(path: $0).path }
            .filter(isReadableAndFilled)
        if !paths.isEmpty {
            return IndexSource(paths: paths, summary: "\(paths.count) package lists in \(lists.path)")
        }
        let status = URL(filePath: root).appending(path: "var/lib/dpkg/status").path
        if isReadableAndFilled(status) {
            return IndexSource(
                paths: [status], summary: "\(status) (apt has no lists; apt-get update would fetch them)")
        }
        return sample
    }

    /// The small index that comes with this program.
    public static var sample: IndexSource {
        let path = Bundle.module.path(forResource: "sample-Packages", ofType: nil) ?? "sample-Packages"
        return IndexSource(paths: [path], summary: "the sample index that comes with this program")
    }

    private static func isReadableAndFilled(_ path: String) -> Bool {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return false }
        let size = attributes[.size] as? NSNumber
        return (size?.intValue ?? 0) > 0 && FileManager.default.isReadableFile(atPath: path)
    }
}

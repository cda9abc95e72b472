/// The packages of one or more index files and how they depend on each other.
///
/// Of several stanzas with one name the latest version counts, as apt has it; among equals the first read. A name that
/// is provided and has no stanza of its own becomes a virtual package, so that dependencies on it have a target.
public struct PackageIndex: Sendable {
    /// What was read to make an index.
    public struct Statistics: Hashable, Sendable {
        /// Bytes of the files as they lie on disk.
        public var storedByteCount = 0
        /// Bytes of the files after decompression.
        public var rawByteCount = 0
        /// Stanzas read.
        public var stanzaCount = 0
        /// Stanzas left out since another of the same name has the same or a later version.
        public var supersededCount = 0
        /// Stanzas left out since dpkg's status says that the package is not installed.
        public var notInstalledCount = 0
    }

    /// The packages: those with stanzas in the order of the files, then the virtual ones.
    public var packages: [PackageRecord] = []
    /// How many of ``packages``, at their end, are virtual.
    public var virtualPackageCount = 0
    /// The distinct Maintainer fields.
    public var maintainers: [String] = []
    /// The distinct sections, such as `libs` or `non-free/games`.
    public var sections: [String] = []
    /// The dependencies, those of one package together and packages in the order of ``packages``.
    public var dependencies: [DependencyRecord] = []
    /// What was read.
    public var statistics = Statistics()

    /// The number of objects or rows that storing the index makes.
    public var objectCount: Int { sections.count + maintainers.count + packages.count + dependencies.count }

    /// Reads the files, one after another, without keeping their bytes.
    ///
    /// - Parameter paths: Package indexes, plain or in LZ4 frames, or dpkg's status file.
    /// - Throws: ``IndexError`` naming the file and, where there is one, the line; `.empty` when no file holds a
    ///   package.
    /// - Complexity: O(bytes read).
    public static func read(_ paths: [String]) throws(IndexError) -> PackageIndex {
        var builder = PackageIndexBuilder()
        for path in paths { try builder.read(path) }
        guard builder.hasPackages else {
            throw IndexError(.empty, path: paths.joined(separator: ", "), "holds no packages")
        }
        return builder.finish()
    }

    /// The names nearest to one that does not exist, best first.
    ///
    /// - Complexity: O(packages · length²).
    public func names(near name: String, limit: Int = 5) -> [String] {
        let wanted = Array(name.lowercased().utf8)
        let scored = packages.compactMap { package -> (score: Int, name: String)? in
            let candidate = Array(package.name.utf8)
            if candidate.starts(with: wanted), !wanted.isEmpty { return (candidate.count - wanted.count, package.name) }
            guard abs(candidate.count - wanted.count) <= 3 else { return nil }
            let distance = EditDistance.between(wanted, candidate)
            return distance <= max(2, wanted.count / 3) ? (distance, package.name) : nil
        }
        return scored.sorted { ($0.score, $0.name) < ($1.score, $1.name) }.prefix(limit).map(\.name)
    }
}

import Foundation

/// All versions of a model: what an ".xcdatamodeld" holds, and the ".momd" that is compiled of it.
public struct VersionedModel: Equatable, Sendable {
    /// One version.
    public struct Version: Equatable, Sendable {
        /// The name, without extension.
        public var name: String
        /// The model.
        public var document: ModelDocument

        /// Creates a version.
        public init(name: String, document: ModelDocument) {
            self.name = name
            self.document = document
        }
    }

    /// The versions, by name.
    public var versions: [Version]
    /// The name of the version that is in use.
    public var currentName: String

    /// Creates a model of versions.
    public init(versions: [Version], currentName: String) {
        self.versions = versions
        self.currentName = currentName
    }

    /// The version that is in use; nil if there is none of its name.
    public var current: Version? { versions.first { $0.name == currentName } }

    /// Writes the versions as a directory of compiled models with a "VersionInfo.plist" that names the current one.
    /// Files that are there already and have the same bytes are left alone; other compiled models are removed.
    ///
    /// The property list has an entry for each version, as that of Apple's tools, with Strata's version hashes of its
    /// entities. Those of a version with derived attributes are left out, since only the library computes them. Not
    /// atomic: it is for build directories.
    ///
    /// - Throws: ``ModelFileError`` with `unwritable`.
    public func writeCompiled(to directory: URL) throws {
        var files: [String: Data] = [:]
        for version in versions {
            files[version.name + ".mom"] = try CompiledModel.data(of: version.document)
        }
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let info = VersionInfo(self)
            // Its bytes may differ though it says the same.
            if VersionInfo(in: directory) != info { files["VersionInfo.plist"] = try info.data() }
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
            where name.hasSuffix(".mom") && files[name] == nil {
                try FileManager.default.removeItem(at: directory.appendingPathComponent(name))
            }
            for (name, data) in files {
                let file = directory.appendingPathComponent(name)
                if (try? Data(contentsOf: file)) != data { try data.write(to: file) }
            }
        } catch {
            throw ModelFileError(.unwritable, "\(directory.path): \(error)")
        }
    }
}

import CStrataSupport
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
    /// Files that are there already and have the same bytes are left alone; other compiled models are removed. Each
    /// file is replaced as a whole, a link with its name, too, whose target stays; no directory is removed.
    ///
    /// The property list has an entry for each version, as that of Apple's tools, with Strata's version hashes of its
    /// entities. Those of a version with derived attributes are left out, since only the library computes them. Not
    /// atomic: it is for build directories.
    ///
    /// - Throws: ``ModelFileError`` with `unwritable`.
    public func writeCompiled(to directory: URL) throws {
        var files: [String: Data] = [:]
        for version in versions {
            files[try version.fileName("mom")] = try CompiledModel.data(of: version.document)
        }
        // Foundation opens the files.
        strata_standard_descriptors_occupy()
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let info = VersionInfo(self)
            // Its bytes may differ though it says the same.
            if VersionInfo(in: directory) != info { files["VersionInfo.plist"] = try info.data() }
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
            where name.hasSuffix(".mom") && files[name] == nil {
                let file = directory.appendingPathComponent(name)
                let kind = try FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
                if kind != .typeDirectory { try FileManager.default.removeItem(at: file) }
            }
            for (name, data) in files {
                let file = directory.appendingPathComponent(name)
                if (try? Data(contentsOf: file)) != data { try data.write(to: file, options: .atomic) }
            }
        } catch {
            throw ModelFileError(.unwritable, "\(directory.path): \(error)")
        }
    }
}

extension VersionedModel.Version {
    /// The name of the version's file or directory, which lies in that of the model.
    ///
    /// - Throws: ``ModelFileError`` with `unwritable` for a name that leads elsewhere.
    package func fileName(_ suffix: String) throws -> String {
        guard !name.contains("/"), !name.contains("\0") else {
            throw ModelFileError(.unwritable, "the version's name '\(name)' is none for a file")
        }
        return "\(name).\(suffix)"
    }
}

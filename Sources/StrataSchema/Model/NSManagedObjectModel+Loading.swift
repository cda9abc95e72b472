import Foundation
import StrataModelFile

extension NSManagedObjectModel {
    /// Reads a compiled model, of Strata's or of Apple's.
    ///
    /// - Parameter url: a model file (".mom"), or a directory of versions (".momd"), of which the current one is read:
    ///   the one that `NSManagedObjectModel_CurrentVersionName` in its "VersionInfo.plist" names, or the only one.
    /// - Returns: nil if there is no model that can be read.
    public convenience init?(contentsOf url: URL) {
        guard let model = try? NSManagedObjectModel(compiledModelAt: url) else { return nil }
        self.init()
        takeOver(model)
    }

    /// Reads a compiled model, as `init(contentsOf:)` does, and says what is wrong if it cannot.
    ///
    /// - Throws: ``ModelError`` with `unreadable`, `damaged`, `unsupportedVersion` or `invalidModel`.
    package convenience init(compiledModelAt url: URL) throws {
        let file = try Self.modelFile(at: url)
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw ModelError(.unreadable, "\(file.path): \(error.localizedDescription)")
        }
        try self.init(anyCompiledModel: data, at: file.path)
    }

    /// Reads a compiled model of Strata's or of Apple's.
    ///
    /// - Parameter place: what errors name.
    /// - Throws: ``ModelError``, as ``init(compiledModelAt:)``.
    package convenience init(anyCompiledModel data: Data, at path: String) throws {
        let bytes = Array(data)
        guard AppleModelFile.canRead(bytes) else {
            try self.init(compiledModel: data)
            return
        }
        let file: AppleModelFile
        do {
            file = try AppleModelFile(bytes)
        } catch {
            throw ModelError(.damaged, "\(path): \(error)")
        }
        try self.init(document: file.document)
    }

    /// The ``versionChecksum`` of each version of a compiled model, by the version's name.
    ///
    /// - Parameter url: a directory of versions (".momd").
    /// - Throws: `CocoaError` 260 when there is no version, 259 when one cannot be read.
    /// - Complexity: reads all versions.
    public class func checksumsForVersionedModel(at url: URL) throws -> [String: String] {
        let files = modelFiles(in: url)
        guard !files.isEmpty else {
            throw DescribedError(
                .fileReadNoSuchFile,
                userInfo: [
                    NSLocalizedDescriptionKey: "There are no versions of a model at \(url.path).",
                    NSFilePathErrorKey: url.path,
                ])
        }
        var checksums: [String: String] = [:]
        for file in files {
            do {
                let model = try NSManagedObjectModel(compiledModelAt: file)
                checksums[file.deletingPathExtension().lastPathComponent] = model.versionChecksum
            } catch {
                throw DescribedError(
                    .fileReadCorruptFile,
                    userInfo: [NSLocalizedDescriptionKey: "\(error)", NSFilePathErrorKey: file.path])
            }
        }
        return checksums
    }

    /// Combines all compiled models in the resources of bundles, searched in the order given.
    ///
    /// - Parameter bundles: nil for the main bundle, with the bundles of resources beside the program.
    /// - Returns: nil if there is none.
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        let models = models(in: bundles)
        return models.isEmpty ? nil : NSManagedObjectModel(byMerging: models)
    }

    /// The model that a store was written with, found among all versions of all models in the resources of bundles, as
    /// `init(byMerging:forStoreMetadata:)` finds it.
    ///
    /// - Parameters:
    ///   - bundles: nil for the main bundle, with the bundles of resources beside the program.
    ///   - metadata: the store's metadata.
    /// - Returns: nil if an entity of the store is not there in that version.
    /// - Complexity: reads the version that is found, and those whose hashes no list beside them has.
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        guard let search = StoredVersionSearch(metadata) else { return nil }
        let files = (bundles ?? ModelBundles.program).flatMap { versionFiles(in: $0) }
        let listed = ListedVersions()
        if let match = try? search.match(files.compactMap { listed.candidate(at: $0) }) {
            return NSManagedObjectModel(match)
        }
        // A list that somebody has left behind may be that of other versions.
        guard listed.wereUsed else { return nil }
        return NSManagedObjectModel(
            byMerging: files.compactMap { NSManagedObjectModel(contentsOf: $0) }, forStoreMetadata: metadata)
    }

    /// The first version of a model in the resources of bundles that has a checksum.
    package static func version(withChecksum checksum: String, in bundles: [Bundle]) -> NSManagedObjectModel? {
        let files = bundles.flatMap { versionFiles(in: $0) }
        let listed = ListedVersions()
        for file in files {
            guard let candidate = listed.candidate(at: file),
                ModelTables.checksum(of: candidate.hashes) == checksum, let model = try? candidate.model()
            else { continue }
            return model
        }
        guard listed.wereUsed else { return nil }
        return files.lazy.compactMap { NSManagedObjectModel(contentsOf: $0) }.first { $0.versionChecksum == checksum }
    }

    package static func models(in bundles: [Bundle]?) -> [NSManagedObjectModel] {
        (bundles ?? ModelBundles.program).flatMap { bundle in
            ["momd", "mom"].flatMap { resources(of: bundle, withExtension: $0) }.sorted { $0.path < $1.path }
                .compactMap { NSManagedObjectModel(contentsOf: $0) }
        }
    }

    /// All versions of all models in the resources of a bundle.
    private static func versionFiles(in bundle: Bundle) -> [URL] {
        let versions = resources(of: bundle, withExtension: "momd").flatMap { modelFiles(in: $0) }
        return (versions + resources(of: bundle, withExtension: "mom")).sorted { $0.path < $1.path }
    }

    package static func resources(of bundle: Bundle, withExtension name: String) -> [URL] {
        (bundle.urls(forResourcesWithExtension: name, subdirectory: nil) ?? []).map { $0 as URL }
    }

    private static func modelFile(at url: URL) throws -> URL {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw ModelError(.unreadable, "\(url.path): no such file")
        }
        guard isDirectory.boolValue else { return url }
        if let name = VersionInfo(in: url)?.currentName, !name.contains("/") {
            return url.appendingPathComponent(name + ".mom")
        }
        let files = modelFiles(in: url)
        guard files.count == 1 else {
            throw ModelError(
                .unreadable, "\(url.path): \(files.count) versions and no VersionInfo.plist that names one")
        }
        return files[0]
    }

    private static func modelFiles(in directory: URL) -> [URL] {
        let contents = try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        return (contents ?? []).filter { $0.pathExtension == "mom" }.sorted { $0.path < $1.path }
    }
}

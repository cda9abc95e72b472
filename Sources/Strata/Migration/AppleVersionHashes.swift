import Foundation
import StrataModelFile

/// What the version hashes of Apple's tools are in Strata's terms, as far as compiled models of Apple's say so: Core
/// Data does not tell how it computes them.
struct AppleVersionHashes {
    private struct Version: Hashable {
        let entity: String
        let hash: Data
    }

    private var hashes: [Version: Data] = [:]

    /// Reads the models that lie beside a file, and those in the program's bundles.
    init(beside url: URL) {
        let directory = url.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        let besides = names.sorted().map { directory.appendingPathComponent($0) }
        let inBundles = ModelBundles.all.flatMap { bundle in
            ["momd", "mom"].flatMap { NSManagedObjectModel.resources(of: bundle, withExtension: $0) }
        }
        for url in besides + inBundles {
            if url.pathExtension == "momd" { addVersions(in: url) }
            if url.pathExtension == "mom" { addModel(at: url) }
        }
    }

    /// A directory of versions: its property list has the hashes.
    private mutating func addVersions(in directory: URL) {
        guard let info = VersionInfo(in: directory), !info.isOwn else { return }
        for (name, hashes) in info.hashes where !name.contains("/") {
            guard let model = NSManagedObjectModel(contentsOf: directory.appendingPathComponent(name + ".mom")) else {
                continue
            }
            add(hashes, of: model)
        }
    }

    /// Some models have the hashes themselves.
    private mutating func addModel(at url: URL) {
        guard let data = try? Data(contentsOf: url), let file = try? AppleModelFile(Array(data)),
            let model = try? NSManagedObjectModel(document: file.document)
        else { return }
        let hashes = file.document.entities.compactMap { entity in entity.versionHash.map { (entity.name, $0) } }
        add(Dictionary(hashes, uniquingKeysWith: { first, _ in first }), of: model)
    }

    private mutating func add(_ found: [String: Data], of model: NSManagedObjectModel) {
        for (name, hash) in found {
            hashes[Version(entity: name, hash: hash)] = model.entitiesByName[name]?.versionHash
        }
    }

    /// Puts Strata's hashes in the place of Apple's; none where they are not known.
    ///
    /// - Returns: whether all are known.
    func translate(_ document: inout MappingDocument) -> Bool {
        var isComplete = true
        func translated(_ name: String?, _ hash: Data?) -> Data? {
            guard let name, let hash else { return nil }
            let known = hashes[Version(entity: name, hash: hash)]
            if known == nil { isComplete = false }
            return known
        }
        for index in document.entityMappings.indices {
            let mapping = document.entityMappings[index]
            document.entityMappings[index].sourceVersionHash = translated(
                mapping.sourceName, mapping.sourceVersionHash)
            document.entityMappings[index].destinationVersionHash = translated(
                mapping.destinationName, mapping.destinationVersionHash)
        }
        return isComplete
    }
}

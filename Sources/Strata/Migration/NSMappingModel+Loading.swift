import Foundation
import StrataModelFile
import StrataSupport

extension NSMappingModel {
    /// Reads a compiled mapping model, of Strata's or of Apple's.
    ///
    /// Apple's files name versions of entities by hashes that only Core Data computes. What they are here is known of
    /// the versions that lie beside the file or in the program's bundles as Apple's compiled models; a mapping for
    /// another version has no hashes, and so is for any.
    ///
    /// - Parameter url: a ".cdm" file; nil gives nil.
    /// - Returns: nil if there is no mapping model that can be read.
    public convenience init?(contentsOf url: URL?) {
        guard let url, let file = try? CompiledMappingFile(url) else { return nil }
        self.init()
        entityMappings = file.model.entityMappings
    }

    /// Finds the mapping model between two models among the compiled ones (".cdm") in the resources of bundles: the
    /// first whose version hashes are those of the models' entities. The plugin `StrataModel` compiles the
    /// ".xcmappingmodel" files of a target.
    ///
    /// - Parameters:
    ///   - bundles: nil for the main bundle, with the bundles of resources beside the program.
    ///   - sourceModel: the older model.
    ///   - destinationModel: the newer one.
    /// - Returns: nil if there is none, or a model is nil.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel,
            let found = MappingSearch(bundles, from: sourceModel, to: destinationModel).found
        else { return nil }
        self.init()
        entityMappings = found.entityMappings
    }

    /// Writes the mapping model out, compiled, as ``init(contentsOf:)`` reads it. Not durable when it returns.
    ///
    /// - Throws: `ModelError` with `notEncodable` for an expression whose text does not say what it does, and for user
    ///   info that is no property list; what writing the file throws.
    public func write(to url: URL) throws {
        let data = try CompiledMapping.data(of: document())
        StandardDescriptors.occupy()
        try data.write(to: url, options: .atomic)
    }
}

/// A compiled mapping model that was read.
struct CompiledMappingFile {
    let model: NSMappingModel
    /// Whether it is known for which versions it is; not so for files of Apple's without the models.
    let hasVersions: Bool

    /// - Throws: `ModelError` with `unreadable`, `damaged`, `unsupportedVersion` or `invalidModel`, which names the
    ///   file, and the mapping and property if it is about one.
    init(_ url: URL) throws {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw ModelError(.unreadable, "\(url.path): \(error.localizedDescription)")
        }
        do {
            if CompiledMapping.isCompiledMapping(data) {
                model = try NSMappingModel(document: CompiledMapping.document(from: data))
                hasVersions = true
            } else {
                var document = try AppleMappingFile(Array(data)).document
                hasVersions = AppleVersionHashes(beside: url).translate(&document)
                model = try NSMappingModel(document: document)
            }
        } catch let error as ModelError {
            throw ModelError(error.code, "\(url.path): \(error.message)")
        } catch let error as ModelFileError {
            let isNewer = error.code == .unsupportedVersion
            throw ModelError(isNewer ? .unsupportedVersion : .damaged, "\(url.path): \(error.message)")
        } catch {
            throw ModelError(.damaged, "\(url.path): \(error)")
        }
    }
}

/// Looks for the mapping model between two models among the compiled ones in bundles.
struct MappingSearch {
    /// The first that fits.
    private(set) var found: NSMappingModel?
    /// Why files that might have fitted were passed over, one sentence each.
    private(set) var problems: [String] = []

    init(_ bundles: [Bundle]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        for bundle in bundles ?? ModelBundles.program {
            let urls = NSManagedObjectModel.resources(of: bundle, withExtension: "cdm")
            for url in urls.sorted(by: { $0.path < $1.path }) {
                do {
                    let file = try CompiledMappingFile(url)
                    if !file.hasVersions {
                        problems.append(
                            "\(url.path) was compiled by Apple's tools for versions of models that are not beside it")
                    } else if file.model.fits(source, destination) {
                        found = file.model
                        return
                    }
                } catch let error as ModelError {
                    problems.append(error.message)
                } catch {
                    problems.append("\(url.path): \(error)")
                }
            }
        }
    }
}

import Foundation

/// How the objects of one model become those of another.
///
/// Thread rule: as for ``NSPropertyMapping``.
open class NSMappingModel: NSObject {
    /// The mappings, in the order in which they are carried out.
    open var entityMappings: [NSEntityMapping]! = []

    /// The mappings by their names; of several with one name the first.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A mapping model without mappings.
    public override init() {
        super.init()
    }

    /// Reads a compiled mapping model, as ``write(to:)`` writes it.
    ///
    /// - Parameter url: nil gives nil.
    /// - Returns: nil if there is none, or one in another encoding.
    public convenience init?(contentsOf url: URL?) {
        guard let url, let data = try? Data(contentsOf: url),
            let description = try? PropertyListDecoder().decode(MappingDescription.self, from: data)
        else { return nil }
        do {
            try self.init(description)
        } catch {
            return nil
        }
    }

    /// Finds the mapping model between two models among the compiled ones (".cdm") in the resources of bundles: the first
    /// whose version hashes are those of the models' entities.
    ///
    /// - Parameter bundles: nil for the main bundle.
    /// - Returns: nil if there is none, or a model is nil.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel else { return nil }
        for bundle in bundles ?? [.main] {
            let urls = (bundle.urls(forResourcesWithExtension: "cdm", subdirectory: nil) ?? []).map { $0 as URL }
            for url in urls.sorted(by: { $0.path < $1.path }) {
                guard let found = NSMappingModel(contentsOf: url), found.fits(sourceModel, destinationModel) else {
                    continue
                }
                self.init()
                entityMappings = found.entityMappings
                return
            }
        }
        return nil
    }

    /// Writes the model out, compiled, as ``init(contentsOf:)`` reads it. Not durable when it returns.
    ///
    /// - Throws: ``ModelError`` with `notEncodable` for an expression whose text does not say what it does; what writing
    ///   the file throws.
    public func write(to url: URL) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        try encoder.encode(MappingDescription(self)).write(to: url, options: .atomic)
    }

    /// Whether the mappings are made for these versions of entities, and leave none out that has changed.
    func fits(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> Bool {
        guard entityMappings.contains(where: { $0.sourceEntityVersionHash != nil }) else { return false }
        let isMadeForThem = entityMappings.allSatisfy { mapping in
            Self.isVersion(mapping.sourceEntityName, mapping.sourceEntityVersionHash, in: source)
                && Self.isVersion(mapping.destinationEntityName, mapping.destinationEntityVersionHash, in: destination)
        }
        let sources = Set(entityMappings.compactMap(\.sourceEntityName))
        return isMadeForThem && source.entities.allSatisfy { $0.isAbstract || sources.contains($0.name ?? "") }
    }

    static func isVersion(_ name: String?, _ hash: Data?, in model: NSManagedObjectModel) -> Bool {
        guard let name else { return true }
        guard let entity = model.entitiesByName[name] else { return false }
        return hash == nil || entity.versionHash == hash
    }
}

import Foundation
import StrataSupport

/// A version of a model, for the stages of a migration: a model, or where to find it.
///
/// Immutable; safe to use from any thread.
open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
    // Unchecked: what it holds never changes, and the model is not changed any more by whoever refers to it.

    private enum Origin {
        case model(NSManagedObjectModel)
        case file(URL)
        case hashes([String: Data], Bundle?)
        case name(String, Bundle?)
    }

    /// The `NSManagedObjectModel.versionChecksum` that the model has.
    open var versionChecksum: String { checksum }
    private let checksum: String
    private let origin: Origin

    /// Refers to a model.
    public init(model: NSManagedObjectModel, versionChecksum: String) {
        origin = .model(model)
        checksum = versionChecksum
    }

    /// Refers to a compiled model (".mom", ".momd").
    public init(fileURL: URL, versionChecksum: String) {
        origin = .file(fileURL)
        checksum = versionChecksum
    }

    /// Refers to the model among those in a bundle whose entities have these version hashes.
    ///
    /// - Parameters:
    ///   - versionHash: data by the names of entities.
    ///   - bundle: nil for the main bundle.
    ///   - versionChecksum: what `versionChecksum` of the model must be.
    public init(entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        let hashes = versionHash.compactMap { key, value in
            (key.base as? String).flatMap { name in (value as? Data).map { (name, $0) } }
        }
        origin = .hashes(Dictionary(hashes, uniquingKeysWith: { first, _ in first }), bundle)
        checksum = versionChecksum
    }

    /// Refers to a compiled model in a bundle by its name.
    ///
    /// - Parameters:
    ///   - modelName: the name of the file, without what follows the point.
    ///   - bundle: nil for the main bundle.
    ///   - versionChecksum: what `versionChecksum` of the model must be.
    public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        origin = .name(modelName, bundle)
        checksum = versionChecksum
    }

    /// The model.
    ///
    /// - Precondition: it is there, and has the ``versionChecksum``.
    open var resolvedModel: NSManagedObjectModel {
        do {
            return try resolve()
        } catch {
            programmerError(
                "NSManagedObjectModelReference", "\(error)", "Refer to a model that the program has, by its checksum")
        }
    }

    /// - Throws: `CocoaError` 134504 when there is no such model, or it has another checksum.
    func resolve() throws -> NSManagedObjectModel {
        let found: NSManagedObjectModel? =
            switch origin {
            case .model(let model): model
            case .file(let url): NSManagedObjectModel(contentsOf: url)
            case .hashes(let hashes, let bundle):
                NSManagedObjectModel.mergedModel(
                    from: [bundle ?? .main], forStoreMetadata: [NSStoreModelVersionHashesKey: hashes])
            case .name(let name, let bundle):
                ["momd", "mom"].lazy.compactMap { (bundle ?? .main).url(forResource: name, withExtension: $0) }
                    .compactMap { NSManagedObjectModel(contentsOf: $0) }.first
            }
        guard let found else { throw Self.notFound("There is no model for the checksum \(checksum).") }
        guard found.versionChecksum == checksum else {
            throw Self.notFound("The model has the checksum \(found.versionChecksum), not \(checksum).")
        }
        return found
    }

    static func notFound(_ text: String) -> any Error {
        DescribedError(
            CocoaError.Code(rawValue: NSManagedObjectModelReferenceNotFoundError),
            userInfo: [NSLocalizedDescriptionKey: text])
    }
}

import Foundation
import StrataModelFile
import StrataRuntime
import StrataSupport
import Synchronization

/// The schema of a store: entities, the configurations that group them, and fetch request templates.
///
/// A model can be changed until a persistent store coordinator uses it. From then on it and everything in it are
/// immutable; changing it is a programmer error and stops the program. A ``copy(with:)`` can be changed again.
///
/// Thread rule: an immutable model may be used from any thread and by several coordinators. Until then it belongs to
/// whoever builds it. That contract, which Core Data shares, is what `@unchecked Sendable` stands for here: it lets
/// models live in static constants. Tables of an immutable model are published through an atomic reference.
open class NSManagedObjectModel: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// A model may have this many entities: stores number them with 16 bits.
    static let maximumEntityCount = 65_535

    private static let freezing = Mutex<Void>(())

    /// Translations for what errors of validation tell a user: of names, under "Entity/ENTITY",
    /// "Property/NAME/Entity/ENTITY" (of the object's entity or one that it inherits from) and "Property/NAME"; of the
    /// messages of validation predicates, under "ErrorString/MESSAGE".
    ///
    /// Read when such an error is made. The failure reason, which is for logs, is not translated.
    ///
    /// May be changed in a model that is in use, while nobody else reads it.
    open var localizationDictionary: [String: String]?

    /// The user's own marks of the version, kept in the metadata of stores. They take no part in the version hashes.
    open var versionIdentifiers: Set<AnyHashable> = [] {
        willSet { assertMutable() }
    }

    /// The fetch request templates by name; `fetchRequestTemplate(forName:)` and its kin convert.
    package final var templates: [String: FetchRequestTemplate] = [:] {
        willSet { assertMutable() }
    }

    final private(set) var configurationMembers: [String: [NSEntityDescription]] = [:]

    /// What Core Data calls the configuration of all entities.
    package static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    private var storedEntities: [NSEntityDescription] = []

    /// Set once, when a coordinator starts to use the model.
    private let tables = AtomicLazyReference<ModelTables>()

    /// The compiled entities, set when the model is first used; keeps the model for the life of the process. Who
    /// compiles models knows of which type they are.
    @usableFromInline package final let compiledForm = CompiledReference<AnyObject>()

    /// Creates a model without entities.
    public required override init() {
        super.init()
        RuntimeChecks.require()
    }

    /// Reads a model that ``encode(with:)`` wrote.
    public required convenience init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: "model"),
            let model = try? NSManagedObjectModel(encoded: Array(Data(referencing: data)))
        else { return nil }
        self.init()
        takeOver(model)
    }

    /// Whether models can be archived securely: they can.
    open class var supportsSecureCoding: Bool { true }

    /// The entities. Setting them replaces all; configurations forget those that leave.
    ///
    /// - Precondition: a new entity belongs to no other model.
    open var entities: [NSEntityDescription] {
        get { storedEntities }
        set {
            assertMutable()
            for entity in newValue {
                guard entity.owningModel == nil || entity.owningModel === self else {
                    programmerError(
                        "NSManagedObjectModel.entities", "Entity '\(entity.name ?? "")' belongs to another model",
                        "Add a copy of it")
                }
            }
            for entity in storedEntities {
                entity.owningModel = nil
            }
            for entity in newValue {
                entity.owningModel = self
            }
            storedEntities = newValue
            configurationMembers = configurationMembers.mapValues { $0.filter { $0.owningModel === self } }
        }
    }

    /// The entities by name.
    ///
    /// - Complexity: O(1) once the model is in use; before, O(n).
    open var entitiesByName: [String: NSEntityDescription] {
        tables.load()?.entitiesByName
            ?? Dictionary(storedEntities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The names of the configurations, sorted, with "PF_DEFAULT_CONFIGURATION_NAME" for the one of all entities.
    open var configurations: [String] {
        let hasDefault = !storedEntities.isEmpty && configurationMembers[Self.defaultConfigurationName] == nil
        return (configurationMembers.keys + (hasDefault ? [Self.defaultConfigurationName] : [])).sorted()
    }

    /// The entities of a configuration; all entities for nil and for "PF_DEFAULT_CONFIGURATION_NAME", the name that
    /// stores without a configuration have; nil for a name that the model does not know.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration else { return storedEntities }
        return configurationMembers[configuration]
            ?? (configuration == Self.defaultConfigurationName ? storedEntities : nil)
    }

    /// Says which entities belong to a configuration.
    ///
    /// - Precondition: the entities belong to the model.
    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        assertMutable()
        for entity in entities {
            guard entity.owningModel === self else {
                programmerError(
                    "NSManagedObjectModel.setEntities(_:forConfigurationName:)",
                    "Entity '\(entity.name ?? "")' of configuration '\(configuration)' is not in the model",
                    "Add it to the model's entities first")
            }
        }
        configurationMembers[configuration] = entities
    }

    /// The ``NSEntityDescription/versionHash`` of each entity by its name.
    ///
    /// - Complexity: O(1) once the model is in use; before, O(n).
    open var entityVersionHashesByName: [String: Data] {
        tables.load()?.versionHashes ?? entitiesByName.mapValues(\.versionHash)
    }

    /// A text that is the same for two models exactly if all their entities have the same version hashes.
    open var versionChecksum: String {
        tables.load()?.versionChecksum ?? ModelTables.checksum(of: entityVersionHashesByName)
    }

    /// Whether a store can be opened with a configuration of the model as it is: whether the store has the
    /// configuration's entities, and all that it has are the model's, in the same versions.
    ///
    /// - Parameters:
    ///   - configuration: nil for all entities.
    ///   - metadata: the store's metadata, with the hashes under `NSStoreModelVersionHashesKey`.
    open func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let entities = entities(forConfigurationName: configuration),
            let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        else { return false }
        let byName = entitiesByName
        return entities.allSatisfy { stored[$0.name ?? ""] != nil }
            && stored.allSatisfy { byName[$0.key]?.versionHash == $0.value }
    }

    /// Returns a changeable copy of the model and everything in it.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Self()
        copy.copyState(from: self)
        return copy
    }

    /// Writes the model in Strata's own encoding.
    ///
    /// - Precondition: everything in the model can be encoded, which predicates made of blocks cannot.
    open func encode(with coder: NSCoder) {
        do {
            coder.encode(NSData(data: Data(try encoded())), forKey: "model")
        } catch {
            programmerError(
                "NSManagedObjectModel", "the model cannot be archived: \(error)", "Give it values that can be archived")
        }
    }

    /// Whether both have the same entities, configurations, templates and identifiers.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        return other === self || ModelWriter.describeSame(self, other)
    }

    /// Agrees with equality.
    open override var hash: Int { Set(storedEntities.map(\.name)).hashValue }

    /// A text for logs and for debugging; not to be parsed.
    open override var description: String {
        let described = storedEntities.map { "\($0.name ?? "(null)") = \"\($0)\";" }.sorted()
        return "(<\(type(of: self)): \(addressDescription(self))>) isEditable \(isFrozen ? 0 : 1), "
            + "entities { \(described.joined(separator: " ")) }, "
            + "fetch request templates { \(templates.keys.sorted().joined(separator: ", ")) }, "
            + "versionIdentifiers \(versionIdentifiers.map { "\($0)" }.sorted())"
    }
}

extension NSManagedObjectModel {
    /// Whether a coordinator uses the model.
    final var isFrozen: Bool { tables.load() != nil }

    /// Checks the model and makes it immutable. Called by a coordinator before it uses the model; calling it again does
    /// nothing. Safe from any thread.
    ///
    /// - Parameter isChecked: false for the one model of the library's own, whose entity has no name.
    /// - Precondition: the model is free of contradictions; see ``problems()``.
    package final func freeze(isChecked: Bool = true) {
        if isFrozen { return }
        Self.freezing.withLock { _ in
            if isFrozen { return }
            let problems = isChecked ? problems() : []
            guard problems.isEmpty else {
                programmerError(
                    "NSManagedObjectModel", "the model can't be used: \(problems.joined(separator: "; "))",
                    "Correct the model before a coordinator uses it")
            }
            for entity in storedEntities where entity.superentity == nil {
                Self.freeze(entity, parent: nil)
            }
            _ = tables.storeIfNil(ModelTables(for: self))
            warnOfMissingInverses()
        }
    }

    /// Stops the program if a coordinator uses the model.
    final func assertMutable() {
        if isFrozen {
            programmerError(
                "NSManagedObjectModel", "Can't modify an immutable model: a coordinator uses it",
                "Change a copy of the model instead")
        }
    }

    private static func freeze(_ entity: NSEntityDescription, parent: EntityTables?) {
        let tables = entity.tables.storeIfNil(EntityTables(for: entity, parent: parent))
        for child in entity.subentities {
            freeze(child, parent: tables)
        }
    }
}

/// The look-ups of a model that can no longer change. Belongs to the model, which owns the entities as well.
package final class ModelTables: Sendable {
    let entitiesByName: [String: NSEntityDescription]
    let versionHashes: [String: Data]
    let versionChecksum: String

    package init(for model: NSManagedObjectModel) {
        entitiesByName = model.entitiesByName
        versionHashes = entitiesByName.mapValues(\.versionHash)
        versionChecksum = Self.checksum(of: versionHashes)
    }

    package static func checksum(of hashes: [String: Data]) -> String {
        var input = VersionHashInput()
        for (name, hash) in hashes.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            input.add(name)
            input.add(bytes: Array(hash))
        }
        return input.digest().base64EncodedString()
    }
}

import Foundation
import StrataModelFile
import StrataSupport
import Synchronization

/// A kind of object: its name, its class, its properties and its place in the inheritance.
///
/// An entity can be changed until a persistent store coordinator uses the model that it belongs to. From then on it
/// is immutable, and its look-ups are answered from tables; changing it is a programmer error and stops the program.
///
/// Thread rule: an immutable entity may be read from any thread. Until then it belongs to whoever builds the model.
/// That contract, which Core Data shares, is what `@unchecked Sendable` stands for here; the tables are published
/// through an atomic reference.
///
/// ```swift
/// let book = NSEntityDescription()
/// book.name = "Book"
/// book.properties = [title]
/// let model = NSManagedObjectModel()
/// model.entities = [book]
/// ```
open class NSEntityDescription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// An entity may have this many ancestors.
    static let maximumInheritanceDepth = 64

    /// The entity's name, unique in the model.
    open var name: String? {
        willSet { assertMutable() }
    }

    /// The name of the class of the entity's objects. Default "NSManagedObject", which nil and "" mean, too.
    open var managedObjectClassName: String! {
        get { explicitClassName ?? "NSManagedObject" }
        set { explicitClassName = newValue?.isEmpty == true ? nil : newValue }
    }

    /// Whether there are only objects of its subentities. Default `false`.
    open var isAbstract: Bool = false {
        willSet { assertMutable() }
    }

    /// Whatever the user wants to keep with the entity: property-list values under string keys. It takes no part in
    /// the version hash. May be changed in a model that is in use, while nobody else reads it. Default: empty.
    open var userInfo: [AnyHashable: Any]? = [:]

    /// Goes into the version hash, to mark a change of meaning that the shape does not show.
    open var versionHashModifier: String? {
        willSet { assertMutable() }
    }

    /// Lists of properties whose values together no two objects share. Each property is given by its name or its
    /// description. They are part of the ``versionHash``. A subentity lists its own only; those of its ancestors bind
    /// its objects, too.
    open var uniquenessConstraints: [[Any]] = [] {
        willSet { assertMutable() }
    }

    /// What a search on the device shows of an object. Kept and encoded; nothing on Linux reads it.
    open var coreSpotlightDisplayNameExpression: NSExpression! {
        willSet { assertMutable() }
    }

    /// The indexes that fetches may use.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet {
            assertMutable()
            for index in indexes where !newValue.contains(where: { $0 === index }) {
                index.entity = nil
            }
        }
        didSet {
            for index in indexes {
                index.entity = self
            }
        }
    }

    /// Properties that are always fetched by together, in the spelling before ``indexes``.
    @available(*, deprecated, message: "Use indexes instead.")
    open var compoundIndexes: [[Any]] {
        get { legacyCompoundIndexes }
        set { legacyCompoundIndexes = newValue }
    }

    package final var legacyCompoundIndexes: [[Any]] = [] {
        willSet { assertMutable() }
    }

    final var explicitClassName: String? {
        willSet { assertMutable() }
    }

    final var explicitRenamingIdentifier: String? {
        willSet { assertMutable() }
    }

    /// The properties that the entity itself declares.
    package final private(set) var ownProperties: [NSPropertyDescription] = []

    final private(set) var storedSubentities: [NSEntityDescription] = []

    /// What leads to the entity from its properties, indexes and subentities. Weak references would make counting the
    /// others slow, which every object of the entity that is made does.
    final let reference = BackReference<NSEntityDescription>()

    private final var superentityReference: BackReference<NSEntityDescription>?

    final private(set) var storedSuperentity: NSEntityDescription? {
        get { superentityReference?.target }
        set { superentityReference = newValue?.reference }
    }

    /// Nil until the entity is in a model.
    package final weak var owningModel: NSManagedObjectModel?

    /// Set once, when a coordinator starts to use the model.
    final let tables = AtomicLazyReference<EntityTables>()

    /// The compiled form, set when objects of the entity are first needed; keeps the entity for the life of the
    /// process. Who compiles entities knows of which type it is.
    @usableFromInline package final let compiledForm = CompiledReference<AnyObject>()

    /// Creates an entity without a name and properties.
    public required override init() {
        super.init()
        reference.set(self)
    }

    deinit { reference.clear() }

    /// Reads an entity that ``encode(with:)`` wrote. Nil when the coder has none or it is damaged.
    public required convenience init?(coder: NSCoder) {
        guard let read = DescriptionCoding.decode(from: coder, { try $0.readLoneEntity() }) else { return nil }
        self.init()
        copyState(from: read)
    }

    /// Whether descriptions can be archived securely: they can.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the description, as models keep it. Relatives, and destinations and inverses of its relationships are
    /// left out: archive the model to keep them.
    ///
    /// - Precondition: everything has an encoding, which predicates made of blocks and user info that is no property
    ///   list have not.
    open func encode(with coder: NSCoder) {
        DescriptionCoding.encode(with: coder) { try $0.write(entity: self) }
    }

    /// The model that the entity belongs to.
    ///
    /// - Precondition: the entity is in a model.
    open var managedObjectModel: NSManagedObjectModel {
        guard let owningModel else {
            programmerError(
                "NSEntityDescription '\(name ?? "")'", "the entity belongs to no model", "Add it to a model's entities")
        }
        return owningModel
    }

    /// The name under which the entity is known across versions of the model; the name unless set. Setting nil or the
    /// empty string makes it follow the name again.
    open var renamingIdentifier: String? {
        get { explicitRenamingIdentifier ?? name }
        set { explicitRenamingIdentifier = newValue?.isEmpty == true ? nil : newValue }
    }

    /// The entity that this one inherits from.
    open var superentity: NSEntityDescription? { storedSuperentity }

    /// The entities that inherit from this one directly. Setting them sets their ``superentity`` and takes them away
    /// from the entity that they inherited from before.
    ///
    /// - Precondition: no entity becomes its own ancestor.
    open var subentities: [NSEntityDescription] {
        get { storedSubentities }
        set {
            assertMutable()
            for child in newValue {
                child.assertMutable()
                guard !isKindOf(entity: child) else {
                    programmerError(
                        "NSEntityDescription.subentities", "Entity '\(child.name ?? "")' would inherit from itself",
                        "Leave it out of its descendants' subentities")
                }
            }
            for child in storedSubentities {
                child.storedSuperentity = nil
            }
            for child in newValue {
                child.storedSuperentity?.storedSubentities.removeAll { $0 === child }
                child.storedSuperentity = self
            }
            storedSubentities = newValue
        }
    }

    /// The entities that inherit from this one directly, by name.
    open var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// All properties, the inherited ones first. A property that the entity declares overrides the inherited one of
    /// the same name, which must be of the same kind and type. Setting replaces those that the entity itself declares;
    /// inherited properties among the new ones are passed over.
    ///
    /// - Precondition: a new property belongs to no other entity; names differ.
    /// - Complexity: O(1) once the model is in use; before, O(n).
    open var properties: [NSPropertyDescription] {
        get { tables.load()?.properties ?? computeProperties() }
        set { setOwnProperties(newValue) }
    }

    /// All properties by name, the inherited ones too.
    ///
    /// - Complexity: O(1) once the model is in use; before, O(n).
    open var propertiesByName: [String: NSPropertyDescription] {
        tables.load()?.propertiesByName
            ?? Dictionary(computeProperties().map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// All attributes by name, the inherited ones too.
    ///
    /// - Complexity: O(1) once the model is in use; before, O(n).
    open var attributesByName: [String: NSAttributeDescription] {
        tables.load()?.attributesByName ?? propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
    }

    /// All relationships by name, the inherited ones too.
    ///
    /// - Complexity: O(1) once the model is in use; before, O(n).
    open var relationshipsByName: [String: NSRelationshipDescription] {
        tables.load()?.relationshipsByName ?? propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    }

    /// 32 bytes that change when the persistent shape of the entity changes: its name, whether it is abstract, the
    /// hash of the superentity, those of its properties, the ``uniquenessConstraints`` in whatever order and the
    /// ``versionHashModifier``. Class, user info, default
    /// values, validation, indexes and configurations take no part.
    ///
    /// - Complexity: O(1) once the model is in use; before, O(n).
    open var versionHash: Data { tables.load()?.versionHash ?? computeVersionHash() }

    /// The relationships that lead to an entity.
    ///
    /// - Complexity: O(n) in the number of properties.
    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
    }

    /// Whether this is the entity or inherits from it.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        if entity === self { return true }
        if let tables = tables.load(), let other = entity.tables.load() {
            return tables.descends(from: other)
        }
        var next = superentity
        while let ancestor = next {
            if ancestor === entity { return true }
            next = ancestor.superentity
        }
        return false
    }

    /// Returns a changeable copy with copies of the properties that the entity declares and of its indexes, in no
    /// model, without superentity and subentities. Copying a whole model keeps those.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Self()
        copy.copyState(from: self)
        return copy
    }

    /// Whether both describe the same entity. Other entities are compared by name.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityDescription else { return false }
        return other === self || ModelWriter.describeSame(self, other)
    }

    /// Agrees with equality.
    open override var hash: Int { name.hashValue }

    /// A text for logs and for debugging; not to be parsed.
    open override var description: String {
        "(<\(type(of: self)): \(addressDescription(self))>) name \(name ?? "(null)"), "
            + "managedObjectClassName \(managedObjectClassName ?? "(null)"), "
            + "renamingIdentifier \(renamingIdentifier ?? "(null)"), isAbstract \(isAbstract ? 1 : 0), "
            + "superentity name \(superentity?.name ?? "(null)"), "
            + "properties (\(properties.map(\.name).sorted().joined(separator: ", "))), "
            + "subentities (\(subentities.map { $0.name ?? "" }.sorted().joined(separator: ", "))), "
            + "userInfo \(describe(userInfo)), versionHashModifier \(versionHashModifier ?? "(null)"), "
            + "uniquenessConstraints \(uniquenessConstraintNames)"
    }
}

extension NSEntityDescription {
    /// Whether a coordinator uses the model.
    final var isFrozen: Bool { tables.load() != nil }

    /// ``uniquenessConstraints`` as names.
    package final var uniquenessConstraintNames: [[String]] {
        uniquenessConstraints.map { $0.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" } }
    }

    /// Stops the program if a coordinator uses the model.
    final func assertMutable() {
        if isFrozen {
            programmerError(
                "NSEntityDescription '\(name ?? "")'",
                "Can't modify an immutable model: a coordinator uses entity '\(name ?? "")'",
                "Change a copy of the model instead")
        }
    }

    final func computeProperties() -> [NSPropertyDescription] {
        guard let superentity else { return ownProperties }
        let overridden = Set(ownProperties.map(\.name))
        return superentity.properties.filter { !overridden.contains($0.name) } + ownProperties
    }

    /// The properties that the entity itself declares, by name.
    final var ownPropertiesByName: [String: NSPropertyDescription] {
        Dictionary(ownProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// - Parameter withConstraints: false for the hash that stores have which were made before constraints were part of
    ///   it.
    package final func computeVersionHash(withConstraints: Bool = true) -> Data {
        var input = VersionHashInput()
        input.add(byte: 0)
        input.add(optional: name)
        input.add(isAbstract)
        input.add(optional: versionHashModifier)
        let inherited = superentity.map {
            withConstraints ? $0.versionHash : $0.computeVersionHash(withConstraints: false)
        }
        input.add(bytes: inherited.map { Array($0) } ?? [])
        input.add(UInt(ownProperties.count))
        for property in ownProperties.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            input.add(bytes: Array(property.versionHash))
        }
        // In whatever order they are listed, they demand the same.
        if !withConstraints { return input.digest() }
        for names in Set(uniquenessConstraintNames.map { Set($0).sorted() }).sorted(by: {
            $0.lexicographicallyPrecedes($1)
        }) {
            input.add(UInt(names.count))
            for name in names { input.add(name) }
        }
        return input.digest()
    }
}

extension NSEntityDescription {
    private final func setOwnProperties(_ newProperties: [NSPropertyDescription]) {
        assertMutable()
        var own: [NSPropertyDescription] = []
        var names = Set<String>()
        for property in newProperties {
            if let owner = property.owningEntity, owner !== self {
                guard isKindOf(entity: owner) else {
                    programmerError(
                        "NSEntityDescription '\(name ?? "")'",
                        "Property '\(property.name)' of entity '\(owner.name ?? "")' can't belong to '\(name ?? "")"
                            + "', too",
                        "Add a copy of it")
                }
                continue
            }
            guard names.insert(property.name).inserted || property.name.isEmpty else {
                programmerError(
                    "NSEntityDescription '\(name ?? "")'",
                    "Entity '\(name ?? "")' has two properties named '\(property.name)'", "Give each a name of its own")
            }
            own.append(property)
        }
        for property in ownProperties {
            property.owningEntity = nil
        }
        for property in own {
            property.owningEntity = self
        }
        ownProperties = own
    }

    private final func copyState(from other: NSEntityDescription) {
        name = other.name
        explicitClassName = other.explicitClassName
        isAbstract = other.isAbstract
        userInfo = other.userInfo
        versionHashModifier = other.versionHashModifier
        coreSpotlightDisplayNameExpression = other.coreSpotlightDisplayNameExpression
        explicitRenamingIdentifier = other.explicitRenamingIdentifier
        setOwnProperties(other.ownProperties.compactMap { $0.copy() as? NSPropertyDescription })
        uniquenessConstraints = other.uniquenessConstraintNames
        legacyCompoundIndexes = other.legacyCompoundIndexes.map { index in
            index.map { ($0 as? NSPropertyDescription)?.name ?? $0 }
        }
        indexes = other.indexes.compactMap { $0.copy() as? NSFetchIndexDescription }
        let copies = ownPropertiesByName
        for element in indexes.flatMap(\.elements) {
            element.resolve { name in copies[name] }
        }
    }
}

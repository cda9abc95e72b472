import Foundation
import StrataModelFile
import StrataSupport

/// A property of an entity: an attribute, a relationship, a fetched property or an expression.
///
/// A description can be changed until a persistent store coordinator uses the model that it belongs to. From then on
/// it is immutable; changing it is a programmer error and stops the program.
///
/// Thread rule: an immutable description may be read from any thread. Until then it belongs to whoever builds the
/// model. That contract, which Core Data shares, is what `@unchecked Sendable` stands for here: it lets models live
/// in static constants.
open class NSPropertyDescription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The property's name: its key in key-value coding, unique within the entity. Empty until set.
    open var name: String = "" {
        willSet { assertMutable() }
    }

    /// Whether an object is valid without a value. Default `true`.
    open var isOptional: Bool = true {
        willSet { assertMutable() }
    }

    /// Whether the value is kept in memory only. Default `false`.
    open var isTransient: Bool = false {
        willSet { assertMutable() }
    }

    /// Whatever the user wants to keep with the property: property-list values under string keys. It takes no part
    /// in the version hash.
    /// May be changed in a model that is in use, while nobody else reads it. Default: empty.
    open var userInfo: [AnyHashable: Any]? = [:] {
        didSet { userInfoChanges &+= 1 }
    }
    /// How often the user info has been changed, for what is kept that was made with it.
    package final private(set) var userInfoChanges: UInt32 = 0

    /// Goes into the version hash, to mark a change of meaning that the shape does not show.
    open var versionHashModifier: String? {
        willSet { assertMutable() }
    }

    /// Whether the property was marked for Spotlight. Kept and encoded; nothing on Linux reads it.
    open var isIndexedBySpotlight: Bool = false {
        willSet { assertMutable() }
    }

    /// Whether the property was marked for the external record. Kept and encoded; it has no effect.
    @available(*, deprecated, message: "External records are not supported.")
    open var isStoredInExternalRecord: Bool {
        get { storedInExternalRecord }
        set { storedInExternalRecord = newValue }
    }

    /// Whether the property has an index of its own.
    @available(*, deprecated, message: "Use NSEntityDescription.indexes instead.")
    open var isIndexed: Bool {
        get { hasOwnIndex }
        set { hasOwnIndex = newValue }
    }

    /// The predicates that a value must satisfy; a value is evaluated as `SELF`.
    open private(set) var validationPredicates: [NSPredicate] = []

    /// The messages that belong to ``validationPredicates``, by position.
    open private(set) var validationWarnings: [Any] = []

    /// What ``isIndexed`` shows, for our own use, which is not deprecated.
    package final var hasOwnIndex = false {
        willSet { assertMutable() }
    }

    final var storedInExternalRecord = false {
        willSet { assertMutable() }
    }

    /// The identifier as set, or nil while it follows the name.
    final var explicitRenamingIdentifier: String? {
        willSet { assertMutable() }
    }

    /// Nil until the property is in an entity.
    package final var owningEntity: NSEntityDescription? {
        get { owningEntityReference?.target }
        set { owningEntityReference = newValue?.reference }
    }

    private final var owningEntityReference: BackReference<NSEntityDescription>?

    /// The composite attribute that this one is an element of.
    final weak var owningComposite: NSCompositeAttributeDescription?

    /// Creates a property without a name.
    public required override init() {
        super.init()
    }

    /// Reads a description of this class that ``encode(with:)`` wrote. Nil when the coder has none or it is damaged.
    public required convenience init?(coder: NSCoder) {
        guard let read = DescriptionCoding.decode(from: coder, { try $0.readLoneProperty() }),
            type(of: read) == Self.self || Self.self == NSPropertyDescription.self
        else { return nil }
        self.init()
        copyState(from: read)
    }

    /// Whether descriptions can be archived securely: they can.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the description, as models keep it. Destination and inverse of a relationship are left out: archive the
    /// model to keep them.
    ///
    /// - Precondition: everything has an encoding, which predicates made of blocks and user info that is no property
    ///   list have not.
    open func encode(with coder: NSCoder) {
        DescriptionCoding.encode(with: coder) { try $0.write(property: self) }
    }

    /// The entity that declares the property.
    ///
    /// - Precondition: the property is in an entity.
    open var entity: NSEntityDescription {
        guard let owningEntity else {
            programmerError(
                "\(type(of: self)) '\(name)'", "the property belongs to no entity", "Add it to an entity's properties")
        }
        return owningEntity
    }

    /// The name under which the property is known across versions of the model; the name unless set.
    /// Setting nil or the empty string makes it follow the name again.
    open var renamingIdentifier: String? {
        get { explicitRenamingIdentifier ?? name }
        set { explicitRenamingIdentifier = newValue?.isEmpty == true ? nil : newValue }
    }

    /// 32 bytes that change when the persistent shape of the property changes: its name, whether it is optional or
    /// transient, and the ``versionHashModifier``; subclasses add theirs.
    open var versionHash: Data {
        var input = VersionHashInput()
        addVersionHash(to: &input)
        return input.digest()
    }

    /// Sets the predicates that a value must satisfy and the messages that go with them.
    ///
    /// - Parameters:
    ///   - validationPredicates: nil for none.
    ///   - validationWarnings: one message a predicate, or nil.
    open func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
    ) {
        setValidation(predicates: validationPredicates ?? [], warnings: validationWarnings ?? [])
    }

    final func setValidation(predicates: [NSPredicate], warnings: [Any]) {
        assertMutable()
        validationPredicates = predicates
        validationWarnings = warnings
    }

    /// Returns a changeable copy that belongs to no entity. Destination and inverse of a relationship stay the same
    /// objects; copying a whole model leads them to its copies.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Self()
        copy.copyState(from: self)
        return copy
    }

    /// Whether both describe the same property. Other entities are compared by name.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyDescription else { return false }
        return other === self || ModelWriter.describeSame(self, other)
    }

    /// Agrees with equality.
    open override var hash: Int { name.hashValue }

    /// A text for logs and for debugging; not to be parsed.
    open override var description: String {
        "(<\(type(of: self)): \(addressDescription(self))>), name \(name), isOptional \(isOptional ? 1 : 0), "
            + "isTransient \(isTransient ? 1 : 0), entity \(owningEntity?.name ?? "(null)"), "
            + "renamingIdentifier \(renamingIdentifier ?? name), "
            + "validation predicates \(validationPredicates), warnings \(validationWarnings), "
            + "versionHashModifier \(versionHashModifier ?? "(null)"), userInfo \(describe(userInfo))"
    }

    /// Adds what decides whether two versions of the property store the same thing.
    func addVersionHash(to input: inout VersionHashInput) {
        input.add(name)
        input.add(isOptional)
        input.add(isTransient)
        input.add(optional: versionHashModifier)
    }

    /// Takes over everything of another property of the same class except where it belongs.
    func copyState(from other: NSPropertyDescription) {
        name = other.name
        isOptional = other.isOptional
        isTransient = other.isTransient
        userInfo = other.userInfo
        versionHashModifier = other.versionHashModifier
        isIndexedBySpotlight = other.isIndexedBySpotlight
        storedInExternalRecord = other.storedInExternalRecord
        hasOwnIndex = other.hasOwnIndex
        explicitRenamingIdentifier = other.explicitRenamingIdentifier
        validationPredicates = other.validationPredicates
        validationWarnings = other.validationWarnings
    }

    /// Whether a coordinator uses the model.
    final var isFrozen: Bool {
        owningEntity?.isFrozen ?? owningComposite?.isFrozen ?? false
    }

    /// Stops the program if a coordinator uses the model.
    final func assertMutable() {
        if isFrozen {
            programmerError(
                "\(owningEntity?.name ?? owningComposite?.name ?? "").\(name)",
                "Can't modify an immutable model: a coordinator uses property '\(name)' of entity"
                    + " '\(owningEntity?.name ?? owningComposite?.name ?? "")'",
                "Change a copy of the model instead")
        }
    }
}

/// An object's address as Core Data's descriptions print it.
package func addressDescription(_ object: AnyObject) -> String {
    "0x" + String(UInt(bitPattern: ObjectIdentifier(object).hashValue), radix: 16)
}

/// A user info dictionary in the order of its keys, so that descriptions can be compared.
package func describe(_ userInfo: [AnyHashable: Any]?) -> String {
    let entries = (userInfo ?? [:]).map { "\($0.key) = \($0.value);" }
    return "{ \(entries.sorted().joined(separator: " ")) }"
}

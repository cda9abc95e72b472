import Foundation
import StrataSupport

/// An index over one or more properties of an entity.
///
/// Thread rule and `@unchecked Sendable`: as for ``NSEntityDescription``.
///
/// ```swift
/// let byTitle = NSFetchIndexDescription(
///     name: "byTitle", elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
/// book.indexes = [byTitle]
/// ```
open class NSFetchIndexDescription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The index's name, unique in the entity.
    open var name: String {
        willSet { assertMutable() }
    }

    /// What is indexed, the most significant first.
    open var elements: [NSFetchIndexElementDescription] {
        willSet {
            assertMutable()
            for element in elements where !newValue.contains(where: { $0 === element }) {
                element.indexDescription = nil
            }
        }
        didSet { adoptElements() }
    }

    /// Only objects that satisfy it are in the index; nil for all.
    open var partialIndexPredicate: NSPredicate? {
        willSet { assertMutable() }
    }

    /// The entity that the index belongs to.
    open internal(set) var entity: NSEntityDescription? {
        get { entityReference?.target }
        set { entityReference = newValue?.reference }
    }

    private final var entityReference: BackReference<NSEntityDescription>?

    /// Creates an index.
    ///
    /// - Parameters:
    ///   - name: unique in the entity.
    ///   - elements: what is indexed, the most significant first.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        adoptElements()
    }

    /// Reads an index that ``encode(with:)`` wrote. Nil when the coder has none or it is damaged.
    public required convenience init?(coder: NSCoder) {
        guard let read = DescriptionCoding.decode(from: coder, { try $0.readLoneIndex() }) else { return nil }
        self.init(name: read.name, elements: read.elements)
        partialIndexPredicate = read.partialIndexPredicate
    }

    /// Whether descriptions can be archived securely: they can.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the description, as models keep it. Its elements know only the names of their properties when it is read.
    ///
    /// - Precondition: everything has an encoding, which predicates made of blocks and user info that is no property
    ///   list have not.
    open func encode(with coder: NSCoder) {
        DescriptionCoding.encode(with: coder) { try $0.write(index: self) }
    }

    /// Returns a changeable copy that belongs to no entity; its elements refer to the same properties.
    open func copy(with zone: NSZone? = nil) -> Any {
        let elements = elements.compactMap { $0.copy() as? NSFetchIndexElementDescription }
        let copy = NSFetchIndexDescription(name: name, elements: elements)
        copy.partialIndexPredicate = partialIndexPredicate
        return copy
    }

    /// Whether both describe the same index. Properties are compared by name.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSFetchIndexDescription else { return false }
        return other === self || ModelWriter.describeSame(self, other)
    }

    /// Agrees with equality.
    open override var hash: Int { name.hashValue }

    /// A text for logs and for debugging; not to be parsed.
    open override var description: String {
        "(<\(type(of: self)): \(addressDescription(self))>) name \(name), "
            + "elements (\(elements.map(\.description).joined(separator: ", ")))"
    }

    private func adoptElements() {
        for element in elements {
            element.indexDescription = self
        }
    }

    fileprivate final func assertMutable() {
        entity?.assertMutable()
    }
}

/// How an index keeps an element.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// In the order of the values.
    case binary = 0
    /// By ranges of numbers in several dimensions.
    case rTree = 1
}

/// One element of an index: a property, or an expression over the object.
///
/// Thread rule and `@unchecked Sendable`: as for ``NSEntityDescription``.
open class NSFetchIndexElementDescription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// How the index keeps the element.
    open var collationType: NSFetchIndexElementType {
        willSet { assertMutable() }
    }

    /// Whether smaller values come first. Default `true`.
    open var isAscending: Bool = true {
        willSet { assertMutable() }
    }

    /// The property; an ``NSExpressionDescription`` for an expression.
    open private(set) var property: NSPropertyDescription?

    /// The index that the element belongs to.
    open internal(set) weak var indexDescription: NSFetchIndexDescription?

    /// Creates an ascending element.
    ///
    /// - Parameters:
    ///   - property: a property of the entity, or an ``NSExpressionDescription``.
    ///   - collationType: how the index keeps the element.
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
        super.init()
    }

    /// Reads an element that ``encode(with:)`` wrote. Nil when the coder has none or it is damaged.
    public required convenience init?(coder: NSCoder) {
        guard let read = DescriptionCoding.decode(from: coder, { try $0.readLoneElement() }),
            let property = read.property
        else { return nil }
        self.init(property: property, collationType: read.collationType)
        isAscending = read.isAscending
    }

    /// Whether descriptions can be archived securely: they can.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the description, as models keep it. Only the name of its property is known when it is read.
    ///
    /// - Precondition: everything has an encoding, which predicates made of blocks and user info that is no property
    ///   list have not.
    open func encode(with coder: NSCoder) {
        DescriptionCoding.encode(with: coder) { try $0.write(element: self) }
    }

    /// The name of the ``property``.
    open var propertyName: String? { property?.name }

    /// Returns a changeable copy that refers to the same property and belongs to no index.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchIndexElementDescription(
            property: property ?? NSPropertyDescription(), collationType: collationType)
        copy.isAscending = isAscending
        return copy
    }

    /// Whether both describe the same element. Properties are compared by name.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSFetchIndexElementDescription else { return false }
        return other === self || ModelWriter.describeSame(self, other)
    }

    /// Agrees with equality.
    open override var hash: Int { propertyName.hashValue }

    /// A text for logs and for debugging; not to be parsed.
    open override var description: String {
        "\(propertyName ?? "(null)") \(collationType) \(isAscending ? "ascending" : "descending")"
    }

    /// Leads the element to another property of the same name, after copying or merging.
    final func resolve(_ lookUp: (String) -> NSPropertyDescription?) {
        guard let property, !(property is NSExpressionDescription) else { return }
        self.property = lookUp(property.name) ?? property
    }

    private func assertMutable() {
        indexDescription?.assertMutable()
    }
}

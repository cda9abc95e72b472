import Foundation
import StrataModelFile

/// A value that every object of an entity has, of one type.
///
/// Thread rule and `@unchecked Sendable`: as for ``NSPropertyDescription``.
///
/// ```swift
/// let pages = NSAttributeDescription()
/// pages.name = "pages"
/// pages.attributeType = .integer64AttributeType
/// pages.isOptional = false
/// pages.defaultValue = 0
/// ```
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    /// The type of an attribute's values.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        /// The former spelling of the same.
        public typealias RawValue = NSAttributeType

        /// The former spelling of the same.
        public var rawValue: NSAttributeType

        /// The new spelling of a former one.
        public init(rawValue: NSAttributeType) {
            self.rawValue = rawValue
        }

        /// No type: for transient attributes only.
        public static let undefined = AttributeType(rawValue: .undefinedAttributeType)
        /// Integers of 16 bits.
        public static let integer16 = AttributeType(rawValue: .integer16AttributeType)
        /// Integers of 32 bits.
        public static let integer32 = AttributeType(rawValue: .integer32AttributeType)
        /// Integers of 64 bits.
        public static let integer64 = AttributeType(rawValue: .integer64AttributeType)
        /// `NSDecimalNumber`: up to 38 decimal digits.
        public static let decimal = AttributeType(rawValue: .decimalAttributeType)
        /// Floating point numbers of 64 bits.
        public static let double = AttributeType(rawValue: .doubleAttributeType)
        /// Floating point numbers of 32 bits.
        public static let float = AttributeType(rawValue: .floatAttributeType)
        /// Text.
        public static let string = AttributeType(rawValue: .stringAttributeType)
        /// True and false.
        public static let boolean = AttributeType(rawValue: .booleanAttributeType)
        /// Points in time.
        public static let date = AttributeType(rawValue: .dateAttributeType)
        /// Bytes.
        public static let binaryData = AttributeType(rawValue: .binaryDataAttributeType)
        /// Identifiers of 16 bytes.
        public static let uuid = AttributeType(rawValue: .UUIDAttributeType)
        /// Uniform resource identifiers.
        public static let uri = AttributeType(rawValue: .URIAttributeType)
        /// Values that a value transformer turns into bytes.
        public static let transformable = AttributeType(rawValue: .transformableAttributeType)
        /// Object identifiers; for the results of expressions, not for storing.
        public static let objectID = AttributeType(rawValue: .objectIDAttributeType)
        /// Several attributes under one name.
        public static let composite = AttributeType(rawValue: .compositeAttributeType)
    }

    /// The type of the values. Default ``NSAttributeType/undefinedAttributeType``.
    open var attributeType: NSAttributeType = .undefinedAttributeType {
        willSet { assertMutable() }
    }

    /// The transformer of a transformable attribute, or nil for secure archiving.
    open var valueTransformerName: String? {
        willSet { assertMutable() }
    }

    /// Allows the store to keep large values apart from the object's other values. Strata's log decides by size, so
    /// the flag is kept and encoded but changes nothing.
    open var allowsExternalBinaryDataStorage: Bool = false {
        willSet { assertMutable() }
    }

    /// Whether the value stays in the persistent history when the object is deleted, as a tombstone.
    open var preservesValueInHistoryOnDeletion: Bool = false {
        willSet { assertMutable() }
    }

    /// Whether the value may be encrypted in a cloud database. Kept and encoded; nothing on Linux reads it.
    open var allowsCloudEncryption: Bool = false {
        willSet { assertMutable() }
    }

    final var storedDefaultValue: StoredDefault? {
        willSet { assertMutable() }
    }

    final var explicitValueClassName: String? {
        willSet { assertMutable() }
    }

    /// The value that a new object starts with.
    ///
    /// Numbers and truth values are handed out as `NSNumber`, as on Apple's platforms, so that a cast to any Swift
    /// number type that can represent the value succeeds.
    open var defaultValue: Any? {
        get { storedDefaultValue?.value(for: self) }
        set { storedDefaultValue = newValue.map { .value(StoredDefault.bridgingNumbers($0)) } }
    }

    /// The type of the values, in the new spelling.
    open var type: AttributeType {
        get { AttributeType(rawValue: attributeType) }
        set { attributeType = newValue.rawValue }
    }

    /// The name of the class of the values. Follows the type unless set; nil for types that do not imply a class.
    open var attributeValueClassName: String? {
        get { explicitValueClassName ?? attributeType.impliedValueClassName }
        set { explicitValueClassName = newValue?.isEmpty == true ? nil : newValue }
    }

    /// 32 bytes that change when the persistent shape of the attribute changes: what
    /// ``NSPropertyDescription/versionHash`` takes in, and the type.
    open override var versionHash: Data { super.versionHash }

    /// A text for logs and for debugging; not to be parsed.
    open override var description: String {
        super.description + ", attributeType \(attributeType.rawValue), "
            + "attributeValueClassName \(attributeValueClassName ?? "(null)"), "
            + "defaultValue \(defaultValue.map { "\($0)" } ?? "(null)"), "
            + "preservesValueInHistoryOnDeletion \(preservesValueInHistoryOnDeletion ? 1 : 0)"
    }

    override func addVersionHash(to input: inout VersionHashInput) {
        input.add(byte: 1)
        super.addVersionHash(to: &input)
        input.add(attributeType.rawValue)
    }

    override func copyState(from other: NSPropertyDescription) {
        super.copyState(from: other)
        guard let other = other as? NSAttributeDescription else { return }
        attributeType = other.attributeType
        valueTransformerName = other.valueTransformerName
        allowsExternalBinaryDataStorage = other.allowsExternalBinaryDataStorage
        preservesValueInHistoryOnDeletion = other.preservesValueInHistoryOnDeletion
        allowsCloudEncryption = other.allowsCloudEncryption
        storedDefaultValue = other.storedDefaultValue
        explicitValueClassName = other.explicitValueClassName
    }
}

extension NSAttributeType {
    /// The class of the values, for types that leave no choice.
    var impliedValueClassName: String? {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType:
            "NSNumber"
        case .decimalAttributeType: "NSDecimalNumber"
        case .stringAttributeType: "NSString"
        case .dateAttributeType: "NSDate"
        case .binaryDataAttributeType: "NSData"
        case .UUIDAttributeType: "NSUUID"
        case .URIAttributeType: "NSURL"
        case .objectIDAttributeType: "NSManagedObjectID"
        case .undefinedAttributeType, .transformableAttributeType, .compositeAttributeType: nil
        }
    }
}

/// An attribute's default value: the value itself, or the bytes that the attribute's transformer made of it. The bytes
/// of a model that was read are handed to the transformer only when somebody asks for the value.
enum StoredDefault {
    case value(Any)
    case transformed(Data)

    func value(for attribute: NSAttributeDescription) -> Any? {
        switch self {
        case .value(let value): value
        case .transformed(let data): attribute.readableValue(fromTransformedData: data)
        }
    }

    /// Swift's numbers as `NSNumber`; anything else as it is.
    static func bridgingNumbers(_ value: Any) -> Any {
        (value as? NSDecimalNumber) ?? KeyValueAccess.boxed(value) ?? value
    }
}

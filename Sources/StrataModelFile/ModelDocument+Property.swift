import Foundation

extension ModelDocument {
    /// What attributes, relationships and fetched properties have in common.
    public struct Property: Codable, Equatable, Sendable {
        /// The name, unique in the entity.
        public var name: String
        /// Whether an object is valid without a value.
        public var isOptional = false
        /// Whether the value is kept in memory only.
        public var isTransient = false
        /// Whether the property has an index of its own, in the spelling before fetch indexes.
        public var isIndexed = false
        /// Whether a search on the device finds the property. Nothing on Linux reads it.
        public var isIndexedBySpotlight = false
        /// Whether the property is in the external record. Nothing reads it any more.
        public var isStoredInExternalRecord = false
        /// Whether Sync Services may synchronise the property. Nothing reads it any more.
        public var isSyncable = false
        /// The name in earlier versions of the model, if it was another one.
        public var renamingIdentifier: String?
        /// Goes into the version hash.
        public var versionHashModifier: String?
        /// Predicates that a value, as `SELF`, must satisfy, beside an attribute's limits.
        public var validations: [Validation] = []
        /// The user info.
        public var userInfo: [String: Value] = [:]
        /// The version hash that Core Data computed, where the file has it.
        public var versionHash: Data?

        /// Creates a property that is not optional.
        public init(name: String) {
            self.name = name
        }
    }

    /// A predicate that a value must satisfy.
    public struct Validation: Codable, Equatable, Sendable {
        /// The predicate, with the value as `SELF`.
        public var predicate: String
        /// The message, or the error's code as a number.
        public var warning: Value

        /// Creates a validation.
        public init(predicate: String, warning: Value) {
            self.predicate = predicate
            self.warning = warning
        }
    }

    /// The type of an attribute's values, as the XML spells it.
    public enum AttributeType: String, Codable, Sendable, CaseIterable {
        /// No type: for transient attributes only.
        case undefined = "Undefined"
        /// Integers of 16 bits.
        case integer16 = "Integer 16"
        /// Integers of 32 bits.
        case integer32 = "Integer 32"
        /// Integers of 64 bits.
        case integer64 = "Integer 64"
        /// Up to 38 decimal digits.
        case decimal = "Decimal"
        /// Floating point numbers of 64 bits.
        case double = "Double"
        /// Floating point numbers of 32 bits.
        case float = "Float"
        /// Text.
        case string = "String"
        /// True and false.
        case boolean = "Boolean"
        /// Points in time.
        case date = "Date"
        /// Bytes.
        case binary = "Binary"
        /// Identifiers of 16 bytes.
        case uuid = "UUID"
        /// Uniform resource identifiers.
        case uri = "URI"
        /// Values that a value transformer turns into bytes.
        case transformable = "Transformable"
        /// Object identifiers, for the results of expressions.
        case objectID = "ObjectID"
        /// Several attributes under one name.
        case composite = "Composite"
    }

    /// A value of one type. The members of ``property`` are its own, too.
    @dynamicMemberLookup
    public struct Attribute: Codable, Equatable, Sendable {
        /// What all properties have.
        public var property: Property
        /// The type of the values.
        public var type: AttributeType
        /// What a new object starts with; of a transformable attribute the archived bytes.
        public var defaultValue: Value?
        /// The least number, the earliest date, the least length of a string.
        public var minimum: Value?
        /// The greatest number, the latest date, the greatest length of a string.
        public var maximum: Value?
        /// A regular expression that a string must match as a whole.
        public var pattern: String?
        /// Whether a generated accessor has a scalar type; nil where the file does not say.
        public var usesScalarType: Bool?
        /// The value transformer of a transformable attribute.
        public var valueTransformerName: String?
        /// The class of the values, if the type does not imply it: a type in the user's code.
        public var valueClassName: String?
        /// Whether large values may be kept apart.
        public var allowsExternalStorage = false
        /// Whether the value stays in the history when the object is deleted.
        public var preservesValueOnDeletion = false
        /// Whether the value may be encrypted in a cloud database.
        public var allowsCloudEncryption = false
        /// Whether the attribute is computed from others when an object is saved.
        public var isDerived = false
        /// What a derived attribute is computed by.
        public var derivationExpression: String?
        /// The name of the ``Composite`` that has the elements of an attribute of type ``AttributeType/composite``.
        public var compositeName: String?

        /// Creates an attribute that is not optional and has no default value.
        public init(name: String, type: AttributeType) {
            property = Property(name: name)
            self.type = type
        }

        /// What all properties have.
        public subscript<Member>(dynamicMember path: WritableKeyPath<Property, Member>) -> Member {
            get { property[keyPath: path] }
            set { property[keyPath: path] = newValue }
        }
    }

    /// What happens to the objects at the other end when an object is deleted, as the XML spells it.
    public enum DeleteRule: String, Codable, Sendable, CaseIterable {
        /// Nothing.
        case noAction = "No Action"
        /// The other end forgets the deleted object.
        case nullify = "Nullify"
        /// The objects at the other end are deleted, too.
        case cascade = "Cascade"
        /// The deletion fails while there are objects at the other end.
        case deny = "Deny"
    }

    /// A reference to one or many objects. The members of ``property`` are its own, too.
    @dynamicMemberLookup
    public struct Relationship: Codable, Equatable, Sendable {
        /// What all properties have.
        public var property: Property
        /// The name of the entity that it leads to; empty for none.
        public var destinationName: String
        /// The name of the relationship that leads back.
        public var inverseName: String?
        /// The name of the entity that declares the inverse, if the file has it; the destination otherwise.
        public var inverseEntityName: String?
        /// The smallest number of objects.
        public var minCount = 0
        /// The largest number of objects; 0 for no limit, 1 for a to-one relationship.
        public var maxCount = 1
        /// What deleting the source means for the destination.
        public var deleteRule = DeleteRule.nullify
        /// Whether the objects of a to-many relationship have an order.
        public var isOrdered = false

        /// Creates a to-one relationship that is not optional.
        public init(name: String, destinationName: String) {
            property = Property(name: name)
            self.destinationName = destinationName
        }

        /// Whether the relationship leads to more than one object.
        public var isToMany: Bool { maxCount != 1 }

        /// What all properties have.
        public subscript<Member>(dynamicMember path: WritableKeyPath<Property, Member>) -> Member {
            get { property[keyPath: path] }
            set { property[keyPath: path] = newValue }
        }
    }

    /// A property whose value is the result of a request. The members of ``property`` are its own, too.
    @dynamicMemberLookup
    public struct FetchedProperty: Codable, Equatable, Sendable {
        /// What all properties have.
        public var property: Property
        /// The request.
        public var fetchRequest: FetchRequest?

        /// Creates a fetched property without a request.
        public init(name: String) {
            property = Property(name: name)
        }

        /// What all properties have.
        public subscript<Member>(dynamicMember path: WritableKeyPath<Property, Member>) -> Member {
            get { property[keyPath: path] }
            set { property[keyPath: path] = newValue }
        }
    }
}

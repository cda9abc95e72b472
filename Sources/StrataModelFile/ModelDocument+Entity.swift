import Foundation

extension ModelDocument {
    /// What Xcode generates for an entity.
    public enum CodeGeneration: String, Codable, Sendable {
        /// Nothing: the class is written by hand.
        case manual
        /// The class and its properties.
        case classDefinition = "class"
        /// An extension with the properties, for a class that is written by hand.
        case category
    }

    /// A kind of object.
    public struct Entity: Codable, Equatable, Sendable {
        /// The entity's name, unique in the model.
        public var name: String
        /// The name of the class without its module; nil for `NSManagedObject`.
        public var className: String?
        /// The module of the class: nil for the global namespace, empty for the module that the model belongs to.
        public var classModule: String?
        /// What is generated for the entity.
        public var codeGeneration = CodeGeneration.manual
        /// The name of the entity that this one inherits from.
        public var parentName: String?
        /// Whether there are only objects of its subentities.
        public var isAbstract = false
        /// Whether Sync Services may synchronise the entity. Nothing reads it any more.
        public var isSyncable = true
        /// The name in earlier versions of the model, if it was another one.
        public var renamingIdentifier: String?
        /// Goes into the version hash.
        public var versionHashModifier: String?
        /// The attributes that the entity itself declares.
        public var attributes: [Attribute] = []
        /// The relationships that the entity itself declares.
        public var relationships: [Relationship] = []
        /// The fetched properties that the entity itself declares.
        public var fetchedProperties: [FetchedProperty] = []
        /// The indexes.
        public var indexes: [FetchIndex] = []
        /// Lists of names of properties that have an index together, in the spelling before ``indexes``.
        public var compoundIndexes: [[String]] = []
        /// Lists of names of properties whose values together no two objects share.
        public var uniquenessConstraints: [[String]] = []
        /// What a search on the device shows of an object, as an expression.
        public var displayNameExpression: String?
        /// The user info.
        public var userInfo: [String: Value] = [:]
        /// The version hash that Core Data computed, where the file has it.
        public var versionHash: Data?

        /// Creates an entity without properties.
        public init(name: String) {
            self.name = name
        }

        /// The name of the class as `NSEntityDescription.managedObjectClassName` wants it; nil for `NSManagedObject`.
        ///
        /// - Parameter module: the module that the model belongs to, which an empty ``classModule`` stands for. With
        ///   nil the name stays without module then.
        public func qualifiedClassName(inModule module: String?) -> String? {
            guard let className else { return nil }
            guard let qualifier = classModule == "" ? module : classModule else { return className }
            return qualifier + "." + className
        }
    }

    /// An index over properties of an entity.
    public struct FetchIndex: Codable, Equatable, Sendable {
        /// The name, unique in the entity.
        public var name: String
        /// What is indexed, the most significant first.
        public var elements: [Element] = []
        /// Only objects that satisfy it are in the index; nil for all.
        public var partialPredicate: String?

        /// Creates an index without elements.
        public init(name: String) {
            self.name = name
        }

        /// One element of an index.
        public struct Element: Codable, Equatable, Sendable {
            /// The name of a property; nil for an expression.
            public var propertyName: String?
            /// The expression, if it is no property.
            public var expression: String?
            /// The type of the expression's result.
            public var expressionType: AttributeType?
            /// Whether smaller values come first.
            public var isAscending = true
            /// Whether it is an R-tree, for ranges of numbers in several dimensions, and no binary index.
            public var isRTree = false

            /// Creates an ascending element of a binary index.
            public init(propertyName: String?, expression: String? = nil) {
                self.propertyName = propertyName
                self.expression = expression
            }
        }
    }
}

/// A model as a file describes it: the same for Xcode's XML, for Apple's compiled models and for Strata's.
///
/// It is a value without behaviour. Predicates and expressions are texts in Core Data's notation, entities and
/// properties refer to each other by name, and nothing is checked: what reads a document reports what is wrong with
/// it. `NSManagedObjectModel(document:)` makes a model of it.
public struct ModelDocument: Codable, Equatable, Sendable {
    /// The user's own marks of the version.
    public var versionIdentifiers: [String] = []
    /// The entities, in the order of the file.
    public var entities: [Entity] = []
    /// The composites that attributes of type ``AttributeType/composite`` refer to.
    public var composites: [Composite] = []
    /// The configurations; the default one, which has all entities, is not among them.
    public var configurations: [Configuration] = []
    /// The fetch request templates.
    public var fetchRequests: [FetchRequest] = []
    /// Translations of names for error messages, as `NSManagedObjectModel.localizationDictionary` has them.
    public var localization: [String: String]?
    /// What only Xcode's editor uses.
    public var editor = Editor()

    /// Creates a document without entities.
    public init() {}

    /// The entity of a name, the first if there are several.
    ///
    /// - Complexity: O(n) in the number of entities.
    public func entity(named name: String) -> Entity? {
        entities.first { $0.name == name }
    }

    /// Attributes under one name, which several entities may use.
    public struct Composite: Codable, Equatable, Sendable {
        /// The composite's name.
        public var name: String
        /// Its elements; composites again if need be.
        public var attributes: [Attribute] = []

        /// Creates a composite without elements.
        public init(name: String) {
            self.name = name
        }
    }

    /// Entities that may be kept in a store of their own.
    public struct Configuration: Codable, Equatable, Sendable {
        /// The configuration's name.
        public var name: String
        /// The names of its entities.
        public var entityNames: [String] = []
        /// Whether the configuration is mirrored to a cloud database. Nothing on Linux reads it.
        public var isUsedWithCloudKit = false

        /// Creates a configuration without entities.
        public init(name: String) {
            self.name = name
        }
    }

    /// What only Xcode's editor uses. It is kept so that a file that is read and written again is the same.
    public struct Editor: Codable, Equatable, Sendable {
        /// The attributes of the file's root element that say nothing about the model, such as
        /// "lastSavedToolsVersion".
        public var attributes: [String: String] = [:]
        /// Where entities lie in the editor's diagram.
        public var diagram: [DiagramElement] = []

        /// Creates an empty value.
        public init() {}
    }

    /// The place of an entity in the diagram, as the file spells it.
    public struct DiagramElement: Codable, Equatable, Sendable {
        /// The entity's name.
        public var name: String
        /// The numbers of the place: "positionX", "positionY", "width", "height".
        public var frame: [String: String]

        /// Creates an element.
        public init(name: String, frame: [String: String]) {
            self.name = name
            self.frame = frame
        }
    }
}

import Foundation

/// A mapping model as a file describes it: how the objects of one version of a model become those of another.
///
/// A value without behaviour, as ``ModelDocument`` is. Expressions are texts in Core Data's notation.
public struct MappingDocument: Codable, Equatable, Sendable {
    /// The mappings, in the order in which they are carried out.
    public var entityMappings: [EntityMapping] = []
    /// The version of the model that the mappings lead from, as far as it decides about version hashes: which of the
    /// entities' they are is for the library to say. Nil if ``EntityMapping/sourceVersionHash`` says it.
    public var sourceModel: ModelDocument?
    /// The version of the model that the mappings lead to, as ``sourceModel``.
    public var destinationModel: ModelDocument?

    /// Creates a document without mappings.
    public init() {}

    /// How the objects of one entity become those of another.
    public struct EntityMapping: Codable, Equatable, Sendable {
        /// The name, unique in the document.
        public var name: String
        /// The raw value of `NSEntityMappingType`.
        public var type = 0
        /// The entity that objects come from; nil for one that is added.
        public var sourceName: String?
        /// The entity that objects become; nil for one that is removed.
        public var destinationName: String?
        /// The version hash of the source, as whoever wrote the file computed it; nil for any version.
        public var sourceVersionHash: Data?
        /// The version hash of the destination, as whoever wrote the file computed it; nil for any version.
        public var destinationVersionHash: Data?
        /// What fetches the source's objects; nil for all of the entity, without its subentities.
        public var sourceExpression: String?
        /// The class of the migration policy.
        public var policyClassName: String?
        /// What the destination's attributes become.
        public var attributeMappings: [PropertyMapping] = []
        /// What the destination's relationships become.
        public var relationshipMappings: [PropertyMapping] = []
        /// The user info.
        public var userInfo: [String: ModelDocument.Value] = [:]

        /// Creates a mapping of an undefined type, without properties.
        public init(name: String) {
            self.name = name
        }
    }

    /// What one property becomes.
    public struct PropertyMapping: Codable, Equatable, Sendable {
        /// The name of the destination's property.
        public var name: String
        /// The value; nil for none.
        public var expression: String?
        /// The user info.
        public var userInfo: [String: ModelDocument.Value] = [:]

        /// Creates a mapping without value.
        public init(name: String) {
            self.name = name
        }
    }
}

import Strata

/// An entity of a model in code; see `NSManagedObjectModel.init(_:)`.
///
/// An entity in an entity is its subentity, and has all that the outer one has.
///
/// ```swift
/// Entity("Work", isAbstract: true) {
///     Attribute("title", .string, isOptional: false)
///     Entity("Book", class: Book.self) {
///         Attribute("isbn", .string)
///         Unique("isbn")
///     }
/// }
/// ```
public struct Entity {
    let name: String
    let objectClass: NSManagedObject.Type?
    let className: String?
    let isAbstract: Bool
    let renamingIdentifier: String?
    let members: [EntityMember]

    /// An entity whose objects are of a class.
    ///
    /// - Parameters:
    ///   - objectClass: the class; nil for `NSManagedObject` itself. It is registered with `ManagedObjectClasses`.
    ///   - isAbstract: whether there are only objects of its subentities.
    ///   - renamingIdentifier: the name in the earlier version of the model, if it was another.
    ///   - members: attributes, relationships, indexes, constraints and subentities.
    public init(
        _ name: String, class objectClass: NSManagedObject.Type? = nil, isAbstract: Bool = false,
        renamingIdentifier: String? = nil, @EntityBuilder members: () -> [EntityMember] = { [] }
    ) {
        self.name = name
        self.objectClass = objectClass
        className = nil
        self.isAbstract = isAbstract
        self.renamingIdentifier = renamingIdentifier
        self.members = members()
    }

    /// An entity whose objects are of a class that is looked up by its name, as models in files name it.
    ///
    /// - Parameter className: with or without its module.
    public init(
        _ name: String, className: String, isAbstract: Bool = false, renamingIdentifier: String? = nil,
        @EntityBuilder members: () -> [EntityMember] = { [] }
    ) {
        self.name = name
        objectClass = nil
        self.className = className
        self.isAbstract = isAbstract
        self.renamingIdentifier = renamingIdentifier
        self.members = members()
    }
}

/// What an entity consists of. ``EntityBuilder`` makes them of what is written.
public enum EntityMember {
    /// An attribute.
    case attribute(Attribute)
    /// A relationship.
    case relationship(Relationship)
    /// An index.
    case index(Index)
    /// A uniqueness constraint.
    case unique(Unique)
    /// An entity that inherits.
    case subentity(Entity)
}

/// Collects what an entity consists of. `if`, `switch` and `for` work.
@resultBuilder
public enum EntityBuilder {
    /// An attribute.
    public static func buildExpression(_ attribute: Attribute) -> [EntityMember] { [.attribute(attribute)] }
    /// A relationship.
    public static func buildExpression(_ relationship: Relationship) -> [EntityMember] {
        [.relationship(relationship)]
    }
    /// An index.
    public static func buildExpression(_ index: Index) -> [EntityMember] { [.index(index)] }
    /// A uniqueness constraint.
    public static func buildExpression(_ constraint: Unique) -> [EntityMember] { [.unique(constraint)] }
    /// A subentity.
    public static func buildExpression(_ entity: Entity) -> [EntityMember] { [.subentity(entity)] }
    /// What several entities have in common.
    public static func buildExpression(_ members: [EntityMember]) -> [EntityMember] { members }
    /// All in their order.
    public static func buildBlock(_ parts: [EntityMember]...) -> [EntityMember] { parts.flatMap(\.self) }
    /// An `if` without `else`.
    public static func buildOptional(_ part: [EntityMember]?) -> [EntityMember] { part ?? [] }
    /// An `if`.
    public static func buildEither(first part: [EntityMember]) -> [EntityMember] { part }
    /// An `else`.
    public static func buildEither(second part: [EntityMember]) -> [EntityMember] { part }
    /// A `for`.
    public static func buildArray(_ parts: [[EntityMember]]) -> [EntityMember] { parts.flatMap(\.self) }
}

/// Collects the entities of a model. `if`, `switch` and `for` work.
@resultBuilder
public enum ModelBuilder {
    /// An entity, with its subentities.
    public static func buildExpression(_ entity: Entity) -> [Entity] { [entity] }
    /// Entities that were made elsewhere.
    public static func buildExpression(_ entities: [Entity]) -> [Entity] { entities }
    /// All in their order.
    public static func buildBlock(_ parts: [Entity]...) -> [Entity] { parts.flatMap(\.self) }
    /// An `if` without `else`.
    public static func buildOptional(_ part: [Entity]?) -> [Entity] { part ?? [] }
    /// An `if`.
    public static func buildEither(first part: [Entity]) -> [Entity] { part }
    /// An `else`.
    public static func buildEither(second part: [Entity]) -> [Entity] { part }
    /// A `for`.
    public static func buildArray(_ parts: [[Entity]]) -> [Entity] { parts.flatMap(\.self) }
}

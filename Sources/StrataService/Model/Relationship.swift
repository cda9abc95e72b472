import Strata

/// A relationship of an ``Entity`` of a model in code.
///
/// ```swift
/// Relationship("author", .toOne("Author"), inverse: "books", isOptional: false)
/// Relationship("books", .toMany("Book"), inverse: "author", deleteRule: .cascadeDeleteRule)
/// ```
public struct Relationship: Sendable {
    /// Where a relationship leads to, and to how many.
    public struct Destination: Sendable {
        let entity: String
        let isToMany: Bool
        let isOrdered: Bool
        let minimum: Int
        /// 0 for any number.
        let maximum: Int

        /// One object of an entity.
        public static func toOne(_ entity: String) -> Destination {
            Destination(entity: entity, isToMany: false, isOrdered: false, minimum: 0, maximum: 1)
        }

        /// Any number of objects of an entity.
        ///
        /// - Parameters:
        ///   - isOrdered: whether they have an order, which is kept.
        ///   - minimum: fewer are refused by saves, unless there are none and the relationship is optional.
        ///   - maximum: more are refused by saves; nil for any number. 2 or more.
        public static func toMany(
            _ entity: String, isOrdered: Bool = false, minimum: Int = 0, maximum: Int? = nil
        ) -> Destination {
            Destination(
                entity: entity, isToMany: true, isOrdered: isOrdered, minimum: minimum, maximum: maximum ?? 0)
        }
    }

    let name: String
    let destination: Destination
    let inverse: String?
    let deleteRule: NSDeleteRule
    let isOptional: Bool
    let renamingIdentifier: String?

    /// A relationship.
    ///
    /// - Parameters:
    ///   - destination: where it leads to.
    ///   - inverse: the relationship of the destination that leads back, and names this one as its own inverse. Nil for
    ///     none: then what this leads to does not change with it when an object is deleted.
    ///   - deleteRule: what happens to the objects at the other end when an object is deleted.
    ///   - isOptional: whether an object may be saved without one.
    ///   - renamingIdentifier: the name in the earlier version of the model, if it was another.
    public init(
        _ name: String, _ destination: Destination, inverse: String?, deleteRule: NSDeleteRule = .nullifyDeleteRule,
        isOptional: Bool = true, renamingIdentifier: String? = nil
    ) {
        self.name = name
        self.destination = destination
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.isOptional = isOptional
        self.renamingIdentifier = renamingIdentifier
    }
}

/// The class of an entity's objects, as far as rows are concerned.
package struct EntityClass: Sendable {
    /// Nil for objects that stand for no entity.
    package let type: AnyClass?
    package let overrides: MethodOverrides

    package init(_ type: AnyClass, _ overrides: MethodOverrides) {
        self.type = type
        self.overrides = overrides
    }

    private init() { (type, overrides) = (nil, .all) }

    /// Of objects that stand for no entity.
    package static let none = EntityClass()

    /// Classes are never freed.
    package var number: UInt64 { type.map { UInt64(UInt(bitPattern: ObjectIdentifier($0))) } ?? 0 }
}

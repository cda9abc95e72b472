/// The class of an entity's objects, as far as rows are concerned.
struct EntityClass: Sendable {
    /// Nil for objects that stand for no entity.
    let type: AnyClass?
    let overrides: MethodOverrides

    init(_ type: AnyClass, _ overrides: MethodOverrides) {
        self.type = type
        self.overrides = overrides
    }

    private init() { (type, overrides) = (nil, .all) }

    /// Of objects that stand for no entity.
    static let none = EntityClass()

    /// Classes are never freed.
    var number: UInt64 { type.map { UInt64(UInt(bitPattern: ObjectIdentifier($0))) } ?? 0 }
}

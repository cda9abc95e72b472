/// The class of an entity's objects, as far as rows are concerned: whoever makes objects knows more of it.
struct EntityClass: @unchecked Sendable {
    // Unchecked: immutable, as are what is made of classes.

    /// Nil for objects that stand for no entity.
    let type: AnyClass?
    let overrides: MethodOverrides
    /// What is known of it where objects are made; not looked into here.
    let reference: AnyObject?

    init(_ type: AnyClass, _ overrides: MethodOverrides, _ reference: AnyObject) {
        self.type = type
        self.overrides = overrides
        self.reference = reference
    }

    private init() { (type, overrides, reference) = (nil, .all, nil) }

    /// Of objects that stand for no entity.
    static let none = EntityClass()

    /// Classes are never freed.
    var number: UInt64 { type.map { UInt64(UInt(bitPattern: ObjectIdentifier($0))) } ?? 0 }
}

/// What the engine calls an object: the entity's number and the primary key in its root entity's key space.
///
/// Eight bytes, so that a relationship is a column of integers: 16 bits of entity above 48 bits of key. Keys are dense
/// and start at 1; the raw value 0 means "no object".
public struct ObjectRef: Hashable, Comparable, Sendable {
    /// Both parts in one word, the entity in the highest bits.
    public var rawValue: UInt64

    /// No object.
    public static let null = ObjectRef(rawValue: 0)
    /// How many bits a primary key has.
    public static let keyBits: UInt64 = 48
    /// The greatest primary key there can be.
    public static let maximumKey: UInt64 = (1 << 48) - 1

    /// The reference with a ``rawValue``; nothing is checked.
    @inlinable
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The object of an entity that has a primary key.
    ///
    /// - Precondition: `key` is at most ``maximumKey``.
    @inlinable
    public init(entity: UInt16, key: UInt64) {
        precondition(key <= Self.maximumKey, "primary key out of range")
        rawValue = UInt64(entity) << Self.keyBits | key
    }

    /// The number of the object's entity in the store's schema; 0 for ``null`` and for what is not stored.
    @inlinable
    public var entity: UInt16 { UInt16(truncatingIfNeeded: rawValue >> Self.keyBits) }

    /// The object's primary key, unique in the entities that share a root.
    @inlinable
    public var key: UInt64 { rawValue & Self.maximumKey }

    /// Whether this is no object.
    @inlinable
    public var isNull: Bool { rawValue == 0 }

    /// By entity, then by key.
    @inlinable
    public static func < (a: ObjectRef, b: ObjectRef) -> Bool { a.rawValue < b.rawValue }
}

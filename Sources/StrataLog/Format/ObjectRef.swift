/// What the engine calls an object: the entity's number and the primary key in its root entity's key space.
///
/// Eight bytes, so that a relationship is a column of integers: 16 bits of entity above 48 bits of key. Keys are dense
/// and start at 1; the raw value 0 means "no object".
public struct ObjectRef: Hashable, Comparable, Sendable {
    public var rawValue: UInt64

    public static let null = ObjectRef(rawValue: 0)
    public static let keyBits: UInt64 = 48
    public static let maximumKey: UInt64 = (1 << 48) - 1

    @inlinable
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// - Precondition: `key` is at most ``maximumKey``.
    @inlinable
    public init(entity: UInt16, key: UInt64) {
        precondition(key <= Self.maximumKey, "primary key out of range")
        rawValue = UInt64(entity) << Self.keyBits | key
    }

    @inlinable
    public var entity: UInt16 { UInt16(truncatingIfNeeded: rawValue >> Self.keyBits) }

    @inlinable
    public var key: UInt64 { rawValue & Self.maximumKey }

    @inlinable
    public var isNull: Bool { rawValue == 0 }

    @inlinable
    public static func < (a: ObjectRef, b: ObjectRef) -> Bool { a.rawValue < b.rawValue }
}

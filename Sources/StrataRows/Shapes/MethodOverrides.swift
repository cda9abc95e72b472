/// Which of the methods that Strata calls on every object a class overrides.
///
/// Going through all objects to call methods that do nothing costs a large save more than its rows do, and asking every
/// object about each of its properties by name many times that: it is only done for classes that would notice.
///
/// Whoever compiles a model says it of each entity's class.
@frozen
@usableFromInline
package struct MethodOverrides: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt8

    @inlinable
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable package static var prepareForDeletion: MethodOverrides { MethodOverrides(rawValue: 1) }
    @inlinable package static var willSave: MethodOverrides { MethodOverrides(rawValue: 1 << 1) }
    @inlinable package static var didSave: MethodOverrides { MethodOverrides(rawValue: 1 << 2) }
    @inlinable package static var awakeFromFetch: MethodOverrides { MethodOverrides(rawValue: 1 << 3) }
    @inlinable package static var validateForInsert: MethodOverrides { MethodOverrides(rawValue: 1 << 4) }
    @inlinable package static var validateForDelete: MethodOverrides { MethodOverrides(rawValue: 1 << 5) }
    @inlinable package static var validateValue: MethodOverrides { MethodOverrides(rawValue: 1 << 6) }
    /// `hash` or `isEqual`, which sets of objects ask.
    @inlinable package static var equality: MethodOverrides { MethodOverrides(rawValue: 1 << 7) }

    @inlinable package static var all: MethodOverrides { MethodOverrides(rawValue: .max) }
}

/// Which of the methods that Strata calls on every object a class overrides.
///
/// Going through all objects to call methods that do nothing costs a large save more than its rows do, and asking every
/// object about each of its properties by name many times that: it is only done for classes that would notice.
///
/// Whoever compiles a model says it of each entity's class.
package struct MethodOverrides: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let prepareForDeletion = MethodOverrides(rawValue: 1)
    package static let willSave = MethodOverrides(rawValue: 1 << 1)
    package static let didSave = MethodOverrides(rawValue: 1 << 2)
    package static let awakeFromFetch = MethodOverrides(rawValue: 1 << 3)
    package static let validateForInsert = MethodOverrides(rawValue: 1 << 4)
    package static let validateForDelete = MethodOverrides(rawValue: 1 << 5)
    package static let validateValue = MethodOverrides(rawValue: 1 << 6)
    /// `hash` or `isEqual`, which sets of objects ask.
    package static let equality = MethodOverrides(rawValue: 1 << 7)

    package static let all = MethodOverrides(rawValue: .max)
}

/// Which of the methods that Strata calls on every object a class overrides.
///
/// Going through all objects to call methods that do nothing costs a large save more than its rows do, and asking every
/// object about each of its properties by name many times that: it is only done for classes that would notice.
///
/// Whoever compiles a model says it of each entity's class.
struct MethodOverrides: OptionSet, Sendable {
    let rawValue: UInt8

    static let prepareForDeletion = MethodOverrides(rawValue: 1)
    static let willSave = MethodOverrides(rawValue: 1 << 1)
    static let didSave = MethodOverrides(rawValue: 1 << 2)
    static let awakeFromFetch = MethodOverrides(rawValue: 1 << 3)
    static let validateForInsert = MethodOverrides(rawValue: 1 << 4)
    static let validateForDelete = MethodOverrides(rawValue: 1 << 5)
    static let validateValue = MethodOverrides(rawValue: 1 << 6)
    /// `hash` or `isEqual`, which sets of objects ask.
    static let equality = MethodOverrides(rawValue: 1 << 7)

    static let all = MethodOverrides(rawValue: .max)
}

/// How the members of an ordered relationship change; for `NSManagedObject.willChange(_:valuesAt:forKey:)` and for
/// those who observe it. Raw values are Apple's.
public enum NSKeyValueChange: UInt, Sendable {
    /// All are replaced.
    case setting = 1
    /// Some come.
    case insertion = 2
    /// Some go.
    case removal = 3
    /// Some are replaced.
    case replacement = 4
}

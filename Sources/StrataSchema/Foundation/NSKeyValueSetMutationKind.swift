/// How the contents of a to-many relationship change. Linux's Foundation lacks it.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Objects are added.
    case union = 1
    /// Objects are removed.
    case minus = 2
    /// Objects that are not in another set are removed.
    case intersect = 3
    /// All objects are replaced.
    case set = 4
}

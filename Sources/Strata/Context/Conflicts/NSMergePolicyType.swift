/// The ways to resolve conflicts between a context and the store.
public enum NSMergePolicyType: UInt, Sendable {
    /// Not at all: the save fails.
    case errorMergePolicyType = 0
    /// Property by property; where both changed, the store's value stays.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// Property by property; where both changed, the context's value wins.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// The context's whole object wins.
    case overwriteMergePolicyType = 3
    /// The store's whole object stays.
    case rollbackMergePolicyType = 4
}

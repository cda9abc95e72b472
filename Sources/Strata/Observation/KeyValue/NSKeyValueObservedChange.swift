public import Foundation

/// What the handler of a key-value observation is told of a change.
public struct NSKeyValueObservedChange<Value> {
    /// What kind of change it can be.
    public typealias Kind = NSKeyValueChange

    /// `.setting`, unless single members of an ordered relationship come (`.insertion`), go (`.removal`) or are
    /// replaced or put in another order (`.replacement`).
    public let kind: Kind
    /// The value after the change, with ``NSKeyValueObservingOptions/new``: of a relationship all members, whatever
    /// kind of change it is.
    public let newValue: Value?
    /// The value before the change, with ``NSKeyValueObservingOptions/old``: of a relationship all members.
    public let oldValue: Value?
    /// The places of an ordered relationship that change: those of members that have come or have been replaced are
    /// places in the new order, those of members that go in the old one. Nil when the whole value is set.
    public let indexes: IndexSet?
    /// Whether the handler is called before the change.
    public let isPrior: Bool

    init(newValue: Value?, oldValue: Value?, isPrior: Bool = false, _ change: OrderedChange = .setting) {
        kind = change.kind
        self.newValue = newValue
        self.oldValue = oldValue
        indexes = change.indexes
        self.isPrior = isPrior
    }
}

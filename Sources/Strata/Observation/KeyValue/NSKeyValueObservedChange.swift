public import Foundation

/// What the handler of a key-value observation is told of a change.
public struct NSKeyValueObservedChange<Value> {
    /// What kind of change it can be.
    public typealias Kind = NSKeyValueChange

    /// Always `.setting`: changes of collections are not told member by member.
    public let kind: Kind
    /// The value after the change, with ``NSKeyValueObservingOptions/new``.
    public let newValue: Value?
    /// The value before the change, with ``NSKeyValueObservingOptions/old``.
    public let oldValue: Value?
    /// Always nil, as for every change of this kind.
    public let indexes: IndexSet?
    /// Whether the handler is called before the change.
    public let isPrior: Bool

    init(newValue: Value?, oldValue: Value?, isPrior: Bool = false) {
        kind = .setting
        self.newValue = newValue
        self.oldValue = oldValue
        indexes = nil
        self.isPrior = isPrior
    }
}

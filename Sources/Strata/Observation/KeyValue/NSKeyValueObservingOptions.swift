/// What the handler of a key-value observation is told. Raw values are Apple's.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value after the change.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The value before the change.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// The handler is called once when the observation begins.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
    /// The handler is called before each change, too.
    public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// Some of a store's objects, and whether there are more behind them.
public struct ObjectList: Sendable {
    /// In the order of their keys' bytes; digests are not told.
    public let objects: [ObjectInfo]
    /// Whether the list was cut: the next begins after the last key.
    public let isTruncated: Bool

    /// Puts an answer together.
    public init(objects: [ObjectInfo], isTruncated: Bool) {
        self.objects = objects
        self.isTruncated = isTruncated
    }
}

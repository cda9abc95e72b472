/// Sizes that every implementation keeps to.
public enum ObjectLimits {
    /// The most bytes that ``ObjectStore/put(_:_:digest:if:)`` takes: 64 MiB. Longer objects are uploaded.
    public static let largestPut = 64 << 20
    /// The longest key, in bytes of UTF-8.
    public static let longestKey = 1024
}

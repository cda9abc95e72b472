/// Bytes of an object, and what the store says of the whole.
public struct ObjectContents: Sendable {
    /// The bytes of the range that was asked for, cut at the object's end.
    public let bytes: [UInt8]
    /// The object's size (not the range's), tag and digest.
    public let info: ObjectInfo

    /// Puts an answer together.
    public init(bytes: [UInt8], info: ObjectInfo) {
        self.bytes = bytes
        self.info = info
    }
}

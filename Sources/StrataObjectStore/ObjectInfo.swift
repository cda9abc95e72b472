/// What an ``ObjectStore`` says of an object.
public struct ObjectInfo: Sendable, Hashable {
    /// The object's name.
    public let key: String
    /// Its length in bytes.
    public let size: Int64
    /// Names this version of the object, for ``PutCondition/matching(_:)``. Opaque, quotes included.
    public let tag: String
    /// SHA-256 of the bytes, as their writer gave it; nil where the store does not tell, as in lists.
    public let digest: ObjectDigest?
    /// When it was written, by the store's clock, in seconds since 1970; nil where the store does not tell.
    public let modified: Double?

    /// Puts together what a store has said.
    public init(key: String, size: Int64, tag: String, digest: ObjectDigest?, modified: Double?) {
        self.key = key
        self.size = size
        self.tag = tag
        self.digest = digest
        self.modified = modified
    }
}

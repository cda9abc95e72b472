/// The bytes of an object that is to be uploaded, read as they are needed.
public protocol ObjectSource: Sendable {
    /// How many bytes there are; the same at every call.
    var size: Int64 { get }

    /// The bytes of a range within the size; the same at every call.
    ///
    /// - Throws: Whatever keeps them from being read; the upload ends with ``ObjectStoreError/source(key:message:)``.
    func read(_ range: Range<Int64>) async throws -> [UInt8]
}

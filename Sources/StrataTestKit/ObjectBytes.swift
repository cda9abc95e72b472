public import StrataObjectStore

/// Bytes in memory that are to be uploaded.
public struct ObjectBytes: ObjectSource {
    private let bytes: [UInt8]

    /// Takes the bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    public var size: Int64 { Int64(bytes.count) }

    public func read(_ range: Range<Int64>) async throws -> [UInt8] {
        Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}

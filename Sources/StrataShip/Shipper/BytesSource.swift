internal import StrataObjectStore

/// Bytes in memory, to be uploaded.
struct BytesSource: ObjectSource {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var size: Int64 { Int64(bytes.count) }

    func read(_ range: Range<Int64>) async throws -> [UInt8] {
        Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}

@testable import StrataLog

/// A checkpoint file in memory while it is written.
final class IndexTestSink: CheckpointSink {
    var bytes: [UInt8] = []

    var position: Int64 { Int64(bytes.count) }

    func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        self.bytes.append(contentsOf: bytes)
    }

    /// The file, with some other contents before what is written next.
    init(padding: Int = 0) {
        bytes = [UInt8](repeating: 0xAB, count: padding)
    }
}

import Synchronization

@testable import StrataLog

/// A checkpoint file in memory while it is read.
final class IndexTestSource: PageSource {
    let bytes: [UInt8]
    let readCount = Atomic<Int>(0)
    /// Reads fail while this is set.
    let fails = Atomic<Bool>(false)

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) {
        readCount.wrappingAdd(1, ordering: .relaxed)
        if fails.load(ordering: .relaxed) { throw StoreError(.io, "a read that was told to fail") }
        guard offset >= 0, Int(offset) <= bytes.count, buffer.count <= bytes.count - Int(offset) else {
            throw StoreError(.corruption, "the file ends too early")
        }
        bytes.withUnsafeBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<(Int(offset) + buffer.count)]))
        }
    }
}

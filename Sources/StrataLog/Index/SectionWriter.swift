internal import CStrataSupport

/// Gathers small pieces into large writes to a checkpoint file and knows where each lies.
final class SectionWriter {
    private static let bufferByteCount = 1 << 17

    private let sink: any CheckpointSink
    private var buffer: [UInt8] = []
    /// Where the next byte will lie in the file.
    private(set) var position: Int64

    init(_ sink: any CheckpointSink) {
        self.sink = sink
        position = sink.position
        buffer.reserveCapacity(Self.bufferByteCount)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        if buffer.count + bytes.count > Self.bufferByteCount { try flush() }
        if bytes.count >= Self.bufferByteCount {
            try sink.write(bytes)
        } else {
            buffer.append(contentsOf: bytes)
        }
        position += Int64(bytes.count)
    }

    func flush() throws(StoreError) {
        guard !buffer.isEmpty else { return }
        let full = buffer
        var failure: StoreError?
        full.withUnsafeBytes { bytes in
            do throws(StoreError) { try sink.write(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Appends the checksum to a finished directory, writes it and everything before it.
    func finish(directory: DirectoryBytes) throws(StoreError) -> CheckpointSection {
        let section = CheckpointSection(offset: position, byteCount: directory.bytes.count + 4)
        var sealed = directory
        sealed.append(directory.bytes.withUnsafeBytes { Checksum.of($0) })
        var failure: StoreError?
        sealed.bytes.withUnsafeBytes { bytes in
            do throws(StoreError) { try write(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
        try flush()
        return section
    }
}

/// Little-endian integers one after the other.
struct DirectoryBytes {
    var bytes: [UInt8] = []

    @inline(__always)
    mutating func append<T: FixedWidthInteger>(_ value: T) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
}

enum Checksum {
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        strata_crc32c(0, bytes.baseAddress, bytes.count)
    }

    /// Checksum of bytes and of what says where they belong, so that a displaced page does not pass for another.
    static func of(_ bytes: UnsafeRawBufferPointer, place first: UInt64, _ second: UInt64 = 0) -> UInt32 {
        let crc = withUnsafeBytes(of: (first.littleEndian, second.littleEndian)) {
            strata_crc32c(0, $0.baseAddress, $0.count)
        }
        return strata_crc32c(crc, bytes.baseAddress, bytes.count)
    }
}

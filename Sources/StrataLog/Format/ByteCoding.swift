/// Appends little-endian integers and bytes: how every variable-length part of the format is written.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init(reservingCapacity capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    package var count: Int { bytes.count }

    package mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        // Appending a sequence of bytes takes longer than one after the other.
        var rest = value
        for _ in 0..<MemoryLayout<Value>.size {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    package mutating func append(bytes source: some Sequence<UInt8>) {
        bytes.append(contentsOf: source)
    }

    /// A byte count of 32 bits, then the bytes.
    package mutating func append(counted source: some Collection<UInt8>) {
        append(UInt32(source.count))
        bytes.append(contentsOf: source)
    }

    /// A byte count of 32 bits, then the UTF-8; all ones for nil.
    package mutating func append(string: String?) {
        guard let string else { return append(UInt32.max) }
        append(counted: Array(string.utf8))
    }

    package mutating func pad(toMultipleOf alignment: Int) {
        let remainder = bytes.count % alignment
        if remainder > 0 {
            bytes.append(contentsOf: repeatElement(0, count: alignment - remainder))
        }
    }

    package mutating func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
        withUnsafeBytes(of: value.littleEndian) { source in
            for index in 0..<source.count { bytes[offset + index] = source[index] }
        }
    }
}

/// Bytes ended or contradicted themselves while being read; the caller knows the place and makes a ``StoreError`` of
/// it.
package struct MalformedBytes: Error {
    package var reason: String
    package var offset: Int
}

/// Reads what ``ByteWriter`` wrote. Every length is checked before use.
package struct ByteReader {
    // The pointer is valid for as long as the closure that made the reader runs: readers are never stored.
    package let bytes: UnsafeRawBufferPointer
    package private(set) var position: Int

    package init(_ bytes: UnsafeRawBufferPointer, at position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    package var remaining: Int { bytes.count - position }

    package func malformed(_ reason: String) -> MalformedBytes {
        MalformedBytes(reason: reason, offset: position)
    }

    @inline(__always)
    package mutating func read<Value: FixedWidthInteger>(
        _ type: Value.Type = Value.self
    ) throws(MalformedBytes) -> Value {
        guard remaining >= MemoryLayout<Value>.size else { throw malformed("ends early") }
        let value = bytes.loadUnaligned(fromByteOffset: position, as: Value.self)
        position += MemoryLayout<Value>.size
        return Value(littleEndian: value)
    }

    @inline(__always)
    package mutating func read(count: Int) throws(MalformedBytes) -> UnsafeRawBufferPointer {
        guard count >= 0, remaining >= count else { throw malformed("ends early") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    package mutating func readCounted() throws(MalformedBytes) -> [UInt8] {
        let count = try read(UInt32.self)
        return [UInt8](try read(count: Int(count)))
    }

    package mutating func readString() throws(MalformedBytes) -> String? {
        let count = try read(UInt32.self)
        if count == .max { return nil }
        return String(decoding: try read(count: Int(count)), as: UTF8.self)
    }

    /// A count of things that take at least `minimumByteCount` bytes each: refused when the bytes left cannot hold
    /// them.
    package mutating func readCount(minimumByteCount: Int) throws(MalformedBytes) -> Int {
        // Read first: what is left is what follows the count.
        let count = try read(UInt32.self)
        return try checkedCount(count, minimumByteCount: minimumByteCount)
    }

    /// A count of entries that are still to be read, if they can all be there.
    func checkedCount(_ count: UInt32, minimumByteCount: Int) throws(MalformedBytes) -> Int {
        guard Int(count) <= remaining / max(minimumByteCount, 1) else {
            throw malformed("count \(count) is impossible")
        }
        return Int(count)
    }
}

extension Array where Element == UInt8 {
    /// `withUnsafeBytes` that keeps the type of what is thrown, which the library's own does not.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = withUnsafeBytes { bytes -> Swift.Result<Result, Failure> in
            do throws(Failure) {
                return .success(try body(bytes))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

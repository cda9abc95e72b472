/// Writes the components of an index key to memory of the caller's, so that looking one key up allocates nothing.
///
/// The same bytes as ``OrderedKey/component(_:_:)`` makes; a descending element's have their bits turned over.
package struct OrderedKeyWriter {
    private let bytes: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    /// How many bytes have been written.
    package private(set) var count = 0

    /// What a value of a fixed width takes at most.
    package static let fixedMaximumByteCount = 17

    /// - Parameter memory: lives as long as the writer; room for all that is written.
    package init(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { preconditionFailure("a key has bytes") }
        bytes = start.assumingMemoryBound(to: UInt8.self)
        capacity = memory.count
    }

    /// What has been written; valid until more is.
    package var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }

    /// What has been written, as the array that a range has.
    package var array: [UInt8] { [UInt8](UnsafeBufferPointer(start: bytes, count: count)) }

    /// Room for a text of so many bytes.
    package static func textMaximumByteCount(_ count: Int) -> Int { count * 2 + 2 }

    // MARK: Values

    /// - Returns: false, and nothing is written, for a number that the kind cannot hold.
    package mutating func append(_ value: Int64, _ kind: ValueKind) -> Bool {
        switch kind {
        case .bool:
            guard value == 0 || value == 1 else { return false }
            put(1)
            put(UInt8(value))
        case .int16:
            guard let value = Int16(exactly: value) else { return false }
            put(1)
            put(bigEndian: UInt16(bitPattern: value) ^ 1 << 15)
        case .int32:
            guard let value = Int32(exactly: value) else { return false }
            put(1)
            put(bigEndian: UInt32(bitPattern: value) ^ 1 << 31)
        default:
            put(1)
            put(bigEndian: UInt64(bitPattern: value) ^ 1 << 63)
        }
        return true
    }

    /// A floating-point number or a date.
    ///
    /// - Precondition: it is a number.
    package mutating func append(real value: Double) {
        // Zero has two signs, which are equal.
        let bits = (value + 0).bitPattern
        put(1)
        put(bigEndian: bits >> 63 != 0 ? ~bits : bits | 1 << 63)
    }

    /// A text of fewer bytes than ``OrderedKey/valueMaximumByteCount``.
    package mutating func append(text: UnsafeRawBufferPointer) {
        precondition(count + Self.textMaximumByteCount(text.count) <= capacity)
        var end = count
        bytes[end] = 1
        end &+= 1
        for byte in text {
            if byte > 1 {
                bytes[end] = byte
                end &+= 1
            } else {
                bytes[end] = 1
                bytes[end &+ 1] = byte &+ 1
                end &+= 2
            }
        }
        bytes[end] = 0
        count = end &+ 1
    }

    /// The sixteen bytes of a UUID, as they lie in memory.
    package mutating func append(uuid words: (UInt64, UInt64)) {
        put(1)
        put(bigEndian: words.0.bigEndian)
        put(bigEndian: words.1.bigEndian)
    }

    /// A reference by its key: which entity the object has need not be known. Must be the last component.
    package mutating func append(key: UInt64) {
        put(1)
        put(bigEndian: UInt16(truncatingIfNeeded: key >> 32))
        put(bigEndian: UInt32(truncatingIfNeeded: key))
    }

    /// What has been written elsewhere.
    package mutating func append(bytes source: UnsafeRawBufferPointer) {
        precondition(count + source.count <= capacity)
        if let start = source.baseAddress {
            UnsafeMutableRawPointer(bytes + count).copyMemory(from: start, byteCount: source.count)
        }
        count += source.count
    }

    /// Turns the bits of what was written since over: for a descending element.
    package mutating func invert(from start: Int) {
        for index in start..<count { bytes[index] = ~bytes[index] }
    }

    private mutating func put(_ byte: UInt8) {
        precondition(count < capacity)
        bytes[count] = byte
        count &+= 1
    }

    private mutating func put<T: FixedWidthInteger>(bigEndian value: T) {
        precondition(count + MemoryLayout<T>.size <= capacity)
        UnsafeMutableRawPointer(bytes + count).storeBytes(of: value.bigEndian, as: T.self)
        count &+= MemoryLayout<T>.size
    }
}

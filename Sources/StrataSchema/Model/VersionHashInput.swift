import Foundation

/// Collects what goes into a version hash. Every field carries its length, so that no two different inputs run
/// together. The result is kept in stores: it must never change.
struct VersionHashInput {
    private var bytes: [UInt8] = []

    mutating func add(byte: UInt8) {
        bytes.append(byte)
    }

    mutating func add(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    mutating func add(_ value: UInt) {
        for shift in stride(from: 0, to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: UInt64(value) >> UInt64(shift)))
        }
    }

    mutating func add(_ value: String) {
        add(bytes: Array(value.utf8))
    }

    /// An absent value differs from an empty one.
    mutating func add(optional value: String?) {
        add(value != nil)
        if let value { add(value) }
    }

    mutating func add(bytes value: [UInt8]) {
        add(UInt(value.count))
        bytes.append(contentsOf: value)
    }

    /// The SHA-256 of everything added.
    func digest() -> Data {
        Data(SHA256Digest.hash(bytes))
    }
}

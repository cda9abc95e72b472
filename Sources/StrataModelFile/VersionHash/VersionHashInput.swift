import Foundation

/// Collects what goes into a version hash. Every field carries its length, so that no two different inputs run
/// together. The result is kept in stores: it must never change.
package struct VersionHashInput {
    private var bytes: [UInt8] = []

    package init() {}

    package mutating func add(byte: UInt8) {
        bytes.append(byte)
    }

    package mutating func add(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    package mutating func add(_ value: UInt) {
        let value = UInt64(value)
        // One append: builds for debugging compute some hundred thousand hashes of a model with many versions.
        bytes += [
            UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8),
            UInt8(truncatingIfNeeded: value >> 16), UInt8(truncatingIfNeeded: value >> 24),
            UInt8(truncatingIfNeeded: value >> 32), UInt8(truncatingIfNeeded: value >> 40),
            UInt8(truncatingIfNeeded: value >> 48), UInt8(truncatingIfNeeded: value >> 56),
        ]
    }

    package mutating func add(_ value: String) {
        let utf8 = value.utf8
        add(UInt(utf8.count))
        bytes.append(contentsOf: utf8)
    }

    /// An absent value differs from an empty one.
    package mutating func add(optional value: String?) {
        add(value != nil)
        if let value { add(value) }
    }

    package mutating func add(bytes value: [UInt8]) {
        add(UInt(value.count))
        bytes.append(contentsOf: value)
    }

    /// The SHA-256 of everything added.
    package func digest() -> Data {
        Data(SHA256Digest.hash(bytes))
    }
}

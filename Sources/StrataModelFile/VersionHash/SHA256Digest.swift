import CStrataSupport

/// SHA-256 (FIPS 180-4), for version hashes. In C, since programs in debug look through a hundred versions of a model.
package enum SHA256Digest {
    package static let byteCount = 32

    /// - Returns: 32 bytes.
    /// - Complexity: O(n).
    package static func hash(_ message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { digest, count in
            guard let start = digest.baseAddress else { return }
            strata_sha256(message, message.count, start)
            count = byteCount
        }
    }
}

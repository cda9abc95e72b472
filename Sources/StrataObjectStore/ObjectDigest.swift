import CStrataSupport

/// SHA-256 of an object's bytes.
public struct ObjectDigest: Sendable, Hashable {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// The digest of these bytes. O(n).
    public init(of content: [UInt8]) {
        self.init(of: content[...])
    }

    /// The digest of these bytes. O(n).
    public init(of content: ArraySlice<UInt8>) {
        bytes = [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
            guard let digest = digest.baseAddress else { return }
            content.withUnsafeBytes { strata_sha256($0.baseAddress, $0.count, digest) }
            count = 32
        }
    }

    /// A digest in hexadecimal digits, or nil if it is not 64 of them.
    public init?(hexadecimal text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        for pair in stride(from: 0, to: 64, by: 2) {
            guard let high = Self.value(digits[pair]), let low = Self.value(digits[pair + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        self.bytes = bytes
    }

    /// 64 hexadecimal digits in lower case.
    public var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x57
        case 0x41...0x46: digit - 0x37
        default: nil
        }
    }
}

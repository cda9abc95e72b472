import CStrataSupport
import StrataObjectStore
import Testing

/// SHA-256, by the processor's instructions for it and without them.
@Suite struct ObjectDigestTests {
    private static let bytes = (0..<2_000).map { UInt8(truncatingIfNeeded: (UInt32($0) &* 2_654_435_761) >> 13) }

    private static func portable(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.withUnsafeBytes { bytes in
            [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
                if let start = digest.baseAddress { strata_sha256_portable(bytes.baseAddress, bytes.count, start) }
                count = 32
            }
        }
    }

    @Test func aDigestIsTheSameHoweverItIsComputed() {
        var all: [UInt8] = []
        for count in 0..<1_000 {
            let slice = Self.bytes[count % 7..<count % 7 + count]
            let digest = ObjectDigest(of: Array(slice)).bytes
            #expect(digest == Self.portable(slice), "\(count) bytes")
            all += digest
        }
        // The same by Python's hashlib.
        #expect(
            ObjectDigest(of: all).hexadecimal == "502bd1547492cea39db13835fdd1e8b562acb7e4d639d7dd69190b117aec0543")
        #expect(
            ObjectDigest(of: Array("abc".utf8)).hexadecimal
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
}

import StrataObjectStore
import StrataTestKit

@testable import StrataShip

/// A cipher that is none: quick, without another package, and as strict as a real one about what is opened. That of
/// `StrataEncryption` has tests of its own.
struct TestCipher: ObjectCipher {
    /// What tests encrypt with, if they do.
    @TaskLocal static var used: TestCipher?

    /// Runs a test with encryption or without.
    static func use<Result>(
        _ isUsed: Bool, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $used.withValue(isUsed ? TestCipher() : nil) { try await body() }
    }

    var keys: [UInt32: UInt64] = [1: 0x5eed, 2: 0xfeed]
    var writing: UInt32 = 1

    var keyNumber: UInt32 {
        get throws(ObjectCipherError) { writing }
    }

    func frames(key number: UInt32, salt: [UInt8]) throws(ObjectCipherError) -> any FrameCipher {
        guard let key = keys[number] else { throw .missingKey(number) }
        return Frames(key: key, salt: salt)
    }

    struct Frames: FrameCipher {
        let key: UInt64
        let salt: [UInt8]

        private static func bytes(_ number: UInt64) -> [UInt8] {
            withUnsafeBytes(of: number.littleEndian) { Array($0) }
        }

        var keyCheck: [UInt8] { Array(ObjectDigest(of: Self.bytes(key)).bytes.prefix(8)) }

        private func mixed(_ frame: ArraySlice<UInt8>, _ number: UInt64) -> [UInt8] {
            let seed = ObjectDigest(of: Self.bytes(key) + salt).bytes.prefix(8).reduce(UInt64(0)) {
                $0 << 8 | UInt64($1)
            }
            var generator = SeededGenerator(seed: seed, stream: number)
            var bytes = Array(frame)
            for start in stride(from: 0, to: bytes.count, by: 8) {
                var word = generator.next()
                for index in start..<min(start + 8, bytes.count) {
                    bytes[index] ^= UInt8(truncatingIfNeeded: word)
                    word >>= 8
                }
            }
            return bytes
        }

        private func tag(_ bytes: [UInt8], _ number: UInt64, _ context: [UInt8]) -> ArraySlice<UInt8> {
            ObjectDigest(
                of: Self.bytes(key) + salt + Self.bytes(number) + Self.bytes(UInt64(context.count)) + context + bytes
            ).bytes.prefix(16)
        }

        func seal(
            _ frame: ArraySlice<UInt8>, number: UInt64, context: [UInt8]
        ) throws(ObjectCipherError) -> [UInt8] {
            let bytes = mixed(frame, number)
            return bytes + tag(bytes, number, context)
        }

        func open(_ sealed: ArraySlice<UInt8>, number: UInt64, context: [UInt8]) -> [UInt8]? {
            guard sealed.count >= 16 else { return nil }
            let bytes = Array(sealed.dropLast(16))
            return sealed.suffix(16) == tag(bytes, number, context) ? mixed(bytes[...], number) : nil
        }
    }
}

internal import Crypto
internal import Foundation
public import StrataObjectStore

/// AES-256-GCM for the objects of a bucket.
///
/// ```swift
/// var options = ShipOptions()
/// options.cipher = AESGCMCipher(try EncryptionKeys(contentsOfFile: "/etc/library.keys"))
/// ```
///
/// Each object has a key of its own: HKDF-SHA256 of the key with its number, salted with the object's 24 random bytes.
/// Under it, frames are encrypted with their number as nonce, so that no nonce is ever used twice with one key, however
/// many objects there are. May be used from any task.
public struct AESGCMCipher: ObjectCipher {
    /// Of a key.
    public static let keyBytes = 32

    private let writing: @Sendable () throws(ObjectCipherError) -> UInt32
    private let key: @Sendable (UInt32) throws(ObjectCipherError) -> [UInt8]?

    /// A cipher with these keys.
    public init(_ keys: EncryptionKeys) {
        self.init(
            writing: { () throws(ObjectCipherError) in keys.writing },
            key: { number throws(ObjectCipherError) in keys.keys[number] })
    }

    /// A cipher that asks for keys whenever it needs one, so that they can be added while the program runs.
    ///
    /// - Parameters:
    ///   - writing: The number of the key to write with, 1 or more.
    ///   - key: The 32 bytes of the key with a number, always the same ones; nil if there is none. It is called for
    ///     each object, from any thread, and should answer at once.
    public init(
        writing: @escaping @Sendable () throws(ObjectCipherError) -> UInt32,
        key: @escaping @Sendable (UInt32) throws(ObjectCipherError) -> [UInt8]?
    ) {
        self.writing = writing
        self.key = key
    }

    public var keyNumber: UInt32 {
        get throws(ObjectCipherError) {
            let number = try writing()
            guard number > 0 else { throw .invalid("keys are numbered from 1") }
            return number
        }
    }

    public func frames(key number: UInt32, salt: [UInt8]) throws(ObjectCipherError) -> any FrameCipher {
        guard let bytes = try key(number) else { throw .missingKey(number) }
        guard bytes.count == Self.keyBytes else {
            throw .invalid("key \(number) has \(bytes.count) bytes and not \(Self.keyBytes)")
        }
        let master = SymmetricKey(data: bytes)
        let check = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: master, info: Data("strata ship check 1".utf8), outputByteCount: 8)
        let own = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: master, salt: salt, info: Data("strata ship object 1".utf8), outputByteCount: 32)
        return Frames(keyCheck: check.withUnsafeBytes { Array($0) }, key: own)
    }

    /// Encrypts the frames of one object.
    private struct Frames: FrameCipher {
        let keyCheck: [UInt8]
        let key: SymmetricKey

        /// The number in 8 bytes, little-endian, then zeros.
        private static func nonce(_ number: UInt64) -> AES.GCM.Nonce? {
            let bytes = withUnsafeBytes(of: number.littleEndian) { Array($0) }
            return try? AES.GCM.Nonce(data: bytes + [0, 0, 0, 0])
        }

        func seal(
            _ frame: ArraySlice<UInt8>, number: UInt64, context: [UInt8]
        ) throws(ObjectCipherError) -> [UInt8] {
            guard let nonce = Self.nonce(number) else { throw .invalid("a nonce has another length by now") }
            do {
                let box = try AES.GCM.seal(frame, using: key, nonce: nonce, authenticating: context)
                var bytes: [UInt8] = []
                bytes.reserveCapacity(frame.count + box.tag.count)
                bytes += box.ciphertext
                bytes += box.tag
                return bytes
            } catch {
                throw .invalid("AES-GCM has failed: \(error)")
            }
        }

        func open(_ sealed: ArraySlice<UInt8>, number: UInt64, context: [UInt8]) -> [UInt8]? {
            let tagBytes = 16
            guard sealed.count >= tagBytes, let nonce = Self.nonce(number),
                let box = try? AES.GCM.SealedBox(
                    nonce: nonce, ciphertext: sealed.dropLast(tagBytes), tag: sealed.suffix(tagBytes)),
                let opened = try? AES.GCM.open(box, using: key, authenticating: context)
            else { return nil }
            return Array(opened)
        }
    }
}

internal import Foundation
public import StrataObjectStore

/// Keys of AES-256, by number. The one with the highest number is written with; the others are read with.
///
/// As text, a line for each: its number, a space, and its 32 bytes as 64 hexadecimal digits. Empty lines and those that
/// begin with `#` count for nothing.
///
///     # 2026
///     1 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
///
/// `openssl rand -hex 32` makes a key. A number is never given to another key. No description shows a key.
public struct EncryptionKeys: Sendable {
    let keys: [UInt32: [UInt8]]
    /// The highest number.
    public let writing: UInt32
    /// All numbers, ascending.
    public var numbers: [UInt32] { keys.keys.sorted() }

    /// Keys of 32 bytes each.
    ///
    /// - Throws: ``ObjectCipherError/invalid(_:)`` for no keys, a key of another length, and the number 0.
    public init(_ keys: [UInt32: [UInt8]]) throws(ObjectCipherError) {
        guard let writing = keys.keys.max() else { throw .invalid("there are no keys") }
        guard keys[0] == nil else { throw .invalid("keys are numbered from 1") }
        for (number, key) in keys.sorted(by: { $0.key < $1.key }) where key.count != AESGCMCipher.keyBytes {
            throw .invalid("key \(number) has \(key.count) bytes and not \(AESGCMCipher.keyBytes)")
        }
        self.keys = keys
        self.writing = writing
    }

    /// Keys in text, from a configuration or an environment for example.
    ///
    /// - Throws: ``ObjectCipherError/invalid(_:)``, which names the line and shows nothing of it.
    public init(text: some StringProtocol) throws(ObjectCipherError) {
        var keys: [UInt32: [UInt8]] = [:]
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 2, let number = UInt32(first), number > 0 else {
                throw .invalid("line \(index + 1) of the keys is not a number from 1 and a key")
            }
            guard let digest = ObjectDigest(hexadecimal: words[1].lowercased()) else {
                throw .invalid("key \(number) in line \(index + 1) is not 64 hexadecimal digits")
            }
            guard keys.updateValue(digest.bytes, forKey: number) == nil else {
                throw .invalid("line \(index + 1) has a second key \(number)")
            }
        }
        try self.init(keys)
    }

    /// Keys in a file.
    ///
    /// - Throws: as ``init(text:)``, and if the file cannot be read.
    public init(contentsOfFile path: String) throws(ObjectCipherError) {
        let text: String
        do {
            text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        } catch {
            throw .invalid("the keys in \(path) cannot be read: \(error.localizedDescription)")
        }
        do throws(ObjectCipherError) {
            try self.init(text: text)
        } catch {
            throw .invalid("\(path): \(error)")
        }
    }
}

extension EncryptionKeys: CustomStringConvertible, CustomReflectable {
    public var description: String { "keys \(numbers.map(String.init).joined(separator: ", "))" }

    /// Without the keys' bytes.
    public var customMirror: Mirror { Mirror(self, children: ["numbers": numbers]) }
}

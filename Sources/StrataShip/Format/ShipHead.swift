internal import Foundation
package import StrataLog
package import StrataObjectStore

/// What the object `head` says: whose log this is, and which stretch of it each epoch has.
///
/// JSON in one line, then a line with the SHA-256 of the first. If the bucket is encrypted, a third line vouches for
/// the first: the number of a key, and in hexadecimal digits the salt, what tells the key, and the tag of an empty
/// frame that is bound to the first line.
package struct ShipHead: Sendable, Codable, Hashable {
    /// A place in the log.
    package struct Place: Sendable, Codable, Hashable {
        package var segment: UInt32
        package var offset: Int
        /// The last transaction before it.
        package var sequence: UInt64
        /// The latest time of a record before it.
        package var time: Int64
        /// The checksum of the last record before it.
        package var checksum: UInt32

        package var position: LogPosition { LogPosition(segment: segment, offset: offset) }
    }

    /// A stretch of the log that one shipper, and no other, has written or is writing.
    package struct Epoch: Sendable, Codable, Hashable {
        package var number: UInt32
        /// Drawn at random by the shipper.
        package var owner: String
        /// The store that it ships, see `ShipSlot`.
        package var line: String
        /// For people: host and process.
        package var name: String
        /// When it was taken, by the shipper's clock, in nanoseconds since 1970.
        package var taken: Int64
        /// Where the epoch begins and the one before ends; nil as long as its owner may not write.
        package var start: Place?
    }

    /// From where on states can be restored.
    package struct Floor: Sendable, Codable, Hashable {
        package var place: Place
        /// When it was set, by the setter's clock, in nanoseconds since 1970.
        package var set: Int64
        /// How long after that what lies before may be read, in seconds.
        package var grace: Int64
    }

    /// How far an epoch's log has come at least: what ends before has lost its last pieces.
    package struct Reached: Sendable, Codable, Hashable {
        package var epoch: UInt32
        package var segment: UInt32
        package var offset: Int

        package var position: LogPosition { LogPosition(segment: segment, offset: offset) }

        package init(_ epoch: UInt32, _ position: LogPosition) {
            self.epoch = epoch
            segment = position.segment
            offset = position.offset
        }
    }

    package static let currentFormat = 1

    package var format = currentFormat
    package var storeHigh: UInt64
    package var storeLow: UInt64
    /// Ascending by number; the newest last.
    package var epochs: [Epoch]
    package var floor: Floor?
    /// Written with the rest, and by a shipper about once a minute. Does not count for another epoch than the newest.
    package var reached: Reached?
    /// That the bucket has no conditional writes, and somebody has said that there is only one writer.
    package var onlyWriter = false
    /// Whether every object but fences is encrypted.
    package var isEncrypted = false

    package init(storeUUID: StoreUUID, epochs: [Epoch], onlyWriter: Bool, isEncrypted: Bool = false) {
        self.isEncrypted = isEncrypted
        storeHigh = storeUUID.high
        storeLow = storeUUID.low
        self.epochs = epochs
        self.onlyWriter = onlyWriter
    }

    package var storeUUID: StoreUUID { StoreUUID(high: storeHigh, low: storeLow) }

    /// The epochs that have begun.
    package var begun: [(epoch: Epoch, start: Place)] {
        epochs.compactMap { epoch in epoch.start.map { (epoch, $0) } }
    }

    /// - Throws: `.key` if the cipher has no key to write with.
    package func encoded(_ cipher: (any ObjectCipher)? = nil) throws(ShipError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let line = Array(try encoder.encode(self))
            let bytes = line + Array("\n\(ObjectDigest(of: line).hexadecimal)\n".utf8)
            return bytes + (try cipher.map { Array("\(try Self.seal(line, $0))\n".utf8) } ?? [])
        } catch let error as ObjectCipherError {
            throw ShipError(.key, "\(error): nothing can be encrypted", key: ShipKey.head)
        } catch {
            throw ShipError(.invalid, "the head cannot be written: \(error)", key: ShipKey.head)
        }
    }

    private static func context(_ line: [UInt8]) -> [UInt8] { Array("\(ShipKey.head)\n".utf8) + line }

    private static func seal(_ line: [UInt8], _ cipher: any ObjectCipher) throws(ObjectCipherError) -> String {
        let number = try cipher.keyNumber
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<FrameReader.saltBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let frames = try cipher.frames(key: number, salt: salt)
        let tag = try frames.seal([], number: 0, context: context(line))
        return "\(number) " + (salt + frames.keyCheck + tag).map { ShipKey.hex(UInt64($0), 2) }.joined()
    }

    /// Whether a third line vouches for the first.
    ///
    /// - Throws: `.damaged`, `.key`.
    private static func check(_ seal: [UInt8], _ line: [UInt8], _ cipher: any ObjectCipher) throws(ShipError) {
        let parts = String(decoding: seal, as: UTF8.self).split(separator: " ")
        let digits = parts.count == 2 ? Array(parts[1].utf8) : []
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
        guard parts.count == 2, let number = UInt32(parts[0]), digits.count % 2 == 0, bytes.count == digits.count / 2,
            bytes.count == FrameReader.saltBytes + FrameReader.checkBytes + FrameReader.tagBytes
        else { throw ShipError(.damaged, "the head is not what a shipper wrote", key: ShipKey.head) }
        let front = FrameReader.saltBytes + FrameReader.checkBytes
        let frames = try ObjectKeys.frames(
            cipher, number, salt: Array(bytes[..<FrameReader.saltBytes]),
            check: Array(bytes[FrameReader.saltBytes..<front]), key: ShipKey.head)
        guard frames.open(bytes[front...], number: 0, context: context(line)) == [] else {
            throw ShipError(.damaged, "the head is not what a shipper wrote with key \(number)", key: ShipKey.head)
        }
    }

    /// - Parameter cipher: that of the bucket; nil for one that is not encrypted.
    /// - Throws: `.damaged`; `.unsupportedFormat` for what a later version wrote; `.key` if the bucket is encrypted,
    ///   and no key or another one is given, or if it is not, and one is given.
    package init(_ bytes: [UInt8], _ cipher: (any ObjectCipher)? = nil) throws(ShipError) {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard 3...4 ~= lines.count, lines[lines.count - 1].isEmpty,
            ObjectDigest(of: Array(lines[0])).hexadecimal == String(decoding: lines[1], as: UTF8.self)
        else { throw ShipError(.damaged, "the head is not what a shipper wrote", key: ShipKey.head) }
        struct Version: Codable {
            var format: Int
        }
        let data = Data(lines[0])
        do {
            let version = try JSONDecoder().decode(Version.self, from: data).format
            guard version == Self.currentFormat else {
                throw ShipError(
                    .unsupportedFormat,
                    "the bucket has format \(version); this version of Strata reads format \(Self.currentFormat)",
                    key: ShipKey.head)
            }
            self = try JSONDecoder().decode(ShipHead.self, from: data)
        } catch let error as ShipError {
            throw error
        } catch {
            throw ShipError(.damaged, "the head cannot be read: \(error)", key: ShipKey.head)
        }
        guard isEncrypted == (lines.count == 4) else {
            throw ShipError(.damaged, "the head is not what a shipper wrote", key: ShipKey.head)
        }
        guard isEncrypted == (cipher != nil) else {
            throw ShipError(
                .key,
                isEncrypted
                    ? "what is in the bucket is encrypted, and no keys were given"
                    : "what is in the bucket is not encrypted, and keys were given: leave them out, or ship to another prefix",
                key: ShipKey.head)
        }
        if let cipher { try Self.check(Array(lines[2]), Array(lines[0]), cipher) }
        var last: UInt32 = 0
        for epoch in epochs {
            guard epoch.number > last else {
                throw ShipError(.damaged, "the head's epochs are out of order", key: ShipKey.head)
            }
            last = epoch.number
        }
        guard !epochs.isEmpty else { throw ShipError(.damaged, "the head names no epoch", key: ShipKey.head) }
    }
}

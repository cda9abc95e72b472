internal import Foundation
package import StrataLog
internal import StrataObjectStore

/// What the object `head` says: whose log this is, and which stretch of it each epoch has.
///
/// JSON in one line, then a line with the SHA-256 of the first.
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

    package static let currentFormat = 1

    package var format = currentFormat
    package var storeHigh: UInt64
    package var storeLow: UInt64
    /// Ascending by number; the newest last.
    package var epochs: [Epoch]
    package var floor: Floor?
    /// That the bucket has no conditional writes, and somebody has said that there is only one writer.
    package var onlyWriter = false

    package init(storeUUID: StoreUUID, epochs: [Epoch], onlyWriter: Bool) {
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

    package func encoded() throws(ShipError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let line = Array(try encoder.encode(self))
            return line + Array("\n\(ObjectDigest(of: line).hexadecimal)\n".utf8)
        } catch {
            throw ShipError(.invalid, "the head cannot be written: \(error)", key: ShipKey.head)
        }
    }

    /// - Throws: `.damaged`, or `.unsupportedFormat` for what a later version wrote.
    package init(_ bytes: [UInt8]) throws(ShipError) {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count == 3, lines[2].isEmpty,
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

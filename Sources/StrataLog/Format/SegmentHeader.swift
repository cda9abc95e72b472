/// The first 64 bytes of a segment file.
///
/// | offset | bytes | what |
/// |---|---|---|
/// | 0 | 8 | "STRASEG1" |
/// | 8 | 2 | format version: 1, or 2 if the preamble tells of a migration |
/// | 10 | 2 | flags, 0 |
/// | 12 | 4 | cipher id, 0 for none |
/// | 16 | 16 | store UUID, high word first |
/// | 32 | 4 | segment number |
/// | 36 | 4 | number of the segment before it, 0 for the first |
/// | 40 | 8 | valid bytes of the segment before it |
/// | 48 | 8 | sequence number of the last transaction before this segment |
/// | 56 | 4 | checksum of the last record before this segment |
/// | 60 | 4 | CRC-32C of the 60 bytes before |
struct SegmentHeader: Hashable {
    static let byteCount = 64
    static let magic: [UInt8] = Array("STRASEG1".utf8)
    static let plainVersion: UInt16 = 1
    /// The preamble has schemas that a reader of version 1 would read wrong rows by.
    static let migrationVersion: UInt16 = 2

    var version = plainVersion
    var storeUUID: StoreUUID
    var segment: UInt32
    var previousSegment: UInt32
    var previousValidByteCount: Int
    var previousSequence: UInt64
    var previousChecksum: UInt32

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: Self.byteCount)
        writer.append(bytes: Self.magic)
        writer.append(version)
        writer.append(UInt16(0))
        writer.append(UInt32(0))
        writer.append(storeUUID.high)
        writer.append(storeUUID.low)
        writer.append(segment)
        writer.append(previousSegment)
        writer.append(UInt64(previousValidByteCount))
        writer.append(previousSequence)
        writer.append(previousChecksum)
        writer.append(writer.bytes.withUnsafeBytes { checksum($0) })
        return writer.bytes
    }

    /// - Throws: `.corruption` for wrong bytes, `.unsupportedFormat` for a newer version or an unknown cipher.
    init(_ bytes: UnsafeRawBufferPointer, segment expected: UInt32) throws(StoreError) {
        func corrupt(_ reason: String) -> StoreError {
            StoreError(.corruption, "segment header: \(reason)", segment: expected, offset: 0)
        }
        guard bytes.prefix(8).elementsEqual(Self.magic) else {
            throw corrupt("not a Strata segment")
        }
        do {
            var reader = ByteReader(bytes, at: 8)
            version = try reader.read(UInt16.self)
            _ = try reader.read(UInt16.self)
            let cipher = try reader.read(UInt32.self)
            storeUUID = StoreUUID(high: try reader.read(), low: try reader.read())
            segment = try reader.read()
            previousSegment = try reader.read()
            let validByteCount = try reader.read(UInt64.self)
            previousSequence = try reader.read()
            previousChecksum = try reader.read()
            let stored = try reader.read(UInt32.self)
            guard stored == checksum(UnsafeRawBufferPointer(rebasing: bytes[..<60])) else {
                throw corrupt("checksum mismatch")
            }
            guard version == Self.plainVersion || version == Self.migrationVersion, cipher == 0 else {
                throw StoreError(
                    .unsupportedFormat,
                    "segment of format \(version), cipher \(cipher); this version reads formats 1 and 2, cipher 0",
                    segment: expected)
            }
            guard segment == expected, validByteCount <= UInt64(Location.segmentMaximumBytes),
                previousSequence <= RecordHeader.maximumSequence
            else {
                throw corrupt("names segment \(segment), \(validByteCount) bytes and transaction \(previousSequence)")
            }
            previousValidByteCount = Int(validByteCount)
        } catch let error as StoreError {
            throw error
        } catch {
            throw corrupt("too short")
        }
    }

    init(
        version: UInt16 = plainVersion, storeUUID: StoreUUID, segment: UInt32, previousSegment: UInt32,
        previousValidByteCount: Int, previousSequence: UInt64, previousChecksum: UInt32
    ) {
        self.version = version
        self.storeUUID = storeUUID
        self.segment = segment
        self.previousSegment = previousSegment
        self.previousValidByteCount = previousValidByteCount
        self.previousSequence = previousSequence
        self.previousChecksum = previousChecksum
    }
}

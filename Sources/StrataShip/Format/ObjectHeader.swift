internal import CStrataSupport
package import StrataLog
internal import StrataObjectStore

/// The first 128 bytes of every object but the head.
///
/// | offset | type | what |
/// |---:|---|---|
/// | 0 | 8 bytes | `STRASHP1` |
/// | 8 | u16 | version, 1 |
/// | 10 | u16 | kind: 1 piece, 2 whole segment, 3 checkpoint, 4 fence |
/// | 12 | u16 | flags: 1 the segment is sealed, nothing of it follows; 2 its rest was compacted away unshipped |
/// | 14 | u16 | 0 |
/// | 16 | 2 x u64 | store UUID |
/// | 32 | u32 | epoch; of a fence, the new one |
/// | 36 | u32 | segment; of a checkpoint, that of its end |
/// | 40 | u64 | offset; of a checkpoint, that of its end |
/// | 48 | u64 | bytes behind the header |
/// | 56 | u64 | last transaction before |
/// | 64 | u64 | last transaction in it |
/// | 72 | i64 | latest time of any record before |
/// | 80 | i64 | latest time of any record up to its end |
/// | 88 | u32 | checksum of the last record up to its end |
/// | 92 | u32 | sealed: the next segment |
/// | 96 | u32 | sealed: valid bytes of the segment |
/// | 100 | u32 | number of the key, 0: not encrypted |
/// | 104 | 20 bytes | first bytes of the SHA-256 of the bytes behind the header |
/// | 124 | u32 | CRC-32C of the 124 bytes before |
package struct ObjectHeader: Sendable, Hashable {
    package enum Kind: UInt16, Sendable {
        case piece = 1
        case whole = 2
        case checkpoint = 3
        case fence = 4
    }

    package static let byteCount = 128
    private static let magic = Array("STRASHP1".utf8)
    private static let digestByteCount = 20

    package var kind: Kind
    package var storeUUID: StoreUUID
    package var epoch: UInt32
    package var position: LogPosition
    package var payloadByteCount: Int
    package var previousSequence: UInt64
    package var sequence: UInt64
    package var previousTime: Int64
    package var time: Int64
    package var checksum: UInt32
    /// The segment after this one, if nothing follows in this one.
    package var nextSegment: UInt32?
    /// So many bytes of a sealed segment count.
    package var validByteCount: Int
    /// Whether the rest of the segment was compacted away before it could be shipped.
    package var isGap = false
    private var digest: [UInt8] = []

    package init(
        kind: Kind, storeUUID: StoreUUID, epoch: UInt32, position: LogPosition, previousSequence: UInt64,
        sequence: UInt64, previousTime: Int64, time: Int64, checksum: UInt32, nextSegment: UInt32? = nil,
        validByteCount: Int = 0
    ) {
        self.kind = kind
        self.storeUUID = storeUUID
        self.epoch = epoch
        self.position = position
        payloadByteCount = 0
        self.previousSequence = previousSequence
        self.sequence = sequence
        self.previousTime = previousTime
        self.time = time
        self.checksum = checksum
        self.nextSegment = nextSegment
        self.validByteCount = validByteCount
    }

    /// An object: this header and a payload.
    package func object(_ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount + payload.count)
        func append<Value: FixedWidthInteger>(_ value: Value) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        bytes += Self.magic
        append(UInt16(1))
        append(kind.rawValue)
        append(UInt16((nextSegment == nil ? 0 : 1) | (isGap ? 2 : 0)))
        append(UInt16(0))
        append(storeUUID.high)
        append(storeUUID.low)
        append(epoch)
        append(position.segment)
        append(UInt64(position.offset))
        append(UInt64(payload.count))
        append(previousSequence)
        append(sequence)
        append(previousTime)
        append(time)
        append(checksum)
        append(nextSegment ?? 0)
        append(UInt32(validByteCount))
        append(UInt32(0))
        bytes += ObjectDigest(of: payload).bytes.prefix(Self.digestByteCount)
        append(bytes.withUnsafeBytes { strata_crc32c(0, $0.baseAddress, $0.count) })
        bytes += payload
        return bytes
    }

    /// The header at the beginning of an object.
    ///
    /// - Throws: `.damaged`, or `.unsupportedFormat` for what a later version wrote.
    package init(_ bytes: [UInt8], key: String) throws(ShipError) {
        guard bytes.count >= Self.byteCount else {
            throw ShipError(.damaged, "an object of \(bytes.count) bytes is too short for its header", key: key)
        }
        func read<Value: FixedWidthInteger>(_ offset: Int) -> Value {
            bytes.withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self)) }
        }
        guard bytes.starts(with: Self.magic) else {
            throw ShipError(.damaged, "an object is none that a shipper wrote", key: key)
        }
        let (version, keyNumber) = (read(8) as UInt16, read(100) as UInt32)
        let sum = bytes.withUnsafeBytes { strata_crc32c(0, $0.baseAddress, 124) }
        guard sum == read(124) else { throw ShipError(.damaged, "an object's header has a wrong checksum", key: key) }
        guard version == 1, keyNumber == 0, let kind = Kind(rawValue: read(10)) else {
            throw ShipError(
                .unsupportedFormat,
                keyNumber == 0
                    ? "an object has version \(version) and kind \(read(10) as UInt16), which a later version of Strata wrote"
                    : "an object is encrypted, which this version cannot read", key: key)
        }
        self.kind = kind
        storeUUID = StoreUUID(high: read(16), low: read(24))
        epoch = read(32)
        let (offset, count) = (read(40) as UInt64, read(48) as UInt64)
        guard offset <= 1 << 32, count <= 1 << 40 else {
            throw ShipError(.damaged, "an object's header says impossible things", key: key)
        }
        position = LogPosition(segment: read(36), offset: Int(offset))
        payloadByteCount = Int(count)
        previousSequence = read(56)
        sequence = read(64)
        previousTime = read(72)
        time = read(80)
        checksum = read(88)
        nextSegment = (read(12) as UInt16) & 1 == 0 ? nil : read(92)
        validByteCount = Int(read(96) as UInt32)
        isGap = (read(12) as UInt16) & 2 != 0
        digest = Array(bytes[104..<124])
    }

    /// What lies behind the header of a whole object, checked to its last byte.
    ///
    /// - Throws: `.damaged`.
    package func payload(of object: [UInt8], key: String) throws(ShipError) -> [UInt8] {
        guard object.count == Self.byteCount + payloadByteCount else {
            throw ShipError(
                .damaged,
                "an object has \(object.count) bytes and should have \(Self.byteCount + payloadByteCount)", key: key)
        }
        let payload = Array(object[Self.byteCount...])
        guard ObjectDigest(of: payload).bytes.starts(with: digest), digest.count == Self.digestByteCount else {
            throw ShipError(.damaged, "an object's bytes are not those that were shipped", key: key)
        }
        return payload
    }

    /// Where the object's log ends.
    package var end: LogPosition { LogPosition(segment: position.segment, offset: position.offset + payloadByteCount) }

    /// The name of the piece that follows, in the same epoch.
    package var next: LogPosition {
        nextSegment.map { LogPosition(segment: $0, offset: 0) } ?? end
    }
}

/// The first 64 bytes of a record, at a multiple of 64 in its segment.
///
/// | offset | bytes | what |
/// |---|---|---|
/// | 0 | 4 | "STRC" |
/// | 4 | 1 | kind |
/// | 5 | 3 | flags, 0 |
/// | 8 | 8 | sequence number: a transaction's own, else that of the last transaction before |
/// | 16 | 8 | time, nanoseconds since 1970 |
/// | 24 | 4 | length of the record, a multiple of 64 |
/// | 28 | 4 | length of the body, which follows the header |
/// | 32 | 4 | cipher id, 0 for none |
/// | 36 | 4 | checksum of the record before (0 for the store's first) |
/// | 40 | 4 | segment up to which the log was known durable when this was written |
/// | 44 | 4 | reserved, 0 |
/// | 48 | 8 | offset in that segment up to which it was known durable |
/// | 56 | 4 | CRC-32C of the body |
/// | 60 | 4 | CRC-32C of the 60 bytes before, then of the place |
///
/// The body is followed, at the next multiple of 64, by blocks and large values in the order its tables give; the
/// last 16 bytes of the record are its footer.
struct RecordHeader: Hashable {
    enum Kind: UInt8 {
        case transaction = 1
        /// First in each segment: what a reader needs to know of the segments before.
        case preamble = 2
        case schema = 3
        case metadata = 4
        /// Live rows, absent keys and change tables, said again by compaction; see ``CompactionBody``.
        case compaction = 5
        /// Segments that the log does not need any more; see ``Retirement``.
        case retirement = 6
        /// A schema whose rows are made of those of earlier versions; a kind of its own so that programs that cannot do
        /// that refuse the store.
        case migration = 7
    }

    static let byteCount = 64
    static let magic: UInt32 = 0x4352_5453
    static let maximumByteCount = Location.segmentMaximumBytes - SegmentHeader.byteCount
    /// Higher numbers are refused when read, so that counting on never overflows. No store gets there: at a million
    /// commits a second this takes 146,000 years.
    static let maximumSequence: UInt64 = 1 << 62

    var kind: Kind
    var sequence: UInt64
    var timestampNanoseconds: Int64
    var byteCount: Int
    var bodyByteCount: Int
    var previousChecksum: UInt32
    var durable: LogPosition
    var bodyChecksum: UInt32

    /// Where the record's blocks begin, counted from its start: behind the body, at a multiple of 64.
    var blocksOffset: Int {
        BlockFormat.aligned(Self.byteCount + bodyByteCount, to: Location.alignmentBytes)
    }

    /// Writes the header of a record that lies at this place. The bytes are zeros before.
    ///
    /// - Returns: the header's checksum.
    func write(to bytes: UnsafeMutableRawPointer, at address: LogAddress) -> UInt32 {
        func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
            bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
        }
        store(Self.magic, at: 0)
        store(kind.rawValue, at: 4)
        store(sequence, at: 8)
        store(timestampNanoseconds, at: 16)
        store(UInt32(byteCount), at: 24)
        store(UInt32(bodyByteCount), at: 28)
        store(previousChecksum, at: 36)
        store(durable.segment, at: 40)
        store(UInt64(durable.offset), at: 48)
        store(bodyChecksum, at: 56)
        let crc = address.checksum(continuing: checksum(UnsafeRawPointer(bytes), count: 60))
        store(crc, at: 60)
        return crc
    }

    init(
        kind: Kind, sequence: UInt64, timestampNanoseconds: Int64, byteCount: Int, bodyByteCount: Int,
        previousChecksum: UInt32, durable: LogPosition, bodyChecksum: UInt32
    ) {
        self.kind = kind
        self.sequence = sequence
        self.timestampNanoseconds = timestampNanoseconds
        self.byteCount = byteCount
        self.bodyByteCount = bodyByteCount
        self.previousChecksum = previousChecksum
        self.durable = durable
        self.bodyChecksum = bodyChecksum
    }

    /// Whether the first 8 bytes are those of a record other than a preamble, with no regard to checksums.
    static func looksLikeContents(_ bytes: UnsafeRawBufferPointer) -> Bool {
        UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == magic && bytes[4] != Kind.preamble.rawValue
    }

    /// The header of a record that was written at this place; nil when these are not the bytes of one.
    ///
    /// - Throws: `.unsupportedFormat` for a sound record of a kind or with a cipher that this version does not know:
    ///   nothing may be cut off there.
    static func parse(
        _ bytes: UnsafeRawBufferPointer, storeUUID: StoreUUID, segment: UInt32, offset: Int
    ) throws(StoreError) -> RecordHeader? {
        guard bytes.count >= byteCount, UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == magic else {
            return nil
        }
        func word<Value: FixedWidthInteger>(_ offset: Int, _ type: Value.Type) -> Value {
            Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
        let sequence = word(8, UInt64.self)
        let recordByteCount = Int(word(24, UInt32.self))
        let bodyByteCount = Int(word(28, UInt32.self))
        let durableOffset = word(48, UInt64.self)
        let address = LogAddress(storeUUID: storeUUID, segment: segment, offset: offset, sequence: sequence)
        let crc = checksum(UnsafeRawBufferPointer(rebasing: bytes[..<60]))
        guard word(60, UInt32.self) == address.checksum(continuing: crc),
            recordByteCount % Location.alignmentBytes == 0, recordByteCount <= maximumByteCount,
            bodyByteCount <= recordByteCount - byteCount - RecordFooter.byteCount,
            durableOffset <= UInt64(Location.segmentMaximumBytes), sequence <= maximumSequence
        else { return nil }
        let cipher = word(32, UInt32.self)
        guard cipher == 0, let kind = Kind(rawValue: bytes[4]) else {
            throw StoreError(
                .unsupportedFormat, "a record of kind \(bytes[4]) with cipher \(cipher), which a later version wrote",
                segment: segment, offset: offset)
        }
        return RecordHeader(
            kind: kind, sequence: sequence, timestampNanoseconds: word(16, Int64.self), byteCount: recordByteCount,
            bodyByteCount: bodyByteCount, previousChecksum: word(36, UInt32.self),
            durable: LogPosition(segment: word(40, UInt32.self), offset: Int(durableOffset)),
            bodyChecksum: word(56, UInt32.self))
    }
}

/// The last 16 bytes of a record: the sign that it was written to its end.
///
/// "STRE", the record's length, the CRC-32C of the header's checksum and of the checksums of each block and large
/// value in order, and four zero bytes. The next record's header repeats that CRC, which chains the records.
enum RecordFooter {
    static let byteCount = 16
    static let magic: UInt32 = 0x4552_5453

    /// The footer's two words.
    private static func words(_ recordByteCount: Int, _ checksum: UInt32) -> (UInt64, UInt64) {
        (UInt64(magic) | UInt64(UInt32(recordByteCount)) << 32, UInt64(checksum))
    }

    /// Writes the footer of a record.
    static func write(to bytes: UnsafeMutableRawPointer, recordByteCount: Int, checksum: UInt32) {
        let (first, second) = words(recordByteCount, checksum)
        bytes.storeBytes(of: first.littleEndian, as: UInt64.self)
        bytes.storeBytes(of: second.littleEndian, toByteOffset: 8, as: UInt64.self)
    }

    /// The footer's checksum: CRC-32C over the pieces' checksums, little-endian, in order.
    static func checksum(ofPieces checksums: [UInt32]) -> UInt32 {
        checksums.reduce(0) { checksum(ofPiece: $1, continuing: $0) }
    }

    /// As ``checksum(ofPieces:)``, piece by piece.
    static func checksum(ofPiece piece: UInt32, continuing crc: UInt32) -> UInt32 {
        withUnsafeBytes(of: piece.littleEndian) { StrataLog.checksum($0, continuing: crc) }
    }

    /// Whether the bytes, of which there are ``byteCount``, are the footer of a record of that length with that
    /// checksum.
    static func matches(_ bytes: UnsafeRawBufferPointer, recordByteCount: Int, checksum: UInt32) -> Bool {
        let (first, second) = words(recordByteCount, checksum)
        return bytes.loadUnaligned(as: UInt64.self) == first.littleEndian
            && bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == second.littleEndian
    }
}

/// A place in the log: everything before it, in this and all earlier segments.
public struct LogPosition: Hashable, Comparable, Sendable {
    /// The number of the segment.
    public var segment: UInt32
    /// In the segment, in bytes.
    public var offset: Int

    /// A place; nothing is checked.
    public init(segment: UInt32, offset: Int) {
        self.segment = segment
        self.offset = offset
    }

    init(_ location: Location) {
        self.init(segment: location.segment, offset: location.byteOffset)
    }

    /// In the order in which the log is written.
    public static func < (a: LogPosition, b: LogPosition) -> Bool {
        (a.segment, a.offset) < (b.segment, b.offset)
    }
}

#if !_endian(little)
#error("blocks are read in place and are little-endian")
#endif

/// The numbers of the block format, shared by encoder and decoder. docs/format-blocks.md describes them.
@usableFromInline
enum BlockFormat {
    /// "BLK1".
    static let magic: UInt32 = 0x314B_4C42
    static let headerBytes = 64
    static let descriptorBytes = 40
    /// A block is cut when its rows hold this much.
    static let cutBytes = 32 << 10
    static let cutRows = 4_096
    static let rowsMaximum = Int(UInt16.max)
    /// Longer values are stored out of line.
    @usableFromInline static var inlineMaximumBytes: Int { 64 << 10 }
    /// No block decodes to more than this.
    static let decodedMaximumBytes = 8 << 20
    /// Values go out of line once a row buffer holds this much; the rest of the limit is for offsets and bitmaps.
    @usableFromInline static var inlineBudgetBytes: Int { 6 << 20 }
    /// Blocks of fewer rows have no descriptors unless there is much to compress.
    static let plainRows = 16
    static let plainHeapBytes = 4_096
    /// Shorter chunks are not worth an LZ4 trial.
    static let compressionMinimumBytes = 256

    enum Header {
        static let magic = 0
        static let flags = 4
        static let slotCount = 6
        static let totalLength = 8
        static let decodedLength = 12
        static let entity = 16
        static let schemaVersion = 18
        static let rowCount = 20
        static let reserved16 = 22
        static let sequence = 24
        static let cipherNonce = 32
        static let firstKey = 40
        static let payloadChecksum = 48
        static let payloadLength = 52
        static let reserved32 = 56
        static let checksum = 60
    }

    /// Offsets in a column's descriptor.
    enum Descriptor {
        static let encoding = 0
        static let flags = 1
        static let bits = 2
        static let kind = 3
        static let offset = 4
        static let storedLength = 8
        static let rawLength = 12
        static let checksum = 16
        static let nullCount = 20
        static let reserved = 22
        static let base = 24
        static let maximum = 32
    }

    struct BlockFlags: OptionSet {
        var rawValue: UInt16
        /// No descriptors; the payload is columns of plain values.
        static let plain = BlockFlags(rawValue: 1)
        /// Keys are stored; otherwise they count up from the header's first key.
        static let keys = BlockFlags(rawValue: 2)
        /// Row sequences are stored; otherwise each is the header's.
        static let sequences = BlockFlags(rawValue: 4)
        /// The plain payload has null bitmaps.
        static let nulls = BlockFlags(rawValue: 8)
        /// The plain payload has external bitmaps.
        static let externals = BlockFlags(rawValue: 16)
        static let known: BlockFlags = [.plain, .keys, .sequences, .nulls, .externals]
    }

    struct ColumnFlags: OptionSet {
        var rawValue: UInt8
        static let hasNulls = ColumnFlags(rawValue: 1)
        static let allNull = ColumnFlags(rawValue: 2)
        static let compressed = ColumnFlags(rawValue: 4)
        static let externals = ColumnFlags(rawValue: 8)
        static let zone = ColumnFlags(rawValue: 16)
        static let known: ColumnFlags = [.hasNulls, .allNull, .compressed, .externals, .zone]
    }

    enum Encoding: UInt8 {
        /// Values of the kind's width, or LZ4 of them.
        case raw = 0
        /// Integers: base + packed unsigned value.
        case packed = 1
        /// Integers: base + row.
        case consecutive = 2
        /// Doubles and floats that are all integers: Int64 base + packed unsigned value, converted.
        case integral = 3
        /// One bit pattern (in `base`) for all rows.
        case constant = 4
        /// Packed lengths, then the bytes (or LZ4 of them).
        case variable = 5
    }

    /// Bytes of a bitmap in a chunk: whole words.
    @inline(__always)
    static func bitmapBytes(_ rows: Int) -> Int { (rows + 63) / 64 * 8 }
    /// Bytes of a bitmap in a plain payload.
    @inline(__always)
    static func plainBitmapBytes(_ rows: Int) -> Int { (rows + 7) / 8 }
    @inline(__always)
    static func aligned(_ offset: Int, to alignment: Int) -> Int { (offset + alignment - 1) & ~(alignment - 1) }
}

/// What a block says about one of its columns, decoded.
struct ColumnDescriptor {
    var encoding: BlockFormat.Encoding
    var flags: BlockFormat.ColumnFlags = []
    var bits = 0
    var kind: ValueKind
    /// From the block's start.
    var offset = 0
    var storedLength = 0
    /// Of the values (fixed width) or the heap (variable) once decoded.
    var rawLength = 0
    var checksum: UInt32 = 0
    var nullCount = 0
    /// Frame of reference, constant or first value; for fixed-width kinds with a zone also the minimum.
    var base: UInt64 = 0
    var maximum: UInt64 = 0

    init(encoding: BlockFormat.Encoding, kind: ValueKind) {
        self.encoding = encoding
        self.kind = kind
    }

    /// Nil when encoding, flags or kind are not known, or reserved bytes are used.
    init?(reading bytes: UnsafeRawPointer) {
        typealias Field = BlockFormat.Descriptor
        guard
            let encoding = BlockFormat.Encoding(
                rawValue: bytes.load(fromByteOffset: Field.encoding, as: UInt8.self)),
            let kind = ValueKind(rawValue: bytes.load(fromByteOffset: Field.kind, as: UInt8.self))
        else { return nil }
        self.encoding = encoding
        self.kind = kind
        flags = BlockFormat.ColumnFlags(rawValue: bytes.load(fromByteOffset: Field.flags, as: UInt8.self))
        guard flags.isSubset(of: .known) else { return nil }
        bits = Int(bytes.load(fromByteOffset: Field.bits, as: UInt8.self))
        offset = Int(bytes.load(fromByteOffset: Field.offset, as: UInt32.self))
        storedLength = Int(bytes.load(fromByteOffset: Field.storedLength, as: UInt32.self))
        rawLength = Int(bytes.load(fromByteOffset: Field.rawLength, as: UInt32.self))
        checksum = bytes.load(fromByteOffset: Field.checksum, as: UInt32.self)
        nullCount = Int(bytes.load(fromByteOffset: Field.nullCount, as: UInt16.self))
        guard bytes.load(fromByteOffset: Field.reserved, as: UInt16.self) == 0 else { return nil }
        base = bytes.load(fromByteOffset: Field.base, as: UInt64.self)
        maximum = bytes.load(fromByteOffset: Field.maximum, as: UInt64.self)
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        typealias Field = BlockFormat.Descriptor
        bytes.storeBytes(of: encoding.rawValue, toByteOffset: Field.encoding, as: UInt8.self)
        bytes.storeBytes(of: flags.rawValue, toByteOffset: Field.flags, as: UInt8.self)
        bytes.storeBytes(of: UInt8(bits), toByteOffset: Field.bits, as: UInt8.self)
        bytes.storeBytes(of: kind.rawValue, toByteOffset: Field.kind, as: UInt8.self)
        bytes.storeBytes(of: UInt32(offset), toByteOffset: Field.offset, as: UInt32.self)
        bytes.storeBytes(of: UInt32(storedLength), toByteOffset: Field.storedLength, as: UInt32.self)
        bytes.storeBytes(of: UInt32(rawLength), toByteOffset: Field.rawLength, as: UInt32.self)
        bytes.storeBytes(of: checksum, toByteOffset: Field.checksum, as: UInt32.self)
        bytes.storeBytes(of: UInt16(nullCount), toByteOffset: Field.nullCount, as: UInt16.self)
        bytes.storeBytes(of: 0, toByteOffset: Field.reserved, as: UInt16.self)
        bytes.storeBytes(of: base, toByteOffset: Field.base, as: UInt64.self)
        bytes.storeBytes(of: maximum, toByteOffset: Field.maximum, as: UInt64.self)
    }
}

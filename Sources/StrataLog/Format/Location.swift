/// Where a row lies: segment (24 bits), block offset in units of 64 bytes (24 bits), row in the block (16 bits).
///
/// The raw value 0 means "absent": segments count from 1.
public struct Location: Hashable, Sendable {
    /// All three parts in one word, the segment in the highest bits: ordered by it, locations are in the log's order.
    public var rawValue: UInt64

    /// No place.
    public static let absent = Location(rawValue: 0)
    /// Blocks and records begin at multiples of this many bytes.
    public static let alignmentBytes = 64
    /// The greatest segment number there can be.
    public static let maximumSegment: UInt32 = (1 << 24) - 1
    /// A segment file may not be longer than this: 1 GiB.
    public static let segmentMaximumBytes = (1 << 24) * alignmentBytes

    /// The location with a ``rawValue``; nothing is checked.
    @inlinable
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// A row of a block.
    ///
    /// - Precondition: `byteOffset` is a multiple of ``alignmentBytes`` below ``segmentMaximumBytes``; the segment is
    ///   at most ``maximumSegment``, the row at most 65,535.
    @inlinable
    public init(segment: UInt32, byteOffset: Int, row: Int) {
        precondition(segment <= Self.maximumSegment && row <= 0xFFFF)
        precondition(byteOffset % Self.alignmentBytes == 0 && byteOffset < Self.segmentMaximumBytes)
        rawValue = UInt64(segment) << 40 | UInt64(byteOffset / Self.alignmentBytes) << 16 | UInt64(row)
    }

    /// The number of the segment; 0 if absent.
    @inlinable
    public var segment: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 40) }

    /// Where the block begins in the segment, in bytes.
    @inlinable
    public var byteOffset: Int { Int(truncatingIfNeeded: (rawValue >> 16) & 0xFF_FFFF) * Self.alignmentBytes }

    /// The row in the block.
    @inlinable
    public var row: Int { Int(truncatingIfNeeded: rawValue & 0xFFFF) }

    /// The location of row 0 of the same block: names the block.
    @inlinable
    public var block: Location { Location(rawValue: rawValue & ~0xFFFF) }

    /// Whether this is no place.
    @inlinable
    public var isAbsent: Bool { rawValue == 0 }
}

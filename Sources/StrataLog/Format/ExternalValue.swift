/// Where a value that is stored out of line lies: 32 bytes in the row's block.
public struct ExternalValue: Hashable, Sendable {
    /// Its length in a block.
    public static let encodedBytes = 32

    /// 0 while the value's place is not known: ``byteOffset`` is then its number in the transaction.
    public var segment: UInt32
    /// In the segment.
    public var byteOffset: UInt32
    /// Of the value.
    public var byteCount: UInt64
    /// Of what is stored; differs from ``byteCount`` when it is compressed.
    public var storedByteCount: UInt64
    /// CRC-32C of what is stored.
    public var checksum: UInt32
    /// For whoever stores the values, 0 by default.
    public var flags: UInt32

    /// A value with these members; nothing is checked.
    public init(
        segment: UInt32, byteOffset: UInt32, byteCount: UInt64, storedByteCount: UInt64, checksum: UInt32,
        flags: UInt32 = 0
    ) {
        self.segment = segment
        self.byteOffset = byteOffset
        self.byteCount = byteCount
        self.storedByteCount = storedByteCount
        self.checksum = checksum
        self.flags = flags
    }

    /// A value of the transaction being built, whose place `EncodedBlock.patchExternals(_:)` fills in.
    public static func pending(number: UInt32, byteCount: UInt64) -> ExternalValue {
        ExternalValue(segment: 0, byteOffset: number, byteCount: byteCount, storedByteCount: 0, checksum: 0)
    }

    /// The number of a value whose place is not known yet.
    public var pendingNumber: UInt32? { segment == 0 ? byteOffset : nil }

    /// - Precondition: 32 bytes lie at `bytes`; no alignment is needed.
    init(reading bytes: UnsafeRawPointer) {
        segment = bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)
        byteOffset = bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
        byteCount = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        storedByteCount = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        checksum = bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self)
        flags = bytes.loadUnaligned(fromByteOffset: 28, as: UInt32.self)
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: segment, toByteOffset: 0, as: UInt32.self)
        bytes.storeBytes(of: byteOffset, toByteOffset: 4, as: UInt32.self)
        bytes.storeBytes(of: byteCount, toByteOffset: 8, as: UInt64.self)
        bytes.storeBytes(of: storedByteCount, toByteOffset: 16, as: UInt64.self)
        bytes.storeBytes(of: checksum, toByteOffset: 24, as: UInt32.self)
        bytes.storeBytes(of: flags, toByteOffset: 28, as: UInt32.self)
    }
}

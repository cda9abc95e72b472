internal import CStrataSupport
package import StrataLog
package import StrataObjectStore

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
/// | 48 | u64 | bytes of the payload, which lies behind the header as ``FrameReader`` says |
/// | 56 | u64 | last transaction before |
/// | 64 | u64 | last transaction in it |
/// | 72 | i64 | latest time of any record before |
/// | 80 | i64 | latest time of any record up to its end |
/// | 88 | u32 | checksum of the last record up to its end |
/// | 92 | u32 | sealed: the next segment |
/// | 96 | u32 | sealed: valid bytes of the segment |
/// | 100 | u32 | number of the key, 0: not encrypted |
/// | 104 | 20 bytes | first bytes of the SHA-256 of all frames' tags |
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
    /// Of the key that the payload is encrypted with; 0 if it is not.
    package private(set) var keyNumber: UInt32 = 0
    private var digest: [UInt8] = []
    /// The bytes that an encrypted payload is bound to, along with the object's name.
    private var bound: [UInt8] = []

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

    /// An object: this header and a payload, encrypted if there is a cipher. A fence is not.
    ///
    /// - Throws: `.key` if the cipher has no key to write with.
    package func object(
        _ payload: [UInt8], key: String, cipher: (any ObjectCipher)? = nil
    ) throws(ShipError) -> [UInt8] {
        var header = self
        header.payloadByteCount = payload.count
        do throws(ObjectCipherError) {
            var front: [UInt8] = []
            var frames: (any FrameCipher)?
            if kind != .fence, let cipher {
                header.keyNumber = try cipher.keyNumber
                front = Self.salt()
                let found = try cipher.frames(key: header.keyNumber, salt: front)
                front += found.keyCheck
                frames = found
            }
            var bytes = header.encoded
            let writer = FrameReader(
                byteCount: payload.count, cipher: frames, context: bytes + Array(key.utf8))
            let stored = try writer.sealed(payload)
            bytes.reserveCapacity(Self.byteCount + front.count + stored.frames.count)
            bytes += ObjectDigest(of: stored.tags).bytes.prefix(Self.digestByteCount)
            let sum = bytes.withUnsafeBytes { strata_crc32c(0, $0.baseAddress, $0.count) }
            withUnsafeBytes(of: sum.littleEndian) { bytes.append(contentsOf: $0) }
            return bytes + front + stored.frames
        } catch {
            throw ShipError(.key, "\(error): nothing can be encrypted", key: key)
        }
    }

    private static func salt() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<FrameReader.saltBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// All but the digest and the checksum.
    private var encoded: [UInt8] {
        var bytes: [UInt8] = []
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
        append(UInt64(payloadByteCount))
        append(previousSequence)
        append(sequence)
        append(previousTime)
        append(time)
        append(checksum)
        append(nextSegment ?? 0)
        append(UInt32(validByteCount))
        append(keyNumber)
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
        let version = read(8) as UInt16
        let sum = bytes.withUnsafeBytes { strata_crc32c(0, $0.baseAddress, 124) }
        guard sum == read(124) else { throw ShipError(.damaged, "an object's header has a wrong checksum", key: key) }
        guard version == 1, let kind = Kind(rawValue: read(10)) else {
            throw ShipError(
                .unsupportedFormat,
                "an object has version \(version) and kind \(read(10) as UInt16), which a later version of Strata wrote",
                key: key)
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
        keyNumber = read(100)
        digest = Array(bytes[104..<124])
        bound = Array(bytes[..<104])
    }

    /// The payload of a whole object, checked to its last byte.
    ///
    /// - Throws: `.damaged`; `.key` where the key to an encrypted one is missing, or another one.
    package func payload(
        of object: [UInt8], key: String, cipher: (any ObjectCipher)? = nil
    ) throws(ShipError) -> [UInt8] {
        let size =
            kind == .fence ? Self.byteCount : FrameReader.objectByteCount(payloadByteCount, isEncrypted: keyNumber != 0)
        guard object.count == size else {
            throw ShipError(.damaged, "an object has \(object.count) bytes and should have \(size)", key: key)
        }
        if kind == .fence { return [] }
        let reader = try frameReader(object, key: key, cipher: cipher)
        let stored = object[FrameReader.start(isEncrypted: keyNumber != 0)...]
        guard ObjectDigest(of: reader.tags(of: stored)).bytes.starts(with: digest),
            digest.count == Self.digestByteCount
        else {
            throw ShipError(.damaged, "an object's bytes are not those that were shipped", key: key)
        }
        return try reader.frames(stored, from: 0, key: key)
    }

    /// What reads the payload of an object.
    ///
    /// - Parameter object: at least the header, and what lies before the first frame.
    func frameReader(
        _ object: [UInt8], key: String, cipher: (any ObjectCipher)?
    ) throws(ShipError) -> FrameReader {
        guard keyNumber != 0 else {
            guard cipher == nil || kind == .fence else {
                throw ShipError(
                    .damaged,
                    "an object is not encrypted, although the others of its bucket are: somebody has put it there",
                    key: key)
            }
            return FrameReader(byteCount: payloadByteCount, cipher: nil, context: [])
        }
        guard let cipher else {
            throw ShipError(.key, "an object is encrypted with key \(keyNumber), and no keys were given", key: key)
        }
        let start = FrameReader.start(isEncrypted: true)
        guard object.count >= start else {
            throw ShipError(.damaged, "an object is shorter than it should be", key: key)
        }
        let front = Array(object[Self.byteCount..<start])
        let frames = try ObjectKeys.frames(
            cipher, keyNumber, salt: Array(front.prefix(FrameReader.saltBytes)),
            check: Array(front.suffix(FrameReader.checkBytes)), key: key)
        return FrameReader(byteCount: payloadByteCount, cipher: frames, context: bound + Array(key.utf8))
    }

    /// Where the object's log ends.
    package var end: LogPosition { LogPosition(segment: position.segment, offset: position.offset + payloadByteCount) }

    /// The name of the piece that follows, in the same epoch.
    package var next: LogPosition {
        nextSegment.map { LogPosition(segment: $0, offset: 0) } ?? end
    }
}

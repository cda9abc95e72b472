internal import StrataObjectStore

/// How an object's payload lies behind its header: in frames of 64 KiB, the last one shorter, each with a tag of 16
/// bytes behind it, so that a part of an object can be read and checked without the rest.
///
/// The tag is the beginning of the frame's SHA-256. In an encrypted object, in front of the frames are 24 bytes of salt
/// and 8 that tell the key; the frames are encrypted, and the tags the cipher's. There, an empty payload has one frame,
/// whose tag vouches for the header.
struct FrameReader: Sendable {
    static let frameBytes = 64 << 10
    static let tagBytes = 16
    static let saltBytes = 24
    static let checkBytes = 8
    private static let storedFrameBytes = frameBytes + tagBytes

    /// Of the whole payload.
    private let byteCount: Int
    private let cipher: (any FrameCipher)?
    /// What the frames are bound to: header and name.
    private let context: [UInt8]

    init(byteCount: Int, cipher: (any FrameCipher)?, context: [UInt8]) {
        self.byteCount = byteCount
        self.cipher = cipher
        self.context = context
    }

    // MARK: Lengths

    /// Where in an object the first frame begins.
    static func start(isEncrypted: Bool) -> Int {
        ObjectHeader.byteCount + (isEncrypted ? saltBytes + checkBytes : 0)
    }

    private static func frameCount(_ byteCount: Int, isEncrypted: Bool) -> Int {
        max((byteCount + frameBytes - 1) / frameBytes, isEncrypted ? 1 : 0)
    }

    /// The size of an object with a payload of a length.
    static func objectByteCount(_ byteCount: Int, isEncrypted: Bool) -> Int {
        start(isEncrypted: isEncrypted) + byteCount + tagBytes * frameCount(byteCount, isEncrypted: isEncrypted)
    }

    /// The length of the payload of an object of a size; nil for a size that no object has. A fence is empty, encrypted
    /// or not.
    static func byteCount(ofObject size: Int, isEncrypted: Bool) -> Int? {
        if size == ObjectHeader.byteCount { return 0 }
        let stored = size - start(isEncrypted: isEncrypted)
        guard stored >= tagBytes else { return nil }
        let (frames, rest) = stored.quotientAndRemainder(dividingBy: storedFrameBytes)
        let byteCount = frames * frameBytes + max(0, rest - tagBytes)
        return objectByteCount(byteCount, isEncrypted: isEncrypted) == size ? byteCount : nil
    }

    /// The bytes of an object in which a part of its payload lies: whole frames.
    ///
    /// - Parameter range: not empty, within the payload.
    static func storedRange(of range: Range<Int>, byteCount: Int, isEncrypted: Bool) -> Range<Int> {
        let start = start(isEncrypted: isEncrypted)
        let (first, last) = (range.lowerBound / frameBytes, (range.upperBound - 1) / frameBytes)
        let end = min(
            start + (last + 1) * storedFrameBytes, objectByteCount(byteCount, isEncrypted: isEncrypted))
        return start + first * storedFrameBytes..<max(start + first * storedFrameBytes, end)
    }

    // MARK: Reading

    /// A part of the payload.
    ///
    /// - Parameter stored: What the object has at ``storedRange(of:byteCount:isEncrypted:)``.
    /// - Throws: `.damaged`.
    func payload(_ range: Range<Int>, from stored: ArraySlice<UInt8>, key: String) throws(ShipError) -> [UInt8] {
        let first = range.lowerBound / Self.frameBytes
        var bytes = try frames(stored, from: first, key: key)
        let lower = range.lowerBound - first * Self.frameBytes
        guard bytes.count >= lower + range.count else {
            throw ShipError(.damaged, "an object is shorter than it should be", key: key)
        }
        bytes.removeLast(bytes.count - lower - range.count)
        if lower > 0 { bytes.removeFirst(lower) }
        return bytes
    }

    /// The bytes of frames that lie one behind the other.
    ///
    /// - Parameter number: of the first.
    func frames(_ stored: ArraySlice<UInt8>, from number: Int, key: String) throws(ShipError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(stored.count)
        var (offset, number) = (stored.startIndex, number)
        while offset < stored.endIndex {
            let length = min(Self.frameBytes, byteCount - number * Self.frameBytes)
            guard length >= 0, stored.endIndex - offset >= length + Self.tagBytes else {
                throw ShipError(.damaged, "an object is shorter than it should be", key: key)
            }
            let sealed = stored[offset..<offset + length + Self.tagBytes]
            if let cipher {
                guard let opened = cipher.open(sealed, number: UInt64(number), context: context),
                    opened.count == length
                else {
                    throw ShipError(.damaged, "an object's bytes are not those that were encrypted", key: key)
                }
                bytes += opened
            } else {
                guard sealed.suffix(Self.tagBytes).elementsEqual(Self.tag(of: sealed.prefix(length))) else {
                    throw ShipError(.damaged, "an object's bytes are not those that were shipped", key: key)
                }
                bytes += sealed.prefix(length)
            }
            offset += length + Self.tagBytes
            number += 1
        }
        return bytes
    }

    // MARK: Writing

    /// The frames of a payload, and all their tags, one behind the other.
    func sealed(_ payload: [UInt8]) throws(ObjectCipherError) -> (frames: [UInt8], tags: [UInt8]) {
        let count = Self.frameCount(payload.count, isEncrypted: cipher != nil)
        var (frames, tags): ([UInt8], [UInt8]) = ([], [])
        frames.reserveCapacity(payload.count + count * Self.tagBytes)
        for number in 0..<count {
            let lower = number * Self.frameBytes
            let frame = payload[lower..<min(lower + Self.frameBytes, payload.count)]
            if let cipher {
                frames += try cipher.seal(frame, number: UInt64(number), context: context)
            } else {
                frames += frame
                frames += Self.tag(of: frame)
            }
            tags += frames.suffix(Self.tagBytes)
        }
        return (frames, tags)
    }

    /// All tags of the frames of an object, one behind the other.
    func tags(of stored: ArraySlice<UInt8>) -> [UInt8] {
        var tags: [UInt8] = []
        var offset = stored.startIndex
        while offset < stored.endIndex {
            let end = min(offset + Self.storedFrameBytes, stored.endIndex)
            tags += stored[max(offset, end - Self.tagBytes)..<end]
            offset = end
        }
        return tags
    }

    private static func tag(of frame: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        ObjectDigest(of: frame).bytes.prefix(tagBytes)
    }
}

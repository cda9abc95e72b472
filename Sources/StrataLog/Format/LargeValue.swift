internal import CLZ4

/// A value over 64 KiB (``BlockFormat/inlineMaximumBytes``), stored by itself inside its transaction's record.
///
/// 64 bytes of header ("SLRG", codec, raw length, stored length, the CRC-32C of the stored bytes, the CRC-32C of the
/// 32 header bytes before it and of the place), then the bytes, padded to a multiple of 64. Codec 0 is the bytes as
/// they are; codec 1 is LZ4 in chunks of 256 KiB, each with its stored length before it (4 bytes; equal to the raw
/// length: not compressed).
enum LargeValue {
    static let headerByteCount = 64
    static let magic: UInt32 = 0x4752_4C53
    static let chunkByteCount = 256 * 1024
    /// The longest value the format takes.
    static let maximumByteCount = 512 * 1024 * 1024

    /// Header (place not yet stamped) and stored bytes, padded.
    static func encode(_ value: UnsafeRawBufferPointer) -> [UInt8] {
        let compressed = compress(value)
        let isCompressed = compressed.count < value.count - value.count / 8
        let stored = isCompressed ? compressed : [UInt8](value)
        var writer = ByteWriter(reservingCapacity: headerByteCount + stored.count + 64)
        writer.append(magic)
        writer.append(UInt32(isCompressed ? 1 : 0))
        writer.append(UInt64(value.count))
        writer.append(UInt64(stored.count))
        writer.append(stored.withUnsafeBytes { checksum($0) })
        writer.append(UInt32(0))
        writer.pad(toMultipleOf: headerByteCount)
        writer.append(bytes: stored)
        writer.pad(toMultipleOf: Location.alignmentBytes)
        return writer.bytes
    }

    /// Fills in the header's checksum and returns it.
    static func stamp(_ bytes: inout [UInt8], at address: LogAddress) -> UInt32 {
        bytes.withUnsafeMutableBytes { buffer in
            let crc = headerChecksum(UnsafeRawBufferPointer(buffer), at: address)
            buffer.storeBytes(of: crc.littleEndian, toByteOffset: 32, as: UInt32.self)
            return crc
        }
    }

    private static func headerChecksum(_ bytes: UnsafeRawBufferPointer, at address: LogAddress) -> UInt32 {
        address.checksum(continuing: checksum(UnsafeRawBufferPointer(rebasing: bytes[..<32])))
    }

    /// The header's checksum, when header and bytes are what was written at that place.
    static func verify(_ bytes: UnsafeRawBufferPointer, at address: LogAddress) -> UInt32? {
        guard let header = Header(bytes) else { return nil }
        let crc = headerChecksum(bytes, at: address)
        guard header.headerChecksum == crc, header.storedByteCount <= bytes.count - headerByteCount,
            checksum(
                UnsafeRawBufferPointer(rebasing: bytes[headerByteCount..<headerByteCount + header.storedByteCount]))
                == header.bytesChecksum
        else { return nil }
        return crc
    }

    struct Header {
        var isCompressed: Bool
        var rawByteCount: Int
        var storedByteCount: Int
        var bytesChecksum: UInt32
        var headerChecksum: UInt32

        init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count >= LargeValue.headerByteCount,
                UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == LargeValue.magic
            else { return nil }
            func word32(_ offset: Int) -> UInt32 {
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            }
            func word64(_ offset: Int) -> UInt64 {
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            let limit = UInt64(LargeValue.maximumByteCount)
            guard word32(4) <= 1, word64(8) <= limit, word64(16) <= word64(8) + 4096 else { return nil }
            isCompressed = word32(4) == 1
            rawByteCount = Int(word64(8))
            storedByteCount = Int(word64(16))
            bytesChecksum = word32(24)
            headerChecksum = word32(32)
        }
    }

    /// The value, from bytes that ``verify(_:at:)`` accepted; nil when they contradict themselves.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let header = Header(bytes), header.storedByteCount <= bytes.count - headerByteCount else { return nil }
        let stored = UnsafeRawBufferPointer(
            rebasing: bytes[headerByteCount..<headerByteCount + header.storedByteCount])
        if !header.isCompressed {
            return header.rawByteCount == stored.count ? [UInt8](stored) : nil
        }
        // LZ4 cannot expand more than 255 times: a larger claim is a lie, refused before memory is taken.
        guard header.rawByteCount <= stored.count * 255 else { return nil }
        return decompress(stored, rawByteCount: header.rawByteCount)
    }

    private static func compress(_ value: UnsafeRawBufferPointer) -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: value.count / 2)
        var position = 0
        var scratch = [UInt8](repeating: 0, count: Int(LZ4_compressBound(Int32(chunkByteCount))))
        while position < value.count {
            let chunk = UnsafeRawBufferPointer(
                rebasing: value[position..<min(position + chunkByteCount, value.count)])
            let count = scratch.withUnsafeMutableBytes { target in
                Int(
                    LZ4_compress_default(
                        chunk.baseAddress?.assumingMemoryBound(to: CChar.self),
                        target.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(chunk.count), Int32(target.count)
                    ))
            }
            if count > 0 && count < chunk.count {
                writer.append(UInt32(count))
                writer.append(bytes: scratch[..<count])
            } else {
                writer.append(counted: chunk)
            }
            position += chunk.count
        }
        return writer.bytes
    }

    private static func decompress(_ stored: UnsafeRawBufferPointer, rawByteCount: Int) -> [UInt8]? {
        var reader = ByteReader(stored)
        var isValid = true
        let result = [UInt8](unsafeUninitializedCapacity: rawByteCount) { target, initialized in
            // The whole buffer is zeroed first, so that a chunk that ends early leaves no uninitialised bytes.
            target.initialize(repeating: 0)
            initialized = rawByteCount
            var position = 0
            while position < rawByteCount {
                let expected = min(chunkByteCount, rawByteCount - position)
                guard let count = try? reader.read(UInt32.self), let chunk = try? reader.read(count: Int(count)) else {
                    isValid = false
                    return
                }
                let room = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(target)[position..<position + expected])
                if chunk.count == expected {
                    room.copyMemory(from: chunk)
                } else {
                    let written = LZ4_decompress_safe(
                        chunk.baseAddress?.assumingMemoryBound(to: CChar.self),
                        room.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(chunk.count), Int32(expected))
                    guard written == Int32(expected) else {
                        isValid = false
                        return
                    }
                }
                position += expected
            }
        }
        return isValid && reader.remaining == 0 ? result : nil
    }
}

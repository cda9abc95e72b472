internal import CLZ4

/// LZ4 blocks without a frame: the lengths are kept by whoever stores them.
enum LZ4 {
    /// One byte of LZ4 stands for at most this many decoded bytes.
    static let expansionMaximum = 255

    /// Compresses into at most `capacity` bytes; nil when the result does not fit (the target's bytes are then undefined).
    static func compress(
        _ source: UnsafeRawPointer, count: Int, into target: UnsafeMutableRawPointer, capacity: Int
    ) -> Int? {
        guard count <= Int(LZ4_MAX_INPUT_SIZE), capacity > 0 else { return nil }
        let written = LZ4_compress_default(
            source.assumingMemoryBound(to: CChar.self), target.assumingMemoryBound(to: CChar.self),
            Int32(count), Int32(capacity))
        return written > 0 ? Int(written) : nil
    }

    /// Decodes exactly `targetCount` bytes; false when the source is not LZ4 of that many bytes. Safe for hostile input.
    static func decompress(
        _ source: UnsafeRawPointer, count: Int, into target: UnsafeMutableRawPointer, targetCount: Int
    ) -> Bool {
        guard count > 0, count <= Int(Int32.max), targetCount <= Int(Int32.max) else { return false }
        let written = LZ4_decompress_safe(
            source.assumingMemoryBound(to: CChar.self), target.assumingMemoryBound(to: CChar.self),
            Int32(count), Int32(targetCount))
        return Int(written) == targetCount
    }
}

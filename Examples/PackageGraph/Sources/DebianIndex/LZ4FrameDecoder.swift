import CLZ4Frame

/// Decodes a stream of LZ4 frames piece by piece.
///
/// This is the frame format of the `lz4` command and of apt, not the bare blocks a database would use: it carries its
/// own lengths and checksums, which the library checks.
final class LZ4FrameDecoder {
    /// What the library says about the bytes it was given.
    struct Failure: Error { let reason: String }

    private let context: OpaquePointer
    /// Whether the bytes decoded so far end between two frames.
    private(set) var isBetweenFrames = true

    init() throws(Failure) {
        var created: OpaquePointer?
        let result = LZ4F_createDecompressionContext(&created, UInt32(LZ4F_VERSION))
        guard LZ4F_isError(result) == 0, let created else { throw Failure(result) }
        context = created
    }

    deinit { LZ4F_freeDecompressionContext(context) }

    /// Decodes as much of `source` as fits into `destination`.
    ///
    /// - Returns: How many bytes of the source were used and how many were written.
    func decode(
        _ source: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer
    ) -> Result<(consumed: Int, produced: Int), Failure> {
        var consumed = source.count
        var produced = destination.count
        // Both buffers outlive the call and the library keeps no pointer to them.
        let hint = LZ4F_decompress(context, destination.baseAddress, &produced, source.baseAddress, &consumed, nil)
        guard LZ4F_isError(hint) == 0 else { return .failure(Failure(hint)) }
        if consumed > 0 || produced > 0 { isBetweenFrames = hint == 0 }
        return .success((consumed, produced))
    }
}

extension LZ4FrameDecoder.Failure {
    init(_ result: Int) { reason = String(cString: LZ4F_getErrorName(result)) }
}

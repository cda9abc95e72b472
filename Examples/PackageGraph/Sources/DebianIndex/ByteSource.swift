import SystemPackage

/// Reads a file, through LZ4 when its first bytes say so, in pieces of the caller's size.
final class ByteSource {
    let path: String
    /// Bytes read from the file so far, as they lie on disk.
    private(set) var storedByteCount = 0
    private let descriptor: FileDescriptor
    private var decoder: LZ4FrameDecoder?
    /// File bytes, of which those in `pending` are not yet handed out or decoded.
    private var input = [UInt8](repeating: 0, count: 256 * 1024)
    private var pending = 0..<0
    private var isStarted = false
    private var isAtEnd = false

    /// Opens the file.
    ///
    /// - Throws: `.unreadable` when the system refuses.
    init(path: String) throws(IndexError) {
        self.path = path
        do { descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec) } catch {
            throw IndexError(.unreadable, path: path, "cannot be opened: \(error)")
        }
    }

    // Nothing was written, so closing cannot lose anything.
    deinit { try? descriptor.close() }

    /// Fills `buffer` from `start` on and returns how many bytes it wrote, 0 at the end of the file only.
    ///
    /// - Throws: `.unreadable` when the system refuses, `.compression` when the file is compressed in another way than
    ///   with LZ4 or its compressed bytes are damaged.
    func read(into buffer: inout [UInt8], from start: Int) throws(IndexError) -> Int {
        if !isStarted { try begin() }
        while true {
            if pending.isEmpty, !isAtEnd { try fill() }
            guard let decoder else { return copy(into: &buffer, from: start) }
            let produced = try decode(with: decoder, into: &buffer, from: start)
            if produced > 0 { return produced }
            if pending.isEmpty, isAtEnd {
                guard decoder.isBetweenFrames else {
                    throw IndexError(.compression, path: path, "is cut off: its LZ4 data ends in the middle of a frame")
                }
                return 0
            }
        }
    }

    private func copy(into buffer: inout [UInt8], from start: Int) -> Int {
        let taken = pending.prefix(buffer.count - start)
        buffer.replaceSubrange(start..<(start + taken.count), with: input[taken])
        pending = taken.upperBound..<pending.upperBound
        return taken.count
    }

    private func decode(
        with decoder: LZ4FrameDecoder, into buffer: inout [UInt8], from start: Int
    ) throws(IndexError) -> Int {
        let result = buffer.withUnsafeMutableBytes { destination in
            input.withUnsafeBytes { source in
                decoder.decode(
                    UnsafeRawBufferPointer(rebasing: source[pending]),
                    into: UnsafeMutableRawBufferPointer(rebasing: destination[start...]))
            }
        }
        switch result {
        case .success(let progress):
            pending = (pending.lowerBound + progress.consumed)..<pending.upperBound
            return progress.produced
        case .failure(let failure):
            throw IndexError(.compression, path: path, "holds damaged LZ4 data (\(failure.reason))")
        }
    }

    /// Reads the first bytes and decides by them how the rest is read.
    private func begin() throws(IndexError) {
        while pending.count < 4, !isAtEnd { try fill() }
        decoder = try Self.makeDecoder(for: input[pending], path: path)
        isStarted = true
    }

    /// Appends to `pending`, which is empty or at the front of the buffer.
    private func fill() throws(IndexError) {
        let start = pending.isEmpty ? 0 : pending.upperBound
        do {
            let count = try input.withUnsafeMutableBytes {
                try descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[start...]))
            }
            isAtEnd = count == 0
            storedByteCount += count
            pending = (pending.isEmpty ? 0 : pending.lowerBound)..<(start + count)
        } catch {
            throw IndexError(.unreadable, path: path, "cannot be read: \(error)")
        }
    }

    private static func makeDecoder(
        for start: ArraySlice<UInt8>, path: String
    ) throws(IndexError) -> LZ4FrameDecoder? {
        if start.starts(with: [0x04, 0x22, 0x4d, 0x18]) {
            do { return try LZ4FrameDecoder() } catch {
                throw IndexError(.compression, path: path, "LZ4 cannot be set up (\(error.reason))")
            }
        }
        let others: [(magic: [UInt8], name: String)] = [
            ([0x1f, 0x8b], "gzip"), ([0xfd, 0x37, 0x7a, 0x58], "xz"), ([0x28, 0xb5, 0x2f, 0xfd], "zstd"),
            ([0x42, 0x5a, 0x68], "bzip2"),
        ]
        if let other = others.first(where: { start.starts(with: $0.magic) }) {
            throw IndexError(.compression, path: path, "is compressed with \(other.name); decompress it first")
        }
        return nil
    }
}

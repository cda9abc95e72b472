/// The bytes of a simulated file: chunks that copies share until one of them changes a chunk. What was never written
/// takes no memory and reads as zeros.
struct SparseBytes: Sendable {
    static let chunkByteCount = 16 << 10
    private static let zeroChunk = [UInt8](repeating: 0, count: chunkByteCount)

    private(set) var byteCount = 0
    // Bytes of the last chunk beyond byteCount are zero.
    private var chunks: [Int: [UInt8]] = [:]

    var allocatedByteCount: Int { chunks.count * Self.chunkByteCount }

    var contents: [UInt8] {
        // The library would write to the empty array that all threads share, which the thread sanitizer reports.
        guard byteCount > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            copy(0..<byteCount, to: UnsafeMutableRawBufferPointer(buffer))
            count = byteCount
        }
    }

    /// Lengthens with zeros or cuts off.
    mutating func setByteCount(_ newCount: Int) {
        if newCount < byteCount {
            let last = newCount / Self.chunkByteCount
            let kept = newCount % Self.chunkByteCount
            for key in chunks.keys where key > last || (key == last && kept == 0) {
                chunks[key] = nil
            }
            if kept > 0 {
                chunks[last]?.withUnsafeMutableBytes { $0[kept...].initialize(repeating: 0) }
            }
        }
        byteCount = newCount
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        guard !bytes.isEmpty else { return }
        var done = 0
        while done < bytes.count {
            let (chunk, start) = (offset + done).quotientAndRemainder(dividingBy: Self.chunkByteCount)
            let count = min(bytes.count - done, Self.chunkByteCount - start)
            chunks[chunk, default: Self.zeroChunk].withUnsafeMutableBytes { target in
                let source = UnsafeRawBufferPointer(rebasing: bytes[done..<done + count])
                UnsafeMutableRawBufferPointer(rebasing: target[start..<start + count]).copyMemory(from: source)
            }
            done += count
        }
        byteCount = max(byteCount, offset + bytes.count)
    }

    /// Fills the buffer with the range, which must lie within the file and be as long as the buffer.
    func copy(_ range: Range<Int>, to buffer: UnsafeMutableRawBufferPointer) {
        forEachPiece(of: range) { piece, bytes in
            let target = UnsafeMutableRawBufferPointer(
                rebasing: buffer[piece.lowerBound - range.lowerBound..<piece.upperBound - range.lowerBound])
            if let bytes {
                target.copyMemory(from: bytes)
            } else {
                target.initializeMemory(as: UInt8.self, repeating: 0)
            }
        }
    }

    /// As ``copy(_:to:)`` for a buffer of zeros; touches only what was written.
    func copyWritten(_ range: Range<Int>, toZeroed buffer: UnsafeMutableRawBufferPointer) {
        forEachPiece(of: range) { piece, bytes in
            guard let bytes else { return }
            let start = piece.lowerBound - range.lowerBound
            UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + piece.count]).copyMemory(from: bytes)
        }
    }

    /// Makes the range what it is in the other, lengthening the file to the range's end when it is shorter.
    mutating func copy(_ range: Range<Int>, from other: SparseBytes) {
        guard !range.isEmpty else { return }
        other.forEachPiece(of: range) { piece, bytes in
            if let bytes {
                write(bytes, at: piece.lowerBound)
            } else {
                zero(piece)
            }
        }
        byteCount = max(byteCount, range.upperBound)
    }

    /// Zeroes a range, without lengthening the file.
    mutating func zero(_ range: Range<Int>) {
        var position = range.lowerBound
        while position < range.upperBound {
            let (chunk, start) = position.quotientAndRemainder(dividingBy: Self.chunkByteCount)
            let count = min(range.upperBound - position, Self.chunkByteCount - start)
            if count == Self.chunkByteCount {
                chunks[chunk] = nil
            } else {
                chunks[chunk]?.withUnsafeMutableBytes { $0[start..<start + count].initialize(repeating: 0) }
            }
            position += count
        }
    }

    /// Calls the body for each chunk's part of the range; nil where nothing was written.
    private func forEachPiece(of range: Range<Int>, _ body: (Range<Int>, UnsafeRawBufferPointer?) -> Void) {
        var position = range.lowerBound
        while position < range.upperBound {
            let (chunk, start) = position.quotientAndRemainder(dividingBy: Self.chunkByteCount)
            let count = min(range.upperBound - position, Self.chunkByteCount - start)
            let piece = position..<position + count
            if let bytes = chunks[chunk] {
                bytes.withUnsafeBytes { body(piece, UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
            } else {
                body(piece, nil)
            }
            position += count
        }
    }
}

extension UnsafeMutableRawBufferPointer.SubSequence {
    fileprivate func initialize(repeating byte: UInt8) {
        UnsafeMutableRawBufferPointer(rebasing: self).initializeMemory(as: UInt8.self, repeating: byte)
    }
}

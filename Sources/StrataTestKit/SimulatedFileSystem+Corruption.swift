import StrataIO
internal import StrataSupport
internal import Synchronization
public import SystemPackage

extension SimulatedFileSystem {
    /// Damage to a file. What lies beyond the file's end is left alone.
    public enum Corruption: Sendable, Equatable {
        /// Inverts one bit (0...7) of the byte at an offset.
        case flipBit(offset: Int, bit: Int)
        /// Inverts all bits of the byte at an offset.
        case flipByte(offset: Int)
        case zero(Range<Int>)
        /// Exchanges two ranges of equal length, which must not overlap.
        case swap(Int, Int, byteCount: Int)
        /// Puts a copy of a range over what is at an offset.
        case duplicate(Range<Int>, at: Int)
        case overwrite(offset: Int, [UInt8])
        case truncate(byteCount: Int)

        func apply(to content: inout SparseBytes) {
            switch self {
            case .flipBit(let offset, let bit):
                precondition((0..<8).contains(bit), "a byte has no bit \(bit)")
                content.replace(at: offset, content.bytes(offset..<offset + 1).map { $0 ^ (1 << UInt8(bit)) })
            case .flipByte(let offset):
                content.replace(at: offset, content.bytes(offset..<offset + 1).map { ~$0 })
            case .zero(let range):
                content.zero(range)
            case .swap(let first, let second, let byteCount):
                let one = content.bytes(first..<first + byteCount)
                let other = content.bytes(second..<second + byteCount)
                let count = min(one.count, other.count)
                content.replace(at: first, Array(other.prefix(count)))
                content.replace(at: second, Array(one.prefix(count)))
            case .duplicate(let range, let offset):
                content.replace(at: offset, content.bytes(range))
            case .overwrite(let offset, let bytes):
                content.replace(at: offset, bytes)
            case .truncate(let byteCount):
                content.setByteCount(min(content.byteCount, byteCount))
            }
        }
    }

    /// Damages a file, on the device and in the page cache. Meant for images at rest; recorded as an operation.
    ///
    /// - Throws: `.noSuchFileOrDirectory`, `.isDirectory`. Not counted as a call.
    public func corrupt(_ path: FilePath, _ corruption: Corruption) throws(Errno) {
        try state.withLock { state throws(Errno) in
            let inode = try state.disk.tree.lookup(path)
            guard state.disk.files[inode] != nil else { throw .isDirectory }
            state.record(.write, path.text, .corrupt(inode: inode, corruption))
        }
    }
}

extension SparseBytes {
    /// The part of a range that lies within the file.
    fileprivate func bytes(_ range: Range<Int>) -> [UInt8] {
        let range = range.clamped(to: 0..<byteCount)
        var bytes = [UInt8](repeating: 0, count: range.count)
        bytes.withUnsafeMutableBytes { copy(range, to: $0) }
        return bytes
    }

    /// Overwrites without lengthening the file.
    fileprivate mutating func replace(at offset: Int, _ bytes: [UInt8]) {
        let count = max(0, min(bytes.count, byteCount - offset))
        bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[..<count]), at: offset) }
    }
}

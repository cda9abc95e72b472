internal import StrataIO

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension SparseBytes {
    /// A copy of a range that lies within the file. Memory is touched only where something was written.
    func region(_ range: Range<Int>) -> MappedRegion {
        guard !range.isEmpty else {
            return MappedRegion(bytes: UnsafeRawBufferPointer(start: nil, count: 0)) { _ in }
        }
        guard let memory = calloc(range.count, 1) else {
            fatalError("no memory to map \(range.count) bytes of a simulated file")
        }
        copyWritten(range, toZeroed: UnsafeMutableRawBufferPointer(start: memory, count: range.count))
        return MappedRegion(bytes: UnsafeRawBufferPointer(start: memory, count: range.count)) { bytes in
            free(UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        }
    }
}

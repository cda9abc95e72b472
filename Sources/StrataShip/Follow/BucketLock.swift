internal import StrataIO
internal import SystemPackage

/// In place of a writer's lock file. Whoever writes the store does it elsewhere, and what the bucket has counts, as if
/// it were always held: an end of the log that cannot be read is damage, and not what a loss of power has left.
final class BucketLock: File {
    func isLockedElsewhere() throws(Errno) -> Bool { true }

    func tryLockExclusively() throws(Errno) -> Bool { throw .badFileDescriptor }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int { 0 }

    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int { throw .badFileDescriptor }

    func syncData() throws(Errno) { throw .badFileDescriptor }

    func sync() throws(Errno) { throw .badFileDescriptor }

    func truncate(to byteCount: Int64) throws(Errno) { throw .badFileDescriptor }

    func preallocate(from offset: Int64, byteCount: Int64) throws(Errno) { throw .badFileDescriptor }

    func byteCount() throws(Errno) -> Int64 { 0 }

    func map(from offset: Int64, byteCount: Int) throws(Errno) -> MappedRegion { throw .invalidArgument }

    func close() throws(Errno) {}
}

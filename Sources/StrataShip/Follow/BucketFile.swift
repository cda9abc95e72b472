internal import StrataIO
internal import StrataLog
internal import Synchronization
internal import SystemPackage

/// A segment or a checkpoint in a bucket, read through the cache. Reads block while what they need is fetched.
final class BucketFile: File {
    private let fileSystem: BucketFileSystem
    private let source: FollowedLog.Source
    private let isClosed = Atomic(false)

    init(_ fileSystem: BucketFileSystem, _ source: FollowedLog.Source) {
        self.fileSystem = fileSystem
        self.source = source
    }

    deinit { try? close() }

    private func checkOpen() throws(Errno) {
        if isClosed.load(ordering: .acquiring) { throw .badFileDescriptor }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try checkOpen()
        guard offset >= 0 else { throw .invalidArgument }
        var count = 0
        while count < buffer.count {
            let bytes: ArraySlice<UInt8>
            do throws(ShipError) {
                bytes = try fileSystem.log.bytes(source, from: Int(offset) + count)
            } catch {
                // What can be read by trying again later is told from what is gone or damaged.
                throw error.mayPass ? .timedOut : .ioError
            }
            if bytes.isEmpty { break }
            let part = bytes.prefix(buffer.count - count)
            // In bounds: no longer than what is left of the buffer.
            UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + part.count]).copyBytes(from: part)
            count += part.count
        }
        return count
    }

    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int { throw .badFileDescriptor }

    func syncData() throws(Errno) { throw .badFileDescriptor }

    func sync() throws(Errno) { throw .badFileDescriptor }

    func truncate(to byteCount: Int64) throws(Errno) { throw .badFileDescriptor }

    func preallocate(from offset: Int64, byteCount: Int64) throws(Errno) { throw .badFileDescriptor }

    func byteCount() throws(Errno) -> Int64 {
        try checkOpen()
        guard let byteCount = fileSystem.log.byteCount(source) else { throw .staleNFSFileHandle }
        return Int64(byteCount)
    }

    func map(from offset: Int64, byteCount: Int) throws(Errno) -> MappedRegion {
        try checkOpen()
        guard offset >= 0, byteCount >= 0 else { throw .invalidArgument }
        // A copy, since there is no file that has all of it.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(byteCount, 1), alignment: 16)
        let bytes = UnsafeMutableRawBufferPointer(rebasing: memory[..<byteCount])
        do throws(Errno) {
            guard try readAll(into: bytes, at: offset) else { throw .invalidArgument }
        } catch {
            memory.deallocate()
            throw error
        }
        return MappedRegion(bytes: UnsafeRawBufferPointer(bytes)) { $0.deallocate() }
    }

    func tryLockExclusively() throws(Errno) -> Bool { throw .badFileDescriptor }

    func identity() throws(Errno) -> FileIdentity? { fileSystem.identity(of: source) }

    func close() throws(Errno) {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        fileSystem.log.close(source)
    }
}

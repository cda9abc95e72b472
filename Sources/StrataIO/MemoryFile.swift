internal import Synchronization
internal import SystemPackage

/// One opening of a file in a ``MemoryFileSystem``.
final class MemoryFile: File {
    private let inode: MemoryInode
    private let number: FileIdentity
    private let isWritable: Bool
    private let isClosed = Atomic<Bool>(false)

    init(_ inode: MemoryInode, _ number: FileIdentity, isWritable: Bool) {
        self.inode = inode
        self.number = number
        self.isWritable = isWritable
    }

    deinit {
        inode.unlock(ObjectIdentifier(self))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try checkOpen()
        guard offset >= 0 else { throw .invalidArgument }
        return inode.read(into: buffer, at: Int(offset))
    }

    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int {
        try checkWritable(or: .badFileDescriptor)
        guard offset >= 0 else { throw .invalidArgument }
        return try inode.write(buffers, at: Int(offset))
    }

    func syncData() throws(Errno) {
        try checkOpen()
    }

    func sync() throws(Errno) {
        try checkOpen()
    }

    func truncate(to byteCount: Int64) throws(Errno) {
        try checkWritable(or: .invalidArgument)
        guard byteCount >= 0 else { throw .invalidArgument }
        inode.truncate(to: Int(byteCount))
    }

    func preallocate(from offset: Int64, byteCount: Int64) throws(Errno) {
        try checkWritable(or: .badFileDescriptor)
        guard offset >= 0, byteCount >= 0 else { throw .invalidArgument }
        let (end, overflow) = offset.addingReportingOverflow(byteCount)
        guard !overflow else { throw .fileTooLarge }
        if byteCount > 0 {
            inode.preallocate(Int(offset)..<Int(end))
        }
    }

    func byteCount() throws(Errno) -> Int64 {
        try checkOpen()
        return Int64(inode.byteCount)
    }

    func map(from offset: Int64, byteCount: Int) throws(Errno) -> MappedRegion {
        try checkOpen()
        guard offset >= 0, byteCount >= 0 else { throw .invalidArgument }
        return try inode.map(from: Int(offset), byteCount: byteCount)
    }

    func tryLockExclusively() throws(Errno) -> Bool {
        try checkWritable(or: .badFileDescriptor)
        return inode.lock(ObjectIdentifier(self))
    }

    func isLockedElsewhere() throws(Errno) -> Bool {
        try checkOpen()
        return inode.isLocked(byOtherThan: ObjectIdentifier(self))
    }

    func identity() throws(Errno) -> FileIdentity? {
        try checkOpen()
        return number
    }

    func close() throws(Errno) {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        inode.unlock(ObjectIdentifier(self))
    }

    private func checkOpen() throws(Errno) {
        if isClosed.load(ordering: .acquiring) { throw .badFileDescriptor }
    }

    private func checkWritable(or error: Errno) throws(Errno) {
        try checkOpen()
        if !isWritable { throw error }
    }
}

internal import CStrataSupport
internal import Synchronization
internal import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file of the operating system.
///
/// Closing never races with a call in flight, and costs calls no lock: ``close()`` raises a flag and lets go of the
/// file, but the descriptor's *number* stays taken (by a descriptor that can neither read nor write) until the last
/// reference to this object goes. Whoever is inside a call holds a reference, so the number cannot come to mean another
/// file under it. A call that overlaps ``close()`` either does its work on the right file or throws
/// `.badFileDescriptor`.
final class PosixFile: File {
    private let descriptor: Int32
    private let isClosed = Atomic<Bool>(false)

    /// The most buffers one pwritev takes: `IOV_MAX` on Linux and macOS.
    private static let buffersMaximumCount = 1024

    /// Shared by all closed files; -1 when none could be opened, closed files then keep their file until deinit.
    private static let placeholder: Int32 = strata_file_placeholder()

    /// Owns the descriptor from now on.
    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        _ = closeDescriptor(descriptor)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try checkOpen()
        guard let base = buffer.baseAddress else { return 0 }
        var filled = 0
        while filled < buffer.count {
            let count = pread(descriptor, base + filled, buffer.count - filled, off_t(offset) + off_t(filled))
            if count > 0 {
                filled += count
            } else if count == 0 {
                try checkOpen()
                break
            } else if errno != EINTR {
                throw failure(errno)
            }
        }
        return filled
    }

    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int {
        try checkOpen()
        let written: Int
        if buffers.count == 1 {
            written = result(pwrite(descriptor, buffers[0].baseAddress, buffers[0].count, off_t(offset)))
        } else {
            let count = min(buffers.count, Self.buffersMaximumCount)
            written = withUnsafeTemporaryAllocation(of: iovec.self, capacity: count) { vectors in
                for index in 0..<count {
                    // pwritev only reads through the pointer; iovec has no immutable form.
                    let base = UnsafeMutableRawPointer(mutating: buffers[index].baseAddress)
                    vectors.initializeElement(at: index, to: iovec(iov_base: base, iov_len: buffers[index].count))
                }
                return result(pwritev(descriptor, vectors.baseAddress, Int32(count), off_t(offset)))
            }
        }
        guard written >= 0 else { throw failure(Int32(-written)) }
        return written
    }

    func syncData() throws(Errno) {
        try checkOpen()
        try check(strata_file_sync_data(descriptor))
    }

    func sync() throws(Errno) {
        try checkOpen()
        try check(strata_file_sync(descriptor))
    }

    func beginWriting(from offset: Int64, byteCount: Int64) {
        if !isClosed.load(ordering: .acquiring) { strata_file_begin_writing(descriptor, offset, byteCount) }
    }

    func truncate(to byteCount: Int64) throws(Errno) {
        try checkOpen()
        try retryingInterrupts { () throws(Errno) in
            try check(Int32(result(Int(ftruncate(descriptor, off_t(byteCount))))))
        }
    }

    func preallocate(from offset: Int64, byteCount: Int64) throws(Errno) {
        try checkOpen()
        guard offset >= 0, byteCount >= 0 else { throw .invalidArgument }
        guard byteCount > 0 else { return }
        let (end, overflow) = offset.addingReportingOverflow(byteCount)
        guard !overflow else { throw .fileTooLarge }
        let outcome = strata_file_reserve(descriptor, offset, byteCount)
        switch -outcome {
        case EOPNOTSUPP, ENOTSUP, ENOSYS:
            // Nothing can be reserved here. A full disk is another matter: the caller wants to hear of it.
            if try self.byteCount() < end {
                try truncate(to: end)
            }
        default:
            try check(outcome)
        }
    }

    func byteCount() throws(Errno) -> Int64 {
        try checkOpen()
        var status = stat()
        try check(Int32(result(Int(fstat(descriptor, &status)))))
        // The placeholder has a length too.
        try checkOpen()
        return Int64(status.st_size)
    }

    func map(from offset: Int64, byteCount: Int) throws(Errno) -> MappedRegion {
        let length = try self.byteCount()
        guard offset >= 0, byteCount >= 0, offset <= length, Int64(byteCount) <= length - offset else {
            throw .invalidArgument
        }
        guard byteCount > 0 else {
            return MappedRegion(bytes: UnsafeRawBufferPointer(start: nil, count: 0)) { _ in }
        }
        let skipped = Int(offset) % Self.pageByteCount
        let mappedCount = byteCount + skipped
        let address = mmap(nil, mappedCount, PROT_READ, MAP_SHARED, descriptor, off_t(offset) - off_t(skipped))
        guard let address, address != MAP_FAILED else { throw failure(errno) }
        if isClosed.load(ordering: .acquiring) {
            munmap(address, mappedCount)
            throw .badFileDescriptor
        }
        // The region's bytes start `skipped` bytes into the mapping, which ends with them.
        return MappedRegion(bytes: UnsafeRawBufferPointer(start: address + skipped, count: byteCount)) { bytes in
            guard let start = bytes.baseAddress else { return }
            munmap(UnsafeMutableRawPointer(mutating: start - skipped), mappedCount)
        }
    }

    func tryLockExclusively() throws(Errno) -> Bool {
        try checkOpen()
        let outcome = strata_file_lock(descriptor)
        try check(outcome)
        return outcome == 1
    }

    func isLockedElsewhere() throws(Errno) -> Bool {
        try checkOpen()
        let outcome = strata_file_is_locked(descriptor)
        try check(outcome)
        return outcome == 1
    }

    func identity() throws(Errno) -> FileIdentity? {
        try checkOpen()
        var status = stat()
        try check(Int32(result(Int(fstat(descriptor, &status)))))
        try checkOpen()
        return FileIdentity(
            device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
    }

    /// Shares the file's first page, which has been read or written just now, so that touching it does not depend on
    /// the disk.
    func share(isWritable: Bool) throws(Errno) -> SharedPage {
        guard let identity = try identity(), let name = SharedPage.name(of: identity) else { throw .notSupported }
        guard strata_shared_is_in_place(descriptor) == 1 else {
            return SharedPage(file: self, name: name, isWritable: isWritable)
        }
        var error: Int32 = 0
        guard let base = strata_shared_map(descriptor, SharedPage.byteCount, isWritable ? 1 : 0, &error) else {
            throw failure(error)
        }
        return SharedPage(base: base, name: name, isWritable: isWritable) {
            strata_shared_unmap($0, SharedPage.byteCount)
        }
    }

    func close() throws(Errno) {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // Said aloud, since a forked child may hold the same open file description and with it the lock.
        _ = strata_file_unlock(descriptor)
        if Self.placeholder >= 0 {
            _ = strata_file_retire(descriptor, Self.placeholder)
        }
    }
}

extension PosixFile {
    private static let pageByteCount = Int(sysconf(Int32(_SC_PAGESIZE)))

    private func checkOpen() throws(Errno) {
        if isClosed.load(ordering: .acquiring) { throw .badFileDescriptor }
    }

    private func check(_ outcome: Int32) throws(Errno) {
        if outcome < 0 { throw failure(-outcome) }
    }

    /// A call that lost the race with ``close()`` fails for odd reasons; to the caller the file is closed.
    private func failure(_ code: Int32) -> Errno {
        isClosed.load(ordering: .acquiring) ? .badFileDescriptor : Errno(rawValue: code)
    }

    private func result(_ value: Int) -> Int {
        value < 0 ? -Int(errno) : value
    }
}

/// The C function, which the method of the same name hides inside the class.
private func closeDescriptor(_ descriptor: Int32) -> Int32 {
    close(descriptor)
}

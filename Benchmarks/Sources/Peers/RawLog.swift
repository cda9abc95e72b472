public import BenchSupport
public import DataSet
import Glibc

/// No store at all: write(2) and fdatasync(2) over the packed rows. The wall that every durable store runs into.
public final class RawLog: Contestant {
    public enum Space: Sendable {
        /// The file grows with every write.
        case appended
        /// 64 MiB at a time are reserved beforehand (posix_fallocate), so that a flush seldom changes the file's size.
        case reserved
        /// The same, and zeros are written to it, so that a flush has no blocks to turn into written ones.
        case written
    }

    private static let reservedByteCount = 64 << 20

    private let descriptor: CInt
    private let space: Space
    private let recordByteCount: Int?
    private var record: UnsafeMutableRawBufferPointer
    private var position = 0
    private var reservedEnd = 0

    /// - Parameter recordByteCount: write this many bytes for a transaction of one row, in place of the row's own
    ///   bytes: the size that another contestant's record has.
    public init(in folder: Folder, space: Space, recordByteCount: Int? = nil) throws {
        descriptor = open(folder.appending("log").path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchFailure("cannot open a log in \(folder.path): errno \(errno)") }
        self.space = space
        self.recordByteCount = recordByteCount
        record = .allocate(byteCount: max(1, recordByteCount ?? 1), alignment: 8)
        // Bytes that no device can take for zeros.
        for index in record.indices { record[index] = UInt8(truncatingIfNeeded: index &* 7 &+ 1) }
        // Off the clock.
        try reserve(upTo: 1)
    }

    deinit {
        record.deallocate()
    }

    public func insert(_ rows: ArraySlice<PersonRow>, packed: PackedPeople) throws {
        guard let first = rows.first, let last = rows.last else { return }
        var bytes = packed.rows(first.id, last.id)
        if rows.count == 1, recordByteCount != nil { bytes = UnsafeRawBufferPointer(record) }
        try reserve(upTo: position + bytes.count)
        var written = 0
        while written < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress! + written, bytes.count - written, position + written)
            guard count > 0 else { throw BenchFailure("pwrite: errno \(errno)") }
            written += count
        }
        position += bytes.count
        guard fdatasync(descriptor) == 0 else { throw BenchFailure("fdatasync: errno \(errno)") }
    }

    private func reserve(upTo end: Int) throws {
        guard space != .appended, end > reservedEnd else { return }
        guard posix_fallocate(descriptor, reservedEnd, Self.reservedByteCount) == 0 else {
            throw BenchFailure("posix_fallocate failed")
        }
        if space == .written {
            let zeros = [UInt8](repeating: 0, count: Self.reservedByteCount)
            guard pwrite(descriptor, zeros, zeros.count, reservedEnd) == zeros.count else {
                throw BenchFailure("pwrite: errno \(errno)")
            }
        }
        guard fsync(descriptor) == 0 else { throw BenchFailure("fsync: errno \(errno)") }
        reservedEnd += Self.reservedByteCount
    }

    public func delete(_ ids: [UInt64]) throws {
        throw BenchFailure("a raw log deletes nothing")
    }

    public func read(_ ids: [UInt64], _ manner: ReadManner) throws -> UInt64? { nil }
    public func readSequentially() throws -> UInt64? { nil }
    public func scan(_ query: ScanQuery) throws -> UInt64? { nil }

    public func close() throws {
        _ = Glibc.close(descriptor)
    }
}

import DataSet
import Glibc

/// How long the disk takes for transactions when nothing else is done: as many bytes written behind each other into
/// space that is reserved, and flushed each time. No store that flushes is faster or steadier than that.
public struct DiskFloor {
    private static let transactionCount = 300
    /// What a writer computes between two transactions; the disk rests meanwhile.
    private static let pauseSeconds = 0.002
    /// Space is reserved for so many transactions at once.
    private static let reservation = 20

    private var latencies: [Double] = []

    public init() {}

    /// Milliseconds of a transaction.
    public var median: Double { percentile(latencies.sorted(), 0.5) * 1e3 }
    public var percentile99: Double { percentile(latencies.sorted(), 0.99) * 1e3 }

    /// Adds the times of some hundred transactions. The file lies beside the folder and is gone afterwards.
    public mutating func measure(beside folder: Folder, byteCount: Int) throws {
        let path = folder.path + ".floor"
        let descriptor = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchFailure("cannot open \(path): errno \(errno)") }
        defer {
            close(descriptor)
            unlink(path)
        }
        var random = SplitMix64(7)
        // Bytes that no device can take for zeros.
        let words = (0..<(byteCount + 7) / 8).map { _ in random.next() }
        for number in 0..<Self.transactionCount {
            let rested = now() + Self.pauseSeconds
            while now() < rested {}
            latencies.append(try timed { try Self.write(words, byteCount, number, to: descriptor) }.seconds)
        }
    }

    private static func write(
        _ words: [UInt64], _ byteCount: Int, _ number: Int, to descriptor: CInt
    ) throws {
        let position = number * byteCount
        if number % reservation == 0 {
            let error = posix_fallocate(descriptor, position, reservation * byteCount)
            guard error == 0 else { throw BenchFailure("posix_fallocate: error \(error)") }
        }
        let written = words.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, byteCount, position) }
        guard written == byteCount else { throw BenchFailure("pwrite: errno \(errno)") }
        guard fdatasync(descriptor) == 0 else { throw BenchFailure("fdatasync: errno \(errno)") }
    }
}

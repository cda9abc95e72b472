internal import CStrataSupport
internal import StrataIO
internal import StrataLog
internal import StrataObjectStore
internal import StrataSupport
internal import Synchronization
internal import SystemPackage

/// Parts of a log that were fetched from a bucket, in files of one directory, up to a number of bytes.
///
/// A file is a chunk's bytes behind a header: 8 bytes `STRCHNK1`, the number of bytes as u32, their CRC-32C as u32. One
/// that is damaged counts as missing. Those used least lately go first, by the second-chance rule. What was used last
/// is in memory, too.
final class ChunkCache: Sendable {
    /// Of a segment or checkpoint: chunks of different histories have different epochs, or are of different logs.
    struct Key: Hashable, Sendable {
        enum Kind: UInt8, Sendable {
            case segment, checkpoint
        }

        var kind: Kind
        /// Tells a log's epoch from epochs of others with its number, see ``FollowCatalog/logs``.
        var log: UInt64
        var epoch: UInt32
        var number: UInt32
        var chunk: UInt32

        var fileName: String {
            "\(ShipKey.hex(log, 16))-\(ShipKey.hex(epoch))-\(ShipKey.hex(number))"
                + ".\(kind == .segment ? "seg" : "chk")-\(ShipKey.hex(chunk))"
        }

        init(kind: Kind, log: UInt64, epoch: UInt32, number: UInt32, chunk: UInt32) {
            self.kind = kind
            self.log = log
            self.epoch = epoch
            self.number = number
            self.chunk = chunk
        }

        init?(fileName: String) {
            let text = Array(fileName.utf8)
            guard text.count == 47, let log = UInt64(fileName.prefix(16), radix: 16),
                let epoch = UInt32(fileName.dropFirst(17).prefix(8), radix: 16),
                let number = UInt32(fileName.dropFirst(26).prefix(8), radix: 16),
                let chunk = UInt32(fileName.suffix(8), radix: 16)
            else { return nil }
            let kind: Kind = fileName.dropFirst(35).prefix(3) == "seg" ? .segment : .checkpoint
            self.init(kind: kind, log: log, epoch: epoch, number: number, chunk: chunk)
            guard self.fileName == fileName else { return nil }
        }
    }

    fileprivate struct Entry {
        var byteCount: Int
        var isUsed: Bool
    }

    fileprivate struct State {
        var entries: [Key: Entry] = [:]
        var byteCount = 0
        /// The clock: keys in the order in which they came, and where its hand is.
        var ring: [Key] = []
        var hand = 0
        var memory: [Key: [UInt8]] = [:]
        var memoryOrder: [Key] = []
        /// Those that are still growing are kept in memory until they are written.
        var growing: Set<Key> = []
    }

    static let chunkBytes = 1 << 20
    private static let headerBytes = 16
    private static let magic = Array("STRCHNK1".utf8)
    private static let catalogName = "catalog"
    /// Ends the names of files that are being written.
    private static let unfinished = ".new"
    /// So many chunks are in memory besides those that grow.
    fileprivate static let memoryChunks = 32

    let budgetBytes: Int
    /// Kept open: another directory at its path is not touched.
    private let directory: any Directory
    private let state = Mutex(State())

    /// Makes the directory if it is missing, and finds what is in it.
    ///
    /// - Throws: `.local` if that cannot be done.
    init(_ path: FilePath, in fileSystem: any FileSystem, budgetBytes: Int) throws(ShipError) {
        self.budgetBytes = budgetBytes
        do throws(Errno) {
            if try fileSystem.attributes(path) == nil { try fileSystem.createDirectory(path) }
            directory = try fileSystem.openDirectory(try fileSystem.resolve(path))
            for name in try directory.list() {
                if name.hasSuffix(Self.unfinished) {
                    // Whoever wrote it has died.
                    let stem = String(name.dropLast(Self.unfinished.count))
                    if stem == Self.catalogName || Key(fileName: stem) != nil { try? directory.unlink(name) }
                    continue
                }
                guard let key = Key(fileName: name), let found = try directory.attributes(of: name),
                    found.kind == .regular, found.byteCount >= Int64(Self.headerBytes)
                else { continue }
                state.withLock { $0.add(key, Int(found.byteCount)) }
            }
        } catch {
            throw ShipError(.local, "the cache \(path) cannot be used: \(error)")
        }
        evict()
    }

    var byteCount: Int { state.withLock { $0.byteCount } }

    /// A chunk's bytes, if at least so many are there.
    func bytes(_ key: Key, atLeast count: Int) -> [UInt8]? {
        let (inMemory, isOnDisk) = state.withLock { state -> ([UInt8]?, Bool) in
            state.entries[key]?.isUsed = true
            return (state.memory[key], state.entries[key] != nil)
        }
        if let inMemory, inMemory.count >= count { return inMemory }
        guard isOnDisk, let found = load(key), found.count >= count else { return nil }
        state.withLock { $0.remember(key, found) }
        return found
    }

    func has(_ key: Key, atLeast count: Int) -> Bool {
        state.withLock { state in
            (state.memory[key]?.count ?? 0) >= count
                || (state.entries[key]?.byteCount ?? 0) >= count + Self.headerBytes
        }
    }

    /// Keeps a chunk's bytes; one that is not whole yet only in memory, until ``write()``.
    func keep(_ key: Key, _ bytes: [UInt8], isWhole: Bool) {
        state.withLock { state in
            guard (state.memory[key]?.count ?? 0) <= bytes.count else { return }
            if isWhole { state.growing.remove(key) } else { state.growing.insert(key) }
            state.remember(key, bytes)
        }
        if isWhole { store(key, bytes) }
    }

    /// Writes what is only in memory.
    func write(_ catalog: FollowCatalog) {
        let growing = state.withLock { state in
            state.growing.compactMap { key in state.memory[key].map { (key, $0) } }
        }
        for (key, bytes) in growing {
            store(key, bytes)
            // Nothing is added any more to what is not of the last segment.
            if key.number != catalog.segments.last?.number { _ = state.withLock { $0.growing.remove(key) } }
        }
        replace(Self.catalogName, catalog.encoded())
    }

    func catalog() -> FollowCatalog? { read(Self.catalogName).flatMap(FollowCatalog.init) }

    /// Forgets everything: it is of another store.
    func clear() {
        let keys = state.withLock { state in
            defer { state = State() }
            return Array(state.entries.keys)
        }
        for key in keys { try? directory.unlink(key.fileName) }
        try? directory.unlink(Self.catalogName)
    }

    // MARK: Files

    private func load(_ key: Key) -> [UInt8]? {
        guard let file = read(key.fileName), file.count >= Self.headerBytes, file.starts(with: Self.magic) else {
            remove(key)
            return nil
        }
        func word(_ offset: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(file[offset + $1]) << UInt32(8 * $1) } }
        let bytes = Array(file[Self.headerBytes...])
        guard Int(word(8)) == bytes.count, word(12) == Self.checksum(bytes) else {
            remove(key)
            return nil
        }
        return bytes
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withBytes { strata_crc32c(0, $0.baseAddress, $0.count) }
    }

    private func store(_ key: Key, _ bytes: [UInt8]) {
        var file = Self.magic
        for word in [UInt32(bytes.count), Self.checksum(bytes)] {
            for shift in [0, 8, 16, 24] as [UInt32] { file.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        file += bytes
        // A full disk makes the cache smaller, and nothing else.
        guard replace(key.fileName, file) else { return }
        state.withLock { $0.add(key, file.count) }
        evict()
    }

    private func remove(_ key: Key) {
        state.withLock { $0.drop(key) }
        try? directory.unlink(key.fileName)
    }

    /// Not flushed: what does not survive a crash is fetched again.
    @discardableResult
    private func replace(_ name: String, _ bytes: [UInt8]) -> Bool {
        let new = name + Self.unfinished
        do throws(Errno) {
            let file = try directory.open(new, .createIfMissing)
            defer { try? file.close() }
            try file.truncate(to: 0)
            try bytes.withBytes { bytes throws(Errno) in try file.writeAll([bytes], at: 0) }
            try directory.rename(new, to: name)
            return true
        } catch {
            try? directory.unlink(new)
            return false
        }
    }

    private func read(_ name: String) -> [UInt8]? {
        guard let file = try? directory.open(name, .read) else { return nil }
        defer { try? file.close() }
        guard let count = try? file.byteCount(), count < 1 << 30 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let isRead = try? bytes.withUnsafeMutableBytes { bytes throws(Errno) in try file.readAll(into: bytes, at: 0) }
        return isRead == true ? bytes : nil
    }

    private func evict() {
        while let key = state.withLock({ $0.victim(budgetBytes) }) {
            try? directory.unlink(key.fileName)
        }
    }
}

extension ChunkCache.State {
    fileprivate mutating func add(_ key: ChunkCache.Key, _ byteCount: Int) {
        if let before = entries[key] {
            self.byteCount -= before.byteCount
        } else {
            ring.append(key)
        }
        entries[key] = ChunkCache.Entry(byteCount: byteCount, isUsed: true)
        self.byteCount += byteCount
    }

    fileprivate mutating func drop(_ key: ChunkCache.Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        byteCount -= entry.byteCount
        ring.removeAll { $0 == key }
        memory[key] = nil
        memoryOrder.removeAll { $0 == key }
    }

    /// The next to go, taken out; nil when all is within the budget.
    fileprivate mutating func victim(_ budget: Int) -> ChunkCache.Key? {
        guard byteCount > budget else { return nil }
        while !ring.isEmpty {
            if hand >= ring.count { hand = 0 }
            let key = ring[hand]
            if entries[key]?.isUsed == true {
                entries[key]?.isUsed = false
                hand += 1
                continue
            }
            ring.remove(at: hand)
            byteCount -= entries.removeValue(forKey: key)?.byteCount ?? 0
            return key
        }
        return nil
    }

    fileprivate mutating func remember(_ key: ChunkCache.Key, _ bytes: [UInt8]) {
        if memory.updateValue(bytes, forKey: key) != nil { memoryOrder.removeAll { $0 == key } }
        memoryOrder.append(key)
        while memoryOrder.count > ChunkCache.memoryChunks + growing.count,
            let index = memoryOrder.firstIndex(where: { !growing.contains($0) })
        {
            memory[memoryOrder.remove(at: index)] = nil
        }
    }
}

internal import CStrataSupport

/// A few words of memory that processes share: what one stores, the others load at once.
///
/// Outlives the process, since it lies in the system's cache of a file, but is never flushed: after the system has
/// started again it means nothing, which ``name`` tells. Safe to use from any thread.
public final class SharedPage: @unchecked Sendable {
    // Unchecked: the words are only touched by atomic operations, and the release closure runs once, in deinit.

    /// Length of the memory; words are numbered from 0 up to an eighth of it.
    public static let byteCount = 4096

    /// Another one for another file, and after the next start of the system: whoever finds his own name in the page
    /// knows that what stands beside it was put there for him.
    public let name: UInt64
    /// Whether waiting ends when a word changes; otherwise it is only a short sleep.
    public var canBeWoken: Bool { base != nil }
    /// Whether words may be stored.
    public let isWritable: Bool
    /// Nil for a page that is read and written by calls: where a change of mapped memory could fail.
    private let base: UnsafeMutableRawPointer?
    private let file: (any File)?
    private let release: @Sendable (UnsafeMutableRawPointer) -> Void

    init(
        base: UnsafeMutableRawPointer, name: UInt64, isWritable: Bool,
        release: @escaping @Sendable (UnsafeMutableRawPointer) -> Void
    ) {
        self.base = base
        file = nil
        self.name = name
        self.isWritable = isWritable
        self.release = release
    }

    /// A page that every access reads or writes in its file.
    init(file: any File, name: UInt64, isWritable: Bool) {
        base = nil
        self.file = file
        self.name = name
        self.isWritable = isWritable
        release = { _ in }
    }

    /// A page in this process's own memory, for file systems in memory.
    ///
    /// - Parameter other: a page whose words the new one begins with; nil for zeros.
    public convenience init(name: UInt64, copying other: SharedPage? = nil) {
        let base = UnsafeMutableRawPointer.allocate(byteCount: Self.byteCount, alignment: 8)
        base.initializeMemory(as: UInt8.self, repeating: 0, count: Self.byteCount)
        self.init(base: base, name: name, isWritable: true) { $0.deallocate() }
        guard let other else { return }
        for word in 0..<Self.byteCount / 8 { store(word, other.load(word)) }
    }

    deinit {
        if let base { release(base) }
    }

    private func address(_ word: Int) -> UnsafeMutablePointer<UInt64>? {
        precondition(word >= 0 && word < Self.byteCount / 8)
        // In bounds and aligned: words are counted from the start of a page.
        return base.map { ($0 + word * 8).assumingMemoryBound(to: UInt64.self) }
    }

    /// A word as it is now; 0 when it cannot be read.
    public func load(_ word: Int) -> UInt64 {
        if let address = address(word) { return strata_word_load(address) }
        var value: UInt64 = 0
        let isRead = withUnsafeMutableBytes(of: &value) { try? file?.readAll(into: $0, at: Int64(word * 8)) }
        return isRead == true ? value : 0
    }

    /// Stores a word; where that needs the disk and fails, nothing happens.
    ///
    /// - Precondition: the page may be written.
    public func store(_ word: Int, _ value: UInt64) {
        precondition(isWritable)
        if let address = address(word) { return strata_word_store(address, value) }
        withUnsafeBytes(of: value) { bytes in
            try? file?.writeAll([bytes], at: Int64(word * 8))
        }
    }

    /// Stores a word and returns what it was.
    ///
    /// - Precondition: the page may be written.
    public func exchange(_ word: Int, _ value: UInt64) -> UInt64 {
        precondition(isWritable)
        if let address = address(word) { return strata_word_exchange(address, value) }
        let before = load(word)
        if before != value { store(word, value) }
        return before
    }

    /// Waits as long as the low 32 bits of a word are those of `value`, at most so many milliseconds. May return early;
    /// where the page is not mapped, after a millisecond.
    public func wait(_ word: Int, while value: UInt64, milliseconds: Int32) {
        if let address = address(word) {
            return strata_word_wait(address, UInt32(truncatingIfNeeded: value), milliseconds)
        }
        guard UInt32(truncatingIfNeeded: load(word)) == UInt32(truncatingIfNeeded: value) else { return }
        // A word of our own that nobody wakes: a sleep.
        var own: UInt64 = 0
        strata_word_wait(&own, 0, min(milliseconds, 1))
    }

    /// Wakes those who wait on a word, in every process.
    public func wake(_ word: Int) {
        if let address = address(word) { strata_word_wake(address) }
    }

    /// The name of a file's page under this start of the system; nil when the system does not tell its starts apart.
    static func name(of file: FileIdentity) -> UInt64? {
        guard !boot.isEmpty else { return nil }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        boot.forEach(add)
        for word in [file.device, file.inode] {
            for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
        }
        return hash
    }

    private static let boot: [UInt8] = {
        var name = [CChar](repeating: 0, count: 128)
        let count = strata_boot_name(&name, name.count)
        return name[..<count].map { UInt8(bitPattern: $0) }
    }()
}

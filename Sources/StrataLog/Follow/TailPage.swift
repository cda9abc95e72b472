internal import StrataIO
internal import SystemPackage

/// How far the log counts, in memory that the writer shares with those who follow it.
///
/// The writer stores the end of what it has acknowledged; nobody reads behind that, so that nobody sees what may yet be
/// taken back. Words of 8 bytes:
///
/// | word | what |
/// |---|---|
/// | 0 | the page's name, mixed with the store's UUID: the rest means something only if it is right. 0 while a writer changes it |
/// | 1 | number of the writer: one more with each opening for writing |
/// | 2 | end of the log: segment in the high half, offset in the low one |
/// | 3 | counts what was stored: its low half is what followers wait on |
/// | 4 | 1 when somebody may be waiting |
/// | 5 | number of the writer that is to write no more, because its store has been replaced |
/// | 6 | token of the compaction that somebody asks for |
/// | 7 | number of the writer that is asked; 0 when nobody is |
/// | 8 | token of the compaction that the writer was last asked for and began, and in its low bits how it goes |
/// | 9, 10 | how many bytes it has gone through, and of how many |
/// | 11, 12, 13 | what it did: segments that are gone, bytes freed, bytes written |
///
/// A word that cannot be read is 0, which no name and no end is. One that could not be stored leaves followers behind
/// until the next one can.
///
/// Copied with its file, kept over a start of the system, or put beside another store, the page has the wrong name.
struct TailPage: Sendable {
    enum Word {
        static let name = 0
        static let writer = 1
        static let end = 2
        static let signal = 3
        static let waiting = 4
        static let replaced = 5
        static let compaction = 6
        static let compactingWriter = 7
        static let compactionState = 8
        static let compactionDone = 9
        static let compactionTotal = 10
        static let compactionReport = 11
    }

    /// What a writer has announced.
    struct Announcement: Hashable {
        var writer: UInt64
        var end: LogPosition
    }

    let page: SharedPage
    private let name: UInt64

    init(_ page: SharedPage, storeUUID: StoreUUID) {
        self.page = page
        // Never 0, which stands for "being changed".
        name = (page.name &* 31 &+ storeUUID.high &* 17 &+ storeUUID.low) | 1
    }

    // MARK: Writing

    /// The page of a store that has just been opened for writing; nil where there can be none. Then followers go by
    /// what the log itself says.
    static func begin(_ files: StoreFiles, storeUUID: StoreUUID, at end: LogPosition) -> TailPage? {
        guard let page = try? files.sharedPage(files.tail, .createIfMissing) else {
            // One that an earlier writer left would keep followers from looking further.
            try? files.remove(files.tail)
            return nil
        }
        let tail = TailPage(page, storeUUID: storeUUID)
        page.store(Word.name, 0)
        page.store(Word.writer, page.load(Word.writer) &+ 1)
        page.store(Word.end, end.word)
        page.store(Word.name, tail.name)
        tail.signal()
        return tail
    }

    /// Gives the page its name, if it has none: from now on it means something.
    func begin(at end: LogPosition) {
        guard page.load(Word.name) != name else { return }
        page.store(Word.writer, page.load(Word.writer) &+ 1)
        page.store(Word.end, end.word)
        page.store(Word.name, name)
        signal()
    }

    /// Says that everything up to a position counts: it has been acknowledged, or is about to be.
    ///
    /// - Complexity: O(1); a system call only when somebody waits.
    func announce(_ end: LogPosition) {
        guard page.load(Word.end) != end.word else { return }
        page.store(Word.end, end.word)
        signal()
    }

    /// Whether somebody has told this writer that its store has been replaced. O(1), without a system call.
    var isReplaced: Bool {
        let replaced = page.load(Word.replaced)
        return replaced != 0 && replaced == page.load(Word.writer)
    }

    private func signal() {
        // Only the one writer counts up.
        page.store(Word.signal, page.load(Word.signal) &+ 1)
        if page.exchange(Word.waiting, 0) != 0 { page.wake(Word.signal) }
    }

    // MARK: Following

    /// What is announced; nil when the page says nothing about this store.
    var announcement: Announcement? {
        let writer = page.load(Word.writer)
        guard page.load(Word.name) == name else { return nil }
        let end = LogPosition(word: page.load(Word.end))
        guard page.load(Word.writer) == writer, end.segment > 0, end.offset >= SegmentHeader.byteCount else {
            return nil
        }
        return Announcement(writer: writer, end: end)
    }

    /// Tells the writer that has the store open now, and no later one, to write no more.
    ///
    /// - Returns: whether it could be told: there is one, or was one last, and the page may be written.
    func replaceWriter() -> Bool {
        guard page.isWritable, let writer = announcement?.writer else { return false }
        page.store(Word.replaced, writer)
        return true
    }

    var signalCount: UInt64 { page.load(Word.signal) }

    /// Waits until the count is another one, at most so many milliseconds.
    ///
    /// Where the page cannot be written nobody knows that somebody waits: then the count is looked at every 2 ms.
    func wait(while count: UInt64, milliseconds: Int32) {
        guard page.isWritable else {
            var passed: Int32 = 0
            while passed < milliseconds, signalCount == count {
                page.wait(Word.signal, while: count, milliseconds: 2)
                passed += 2
            }
            return
        }
        guard page.canBeWoken else { return page.wait(Word.signal, while: count, milliseconds: milliseconds) }
        // Said before looking: the writer looks at this word after it has counted.
        page.store(Word.waiting, 1)
        guard signalCount == count else { return }
        page.wait(Word.signal, while: count, milliseconds: milliseconds)
    }

    /// Wakes everybody who waits, without anything to tell.
    func wakeAll() { page.wake(Word.signal) }
}

extension LogPosition {
    fileprivate var word: UInt64 { UInt64(segment) << 32 | UInt64(offset) }

    fileprivate init(word: UInt64) {
        self.init(segment: UInt32(word >> 32), offset: Int(word & 0xFFFF_FFFF))
    }
}

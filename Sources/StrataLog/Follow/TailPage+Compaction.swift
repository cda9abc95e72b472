internal import StrataIO

/// How a compaction goes that another process was asked for.
package enum CompactionAnswer: Hashable, Sendable {
    case running(byteCount: Int, of: Int)
    case done(CompactionReport)
    /// By who asked, or since the store is being closed.
    case stopped
    case failed
}

/// One process asks the writer, which answers in the same page.
extension TailPage {
    private static let stateBits: UInt64 = 7
    private static let running: UInt64 = 1
    private static let done: UInt64 = 2
    private static let stopped: UInt64 = 3
    private static let failed: UInt64 = 4

    /// Of which no two are the same. The low bits are left for how it goes.
    static func makeToken() -> UInt64 { UInt64.random(in: 1..<1 << 61) << 3 }

    // MARK: Asking

    /// Asks the writer that has the store open now, and no later one, for a compaction.
    ///
    /// - Returns: whether it could be asked: there is one, or was one last, and the page may be written.
    func askForCompaction(_ token: UInt64) -> Bool {
        guard page.isWritable, let writer = announcement?.writer else { return false }
        page.store(Word.compactingWriter, 0)
        page.store(Word.compaction, token)
        page.store(Word.compactingWriter, writer)
        return true
    }

    /// Nothing is asked for any more; what the writer has begun, it stops.
    func withdrawCompaction(_ token: UInt64) {
        guard page.isWritable, page.load(Word.compaction) == token else { return }
        page.store(Word.compactingWriter, 0)
    }

    /// Nil as long as the writer has not begun.
    func compactionAnswer(_ token: UInt64) -> CompactionAnswer? {
        let state = page.load(Word.compactionState)
        guard state & ~Self.stateBits == token else { return nil }
        switch state & Self.stateBits {
        case Self.running:
            return .running(byteCount: integer(Word.compactionDone), of: integer(Word.compactionTotal))
        case Self.done:
            var report = CompactionReport()
            report.segments = integer(Word.compactionReport)
            report.freedByteCount = integer(Word.compactionReport + 1)
            report.writtenByteCount = integer(Word.compactionReport + 2)
            return .done(report)
        case Self.stopped: return .stopped
        default: return .failed
        }
    }

    private func integer(_ word: Int) -> Int { Int(truncatingIfNeeded: page.load(word)) }

    // MARK: Answering

    /// The compaction that this writer is asked for. O(1), without a system call.
    var askedCompaction: UInt64? {
        let writer = page.load(Word.compactingWriter)
        guard writer != 0, writer == page.load(Word.writer) else { return nil }
        return page.load(Word.compaction)
    }

    /// As ``askedCompaction``, of those that were not begun.
    var unansweredCompaction: UInt64? {
        guard let token = askedCompaction, page.load(Word.compactionState) & ~Self.stateBits != token else {
            return nil
        }
        return token
    }

    func answerCompaction(_ token: UInt64, _ answer: CompactionAnswer) {
        let state: UInt64
        switch answer {
        case .running(let byteCount, let total):
            page.store(Word.compactionDone, UInt64(byteCount))
            page.store(Word.compactionTotal, UInt64(total))
            state = Self.running
        case .done(let report):
            page.store(Word.compactionReport, UInt64(report.segments))
            page.store(Word.compactionReport + 1, UInt64(report.freedByteCount))
            page.store(Word.compactionReport + 2, UInt64(report.writtenByteCount))
            state = Self.done
        case .stopped: state = Self.stopped
        case .failed: state = Self.failed
        }
        // Last: whoever reads it finds the rest.
        page.store(Word.compactionState, token | state)
    }
}

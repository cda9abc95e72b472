internal import Dispatch
internal import StrataSupport

/// A compaction that the process which has a store open for writing was asked for.
package struct CompactionRequest: Sendable {
    fileprivate let page: TailPage
    fileprivate let token: UInt64

    /// How it goes; nil as long as the writer has not noticed.
    package var answer: CompactionAnswer? { page.compactionAnswer(token) }

    /// Nobody wants it any more: the writer stops, if it has begun, after its current step.
    package func withdraw() { page.withdrawCompaction(token) }
}

extension LogStore {
    /// Asks the process that has the store open for writing, which this one has not, to compact it. It notices with its
    /// next commit, or without one within two of ``MemoryBudget``'s intervals.
    ///
    /// A request that was made before counts no more. One that is not withdrawn is done once, also when nobody waits.
    ///
    /// - Returns: nil when nobody can be asked: there is no writer, or `TAIL` may not be written.
    package func askForCompaction() -> CompactionRequest? {
        tail?.reattach()
        let token = TailPage.makeToken()
        guard let page = tail?.page, page.askForCompaction(token) else { return nil }
        return CompactionRequest(page: page, token: token)
    }

    /// Whether some process has the store open for writing.
    ///
    /// - Throws: `.io` when the lock cannot be looked at.
    package func hasWriter() throws(StoreError) -> Bool { try tail?.isLocked() ?? true }

    /// Called after each commit, and at intervals while little happens: compacts in the background if another process
    /// has asked.
    func compactIfAsked() {
        guard let announcer, let token = announcer.unansweredCompaction else { return }
        let begins = state.withLock { state in
            guard !state.isClosed, state.askedCompaction != token else { return false }
            state.askedCompaction = token
            return true
        }
        guard begins else { return }
        announcer.answerCompaction(token, .running(byteCount: 0, of: 0))
        DispatchQueue.global(qos: .utility).async { [self] in
            do throws(StoreError) {
                let report = try compact { progress in
                    announcer.answerCompaction(
                        token,
                        .running(
                            byteCount: min(progress.completedByteCount, progress.byteCount), of: progress.byteCount))
                    return announcer.askedCompaction == token
                }
                announcer.answerCompaction(token, .done(report))
            } catch {
                announcer.answerCompaction(
                    token, error.code == .cancelled || error.code == .closed ? .stopped : .failed)
            }
        }
    }
}

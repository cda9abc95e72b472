internal import StrataSupport

/// By when all transactions up to one were committed, now and then one: times need not ascend, since clocks are set
/// back, but the latest time so far does. Only what this process came past is known. Safe from any thread.
final class TransactionTimes: Sendable {
    struct Mark {
        var sequence: UInt64
        /// The latest time of the transaction and those before it.
        var latestNanoseconds: Int64
    }

    private let marks = AdaptiveMutex<[Mark]>([])

    /// What lies between two marks is read when it is asked for.
    static let distance: UInt64 = 1_024

    /// The last known transaction up to which none is later.
    func mark(notAfter nanoseconds: Int64) -> Mark? {
        marks.withLock { marks in
            let index = marks.partitioned { $0.latestNanoseconds <= nanoseconds }
            return index > 0 ? marks[index - 1] : nil
        }
    }

    /// Remembers a transaction that no flush can take back any more.
    func record(_ mark: Mark) {
        marks.withLock { marks in
            if let last = marks.last, mark.sequence < last.sequence + Self.distance { return }
            marks.append(mark)
        }
    }

    /// What follows a transaction is no longer part of the log.
    func forget() { marks.withLock { $0.removeAll() } }
}

extension [TransactionTimes.Mark] {
    /// How many elements come before the first one that is not early.
    fileprivate func partitioned(_ isEarly: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isEarly(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

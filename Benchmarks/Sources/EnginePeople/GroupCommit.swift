import BenchSupport
public import DataSet
import Dispatch
import Foundation
import Synchronization

/// Many threads that each commit one row at a time, durably, into one store.
public enum GroupCommit {
    /// Commits every row, from `writers` threads. Returns the seconds from the start of the first to the end of the
    /// last.
    public static func run(_ rows: [PersonRow], writers: Int, into log: PeopleLog) throws -> Double {
        let failure = Mutex<(any Error)?>(nil)
        let next = Atomic<Int>(0)
        let finished = DispatchGroup()
        let start = now()
        for _ in 0..<writers {
            finished.enter()
            let thread = Thread {
                defer { finished.leave() }
                do {
                    while true {
                        let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                        guard index < rows.count else { break }
                        try log.insertConcurrently(rows[index])
                    }
                } catch {
                    failure.withLock { $0 = $0 ?? error }
                }
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        finished.wait()
        let seconds = now() - start
        if let error = failure.withLock({ $0 }) { throw error }
        return seconds
    }
}

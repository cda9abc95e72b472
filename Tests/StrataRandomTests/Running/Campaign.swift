import Foundation
import Synchronization

/// Many trials in child processes, as many at a time as there are processors.
struct Campaign {
    struct Finding: Sendable {
        var trial: Trial
        var result: TrialResult
    }

    /// How many seconds of processor time one program may take.
    let limit: Double
    /// After so many failures no more trials are begun.
    let patience: Int

    /// - Returns: how many operations were compared, and what failed.
    func run(_ trials: [Trial]) throws -> (operations: Int, findings: [Finding]) {
        let workers = max(1, min(ProcessInfo.processInfo.activeProcessorCount, trials.count))
        let state = Mutex<(operations: Int, findings: [Finding], next: Int)>((0, [], 0))
        let share = max(1, min(100, trials.count / workers))
        DispatchQueue.concurrentPerform(iterations: workers) { _ in
            while true {
                let range = state.withLock { state -> Range<Int> in
                    guard state.findings.count < patience else { return 0..<0 }
                    let first = state.next
                    state.next = min(trials.count, first + share)
                    return first..<state.next
                }
                if range.isEmpty { return }
                work(trials[range]) { trial, result in
                    state.withLock { state in
                        if case .passed(let operations) = result {
                            state.operations += operations
                        } else {
                            state.findings.append(Finding(trial: trial, result: result))
                        }
                    }
                }
            }
        }
        return state.withLock { ($0.operations, $0.findings) }
    }

    private func work(_ trials: ArraySlice<Trial>, _ report: (Trial, TrialResult) -> Void) {
        var rest = trials
        while let first = rest.first {
            guard let results = try? TrialChild(Array(rest)).results(limit: limit), !results.isEmpty else {
                report(first, .stopped("the child process did not begin"))
                rest = rest.dropFirst()
                continue
            }
            for (trial, result) in zip(rest, results) { report(trial, result) }
            rest = rest.dropFirst(results.count)
        }
    }
}

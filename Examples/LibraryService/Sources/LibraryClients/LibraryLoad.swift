import Foundation
import Synchronization

/// Many clients at once, while the program is killed again and again: what was acknowledged has to be there afterwards.
package struct LibraryLoad {
    package struct Report: Sendable {
        package var acknowledged = 0
        package var checked = 0
        package var kills = 0
        package var problems: [String] = []
        /// Seconds until each answer. With a ``LibraryLoad/rate`` they begin when the request was due, so that one
        /// which waited behind another of its client has waited.
        package var latencies: [LibraryClient.Action: [Double]] = [:]
        /// Requests that ended without an answer: the program was killed.
        package var unanswered = 0
        /// Requests that were refused because too many waited.
        package var refused = 0

        mutating func add(_ other: Report) {
            acknowledged += other.acknowledged
            checked += other.checked
            problems += other.problems
            latencies.merge(other.latencies) { $0 + $1 }
            unanswered += other.unanswered
            refused += other.refused
        }
    }

    package var clients = 64
    package var seconds: Double
    /// Requests a second of all clients together, at random moments; nil for as many as are answered.
    package var rate: Double?
    /// How many seconds lie between two kills; nil for none.
    package var killInterval: ClosedRange<Double>?
    package var mix: [LibraryClient.Action: Int]
    /// IDs of the authors of new books.
    package var authors: [String]
    /// IDs of books that nobody changes.
    package var others: [String] = []

    package init(seconds: Double, mix: [LibraryClient.Action: Int], authors: [String]) {
        self.seconds = seconds
        self.mix = mix
        self.authors = authors
    }

    /// Loads the library, and looks at the end at everything that was written.
    package func run(_ library: RunningLibrary) async throws -> Report {
        let isOver = Atomic(false)
        let results = Mutex<[Report]>([])
        let threads = (0..<clients).map { number in
            let thread = Thread {
                let report = serve(number, library, isOver: { isOver.load(ordering: .relaxed) })
                results.withLock { $0.append(report) }
            }
            thread.stackSize = 1 << 20
            thread.start()
            return thread
        }
        var report = Report()
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            let rest = end - ContinuousClock.now
            guard let killInterval else {
                try await Task.sleep(for: rest)
                break
            }
            try await Task.sleep(for: min(.seconds(Double.random(in: killInterval)), rest))
            library.kill()
            report.kills += 1
            try library.start()
        }
        isOver.store(true, ordering: .relaxed)
        while results.withLock({ $0.count }) < threads.count { try await Task.sleep(for: .milliseconds(50)) }
        for other in results.withLock({ $0 }) { report.add(other) }
        return report
    }

    private func serve(_ number: Int, _ library: RunningLibrary, isOver: () -> Bool) -> Report {
        let client = LibraryClient(number, mix: mix, authors: authors, others: others)
        var report = Report()
        var connection: Connection?
        var due = ContinuousClock.now
        while !isOver() {
            if let rate {
                due += .seconds(-log(Double.random(in: .leastNonzeroMagnitude...1)) * Double(clients) / rate)
                let rest = due - ContinuousClock.now
                if rest > .zero { Thread.sleep(forTimeInterval: rest / .seconds(1)) }
            } else {
                due = .now
            }
            do {
                let current = try connection ?? Connection(library.port)
                connection = current
                let action = client.chooseAction()
                try client.act(action, current)
                report.latencies[action, default: []].append((ContinuousClock.now - due) / .seconds(1))
            } catch {
                connection = nil
                report.unanswered += 1
                Thread.sleep(forTimeInterval: 0.02)
                // The time without a program is not one of waiting for an answer.
                due = .now
            }
        }
        // All are over before the last look.
        while library.port == 0 { Thread.sleep(forTimeInterval: 0.02) }
        do {
            report.checked = try client.checkAll(Connection(library.port))
        } catch {
            report.problems.append("the last look failed: \(error)")
        }
        report.acknowledged = client.acknowledged
        report.refused = client.refused
        report.problems += client.problems
        return report
    }
}

import CoreMetrics
import StrataSupport
import Synchronization

/// A series that can be written.
protocol TextMetric: AnyObject, Sendable {
    func write(as name: String, _ labels: MetricLabels, to text: inout String)
}

final class TextCounter: TextMetric, CounterHandler, FloatingPointCounterHandler {
    // Whole steps apart: a sum of both in one number would lose small ones.
    private let whole = Atomic<Int64>(0)
    private let broken = AdaptiveMutex(0.0)

    func increment(by amount: Int64) {
        // A counter never falls.
        guard amount > 0 else { return }
        whole.wrappingAdd(amount, ordering: .relaxed)
    }

    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        broken.withLock { $0 += amount }
    }

    func reset() {
        whole.store(0, ordering: .relaxed)
        broken.withLock { $0 = 0 }
    }

    func write(as name: String, _ labels: MetricLabels, to text: inout String) {
        let (whole, broken) = (whole.load(ordering: .relaxed), broken.withLock { $0 })
        let number = broken == 0 ? String(whole) : MetricName.number(Double(whole) + broken)
        text += "\(name)\(labels.braced()) \(number)\n"
    }
}

final class TextGauge: TextMetric, MeterHandler, RecorderHandler {
    // The pool of contexts sets gauges at every request: no lock is taken for that.
    private let bits = Atomic(Double.zero.bitPattern)

    private var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func set(_ value: Int64) { record(Double(value)) }
    func set(_ value: Double) { record(value) }
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    func increment(by amount: Double) {
        var known = bits.load(ordering: .relaxed)
        while true {
            let sum = Double(bitPattern: known) + amount
            let (isDone, found) = bits.weakCompareExchange(
                expected: known, desired: sum.bitPattern, ordering: .relaxed)
            if isDone { return }
            known = found
        }
    }

    func decrement(by amount: Double) { increment(by: -amount) }

    func write(as name: String, _ labels: MetricLabels, to text: inout String) {
        text += "\(name)\(labels.braced()) \(MetricName.number(value))\n"
    }
}

final class TextHistogram: TextMetric, RecorderHandler, TimerHandler {
    private struct State {
        /// The last one is for what is above all bounds.
        var counts: [UInt64]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: AdaptiveMutex<State>

    init(_ bounds: [Double]) {
        self.bounds = bounds
        state = AdaptiveMutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        if value.isNaN { return }
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[index] += 1
            state.sum += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func write(as name: String, _ labels: MetricLabels, to text: inout String) {
        let state = state.withLock { $0 }
        var total: UInt64 = 0
        for (index, bound) in (bounds + [.infinity]).enumerated() {
            total += state.counts[index]
            let label = "le=\"\(MetricName.number(bound))\""
            text += "\(name)_bucket\(labels.braced(adding: label)) \(total)\n"
        }
        text += "\(name)_sum\(labels.braced()) \(MetricName.number(state.sum))\n"
        text += "\(name)_count\(labels.braced()) \(total)\n"
    }
}

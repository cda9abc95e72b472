import Glibc

/// Seconds on a clock that only moves forward.
@inlinable
public func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// Seconds that `body` takes, with what it returns.
@inlinable
public func timed<Value>(_ body: () throws -> Value) rethrows -> (seconds: Double, value: Value) {
    let start = now()
    let value = try body()
    return (now() - start, value)
}

/// Writes every dirty page of the machine to its disks (sync(2)).
///
/// Stands before every durable section: while the pages of an earlier phase are being written, a flush can take
/// twenty times as long.
public func settleDisks() {
    sync()
}

/// The value at a fraction of a sorted sample: 0.5 is the median.
public func percentile(_ sorted: [Double], _ fraction: Double) -> Double {
    sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * fraction))]
}

/// The median of a sample in any order; the mean of the two in the middle for an even count.
public func median(_ sample: [Double]) -> Double {
    let sorted = sample.sorted()
    guard !sorted.isEmpty else { return 0 }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// What is measured of every line, as it is printed.
enum Metric: String, Sendable {
    case rate = "requests_per_s"
    case p50
    case p99
    case p999 = "p99.9"
    case longest
    case resident = "rss"
    case peak = "peak_rss"
    case threads
    /// Of the readers beside writers.
    case besideRate = "beside_requests_per_s"
    /// What the disk alone takes for a small durable write.
    case floor50 = "floor_p50"
    case floor99 = "floor_p99"

    var unit: String {
        switch self {
        case .rate, .besideRate: "requests/s"
        case .p50, .p99, .p999, .longest, .floor50, .floor99: "ms"
        case .resident, .peak: "MiB"
        case .threads: "threads"
        }
    }
}

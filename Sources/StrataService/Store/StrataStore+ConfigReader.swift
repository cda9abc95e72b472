import Configuration

extension StrataStore.Options {
    /// Options from the program's configuration. Keys that are not there, or have no number, leave the default.
    ///
    /// ```swift
    /// let options = StrataStore.Options(config: config.scoped(to: "strata"))
    /// ```
    ///
    /// - `metrics.interval.seconds` (double, optional, default 15): how often the sizes of stores go to the metrics.
    /// - `status.interval.seconds` (double, optional, default 2): how often a status is written beside each store, once
    ///   a second at most; 0 for none.
    /// - `health.free.bytes` (int, optional, default 268435456): with less free disk the service is degraded.
    /// - `health.consumer.lag` (int, optional, default 100000): a consumer of the history so many transactions behind
    ///   makes the service degraded.
    /// - `drain.seconds` (double, optional, default 10): for how long requests may wait for a context after the
    ///   shutdown has begun.
    /// - `pool.*` and `telemetry.*`: as ``StrataContextPool/Options/init(config:)`` and
    ///   ``StrataTelemetry/Options/init(config:)`` say.
    /// - `telemetry.enabled` (bool, optional, default true): whether there are logs, metrics and spans.
    public init(config: ConfigReader) {
        self.init()
        metricsInterval = config.duration("metrics.interval.seconds", metricsInterval, above: .milliseconds(1))
        if let standard = statusInterval {
            let interval = config.duration("status.interval.seconds", standard)
            statusInterval = interval == .zero ? nil : interval
        }
        minimumFreeBytes = config.int(forKey: "health.free.bytes", default: minimumFreeBytes)
        maximumConsumerLag = config.int(forKey: "health.consumer.lag", default: maximumConsumerLag)
        drainTimeLimit = config.duration("drain.seconds", drainTimeLimit)
        pool = StrataContextPool.Options(config: config.scoped(to: "pool"))
        let telemetry = config.scoped(to: "telemetry")
        self.telemetry =
            telemetry.bool(forKey: "enabled", default: true) ? StrataTelemetry.Options(config: telemetry) : nil
    }
}

extension StrataContextPool.Options {
    /// Options from the program's configuration.
    ///
    /// - `name` (string, optional, default `strata`): the pool's name in metrics and errors.
    /// - `readers` (int, optional, default 16), `writers` (int, optional, default 16): contexts of each kind; less than
    ///   1 counts as 1.
    /// - `wait.seconds` (double, optional, default 5): for how long a context is waited for.
    public init(config: ConfigReader) {
        self.init()
        name = config.string(forKey: "name", default: name)
        readers = max(1, config.int(forKey: "readers", default: readers))
        writers = max(1, config.int(forKey: "writers", default: writers))
        timeLimit = config.duration("wait.seconds", timeLimit)
    }
}

extension StrataTelemetry.Options {
    /// Options from the program's configuration.
    ///
    /// - `slow.fetch.seconds` (double, optional, default 0.1): a fetch that takes longer is slow.
    /// - `shows.requests` (bool, optional, default false): whether spans and lines of slow fetches have the request's
    ///   text, without values.
    /// - `shows.values` (bool, optional, default false): whether they have it with users' values.
    public init(config: ConfigReader) {
        self.init()
        slowFetch = config.duration("slow.fetch.seconds", slowFetch)
        showsRequests = config.bool(forKey: "shows.requests", default: showsRequests)
        showsValues = config.bool(forKey: "shows.values", default: showsValues)
    }
}

extension ConfigReader {
    /// A number of seconds. One that is negative, or no number, leaves the default.
    fileprivate func duration(_ key: ConfigKey, _ standard: Duration, above least: Duration = .zero) -> Duration {
        guard let seconds = double(forKey: key), seconds.isFinite, seconds >= 0, seconds < 1e9 else { return standard }
        return max(.seconds(seconds), least)
    }
}

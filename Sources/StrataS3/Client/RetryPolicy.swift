/// How often, and when, a request that was not answered is sent again.
struct RetryPolicy: Sendable {
    /// No try begins later than this after the first.
    var deadline: Duration
    var shortest: Duration = .milliseconds(100)
    var longest: Duration = .seconds(10)

    /// How long to wait before the next try: with full jitter, so that clients that failed together do not come back
    /// together, and at least as long as the server has asked for.
    ///
    /// - Parameters:
    ///   - failures: How many tries have failed, at least 1.
    ///   - retryAfter: What the server's header `Retry-After` says.
    func pause(after failures: Int, retryAfter: Duration?) -> Duration {
        let ceiling = min(longest, shortest * (1 << min(failures - 1, 20)))
        let jitter = ceiling * Double.random(in: 0...1)
        guard let retryAfter else { return jitter }
        // With a little jitter on top, too: a server tells all its clients the same.
        return retryAfter + min(jitter, .seconds(1))
    }
}

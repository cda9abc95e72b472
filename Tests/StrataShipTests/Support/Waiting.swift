import Testing

/// Waits for something that other tasks or processes see to. Only a test that hangs waits for ten minutes.
func wait(until isSo: () -> Bool, _ what: @autoclosure () -> String) async throws {
    let start = ContinuousClock.now
    while !isSo() {
        try #require(start.duration(to: .now) < .seconds(600), "\(what()) does not come")
        try await Task.sleep(for: .milliseconds(2))
    }
}

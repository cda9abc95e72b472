extension NSPersistentStoreCoordinator {
    /// An option of Strata: how many large scans of the coordinator's contexts run at a time. Default: one for each
    /// processor.
    ///
    /// A scan is large when it looks at more than some hundred thousand rows, or ten thousand that a predicate has to
    /// be interpreted for. Further ones wait in the order in which they came, until one ends, or until their task is
    /// cancelled or their ``NSPersistentStoreRequest/timeLimit`` is up. Fetches by ID, over an index or over fewer rows
    /// never wait. May be changed at any time, from any thread; scans that run go on.
    ///
    /// - Precondition: the number is positive.
    public final var maximumConcurrentScans: Int {
        get { scanGate.maximum }
        set {
            precondition(newValue > 0, "maximumConcurrentScans must be positive; it was set to \(newValue)")
            scanGate.maximum = newValue
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// An option of Strata: how many long searches of the coordinator's contexts run at a time. Default: one for each
    /// processor.
    ///
    /// A search is long once it has looked at more than some hundred thousand rows or taken more than two
    /// milliseconds of processor time. Then it runs for some milliseconds at a time. Further ones wait in the order in
    /// which they came, those that have taken long already behind the others, or until their task is
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

extension LogOptions {
    /// When segments are compacted without being asked.
    public struct Compaction: Sendable, Hashable {
        /// Whether a thread of the store compacts in the background while transactions are committed.
        public var isAutomatic = true
        /// What is needed over what is used, under which segments are compacted. 0.5 to 0.8: beyond that the price
        /// doubles.
        public var targetUtilization = 0.7
        /// Whether rows that were written a few at a time are merged into full blocks, by key, soon after: scans go
        /// over them as fast as over rows that were written at once. In the background, and only where ``isAutomatic``
        /// is set.
        public var mergesFreshRows = true

        /// Compaction in the background, with the defaults.
        public init() {}
    }
}

/// What a program that has a store open for writing tells of its work on it, for people who look at the store from
/// another process.
///
/// It has no users' values: requests have `?` in the place of every constant.
package struct StoreStatus: Codable, Sendable, Equatable {
    /// What has been counted since ``began``.
    package struct Counters: Codable, Sendable, Equatable {
        package var commits = 0
        package var flushes = 0
        package var saves = 0
        package var fetches = 0
        package var counts = 0
        /// Batch requests.
        package var batches = 0
        /// Of the requests above, those that threw an error.
        package var failures = 0
        /// Rows looked up for faults, many at a time.
        package var faults = 0
        package var rowsTested = 0
        package var rowsReturned = 0
        package var cacheHits = 0
        package var cacheMisses = 0

        package init() {}

        /// Its numbers, by whose names those of several moments are compared.
        var values: [Int] {
            [
                commits, flushes, saves, fetches, counts, batches, failures, faults, rowsTested, rowsReturned,
                cacheHits, cacheMisses,
            ]
        }
    }

    /// Requests that differ in their constants only.
    package struct Request: Codable, Sendable, Equatable {
        /// As `db.operation.name`.
        package var operation: String
        /// Nil where objects of several entities were saved.
        package var entity: String?
        /// The request in words; of what is no fetch, operation and entity.
        package var text: String
        /// How rows were found, of the slowest; nil of what is no fetch.
        package var plan: String?
        /// The slowest took so long.
        package var seconds: Double
        /// Rows that were tested for the slowest.
        package var rowsTested: Int
        /// Results of the slowest, or the objects that it saved.
        package var rows: Int
        /// When the slowest was over, in seconds since 1970.
        package var time: Double
        /// How many took ``SlowRequests/floorNanoseconds`` or longer, and how long all of these together.
        package var calls: Int
        package var totalSeconds: Double
    }

    /// What keeps bytes on the disk that the store's objects do not need.
    package struct Retained: Codable, Sendable, Equatable {
        /// A named consumer of the history.
        package struct Consumer: Codable, Sendable, Equatable {
            package var name: String
            /// The last transaction that it has acknowledged; nil for one that has acknowledged nothing.
            package var acknowledged: Int?
            /// How many transactions it is behind.
            package var behind: Int
        }

        /// So many consumers are told of.
        static let consumerMaximum = 20

        /// Of segments that have left the directory, and that snapshots of the program keep open.
        package var pinnedBytes: Int
        /// When the first of them was compacted away, in seconds since 1970: a context or a request holds a snapshot
        /// from before.
        package var pinnedSince: Double?
        /// The furthest behind first.
        package var consumers: [Consumer]
    }

    /// The version of this form.
    package static let currentVersion = 1

    package var version = Self.currentVersion
    /// The number of the process, and of its space of such numbers as /proc names it: another container has others.
    package var process: Int32
    package var processSpace: String?
    /// The name of its program.
    package var program: String
    /// When the program began to count, and when it wrote this: seconds since 1970.
    package var began: Double
    package var time: Double
    /// How often it is written while something happens.
    package var intervalSeconds: Double
    package var counters: Counters
    /// What all stores of the program keep in memory, in bytes.
    package var cacheBytes: Int
    /// The slowest kinds of requests since ``slowSince``, the slowest first.
    package var slow: [Request]
    package var slowSince: Double
    /// Nil from programs of earlier versions.
    package var retained: Retained?
}

extension StoreStatus {
    /// How a reader finds the program.
    package enum Liveness: Sendable, Equatable {
        case live
        /// It wrote last so many seconds ago; less than none where clocks differ.
        case silent(seconds: Double)
        /// There is no such process any more.
        case ended
    }

    /// A program of which nothing happens writes so often.
    static let idleSeconds = 10.0
    /// A machine that is busy may be late.
    private static let patienceSeconds = 10.0

    /// - Parameters:
    ///   - now: in seconds since 1970.
    ///   - processSpace: the reader's.
    ///   - isRunning: whether the reader has a process of a number.
    package func liveness(
        now: Double, processSpace: String? = Self.ownProcessSpace,
        isRunning: (Int32) -> Bool = Self.isRunning
    ) -> Liveness {
        if let processSpace, processSpace == self.processSpace, !isRunning(process) { return .ended }
        let age = now - time
        let limit = max(Self.idleSeconds, intervalSeconds) + Self.patienceSeconds
        return abs(age) <= limit ? .live : .silent(seconds: age)
    }

    /// Whether it tells of the same as another, whenever they were written.
    func tellsTheSame(as other: StoreStatus) -> Bool {
        var other = other
        other.time = time
        // The window of slow requests moves by itself.
        other.slowSince = slowSince
        // It is looked up for what is written only.
        other.retained = retained
        return self == other
    }
}

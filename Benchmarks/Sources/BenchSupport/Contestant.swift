public import DataSet

/// One store under measurement, holding the people of the data set under their numbers as keys.
///
/// The loops run inside a contestant, so that calling through this protocol costs nothing that is measured. Each
/// instance belongs to one thread unless it says otherwise.
public protocol Contestant: AnyObject {
    /// Inserts rows in one transaction that is durable when the call returns.
    func insert(_ rows: ArraySlice<PersonRow>, packed: PackedPeople) throws

    /// Deletes rows in one transaction that is durable when the call returns.
    func delete(_ ids: [UInt64]) throws

    /// Makes whatever the contestant needs to find rows 1...count by number: an application holds such keys anyhow.
    /// Called before the clock of random reads starts; reads no rows.
    func prepareKeys(_ count: Int) throws

    /// Reads rows by key in the order given. Returns the digest, or nil when there is no such way to read.
    func read(_ ids: [UInt64], _ manner: ReadManner) throws -> UInt64?

    /// Reads every row with all its fields in key order; the digest over them, or nil when not offered.
    func readSequentially() throws -> UInt64?

    /// Runs one query over all rows; its check value, or nil when not offered.
    func scan(_ query: ScanQuery) throws -> UInt64?

    func close() throws
}

extension Contestant {
    /// The numbers themselves are the keys.
    public func prepareKeys(_ count: Int) throws {}
}

/// How much of a row is read.
public enum ReadManner: String, CaseIterable, Sendable {
    /// Score, and the length and first byte of the name.
    case twoFields = "two_fields"
    /// Every field, text as bytes where it lies.
    case allFields = "all_fields"
    /// Every field, text copied into Swift strings.
    case strings = "all_fields_strings"
}

/// Queries that look at every row.
public enum ScanQuery: String, CaseIterable, Sendable {
    /// How many rows have age >= 40 and "delta" in the bio.
    case predicate = "predicate"
    /// The sum of the scores by department: their total, rounded, plus the number of departments.
    case groupSum = "group_sum"
    /// How many active rows have age >= 40.
    case numbers = "numbers"
    /// How many rows have "DELTA" in the bio, whatever the case and marks.
    case folded = "folded"
    /// The first 50 rows by email; the digest of their names.
    case sorted = "sorted"
}

/// The departments' sums of a ``ScanQuery/groupSum`` as one number to compare.
public func groupSumCheck(total: Double, groups: Int) -> UInt64 {
    UInt64(total + 0.5) + UInt64(groups)
}

public import DataSet

/// What is read through indexes: ordered pages, and from departments to their persons.
public protocol IndexedReads: Contestant {
    /// Makes an ordered index on age and name where there is none yet, and waits until it is there.
    func buildIndex() throws

    /// 100 persons of an age by name, a page at a time as a list shows them.
    ///
    /// - Parameter starts: the pages; who can, prepares for those that begin alike once.
    /// - Returns: for each page the digest of all fields of its persons, added up; when only their IDs are asked for,
    ///   how many there were.
    func readPages(_ starts: [PageStart], idsOnly: Bool) throws -> UInt64

    /// Visits the persons of a department; returns how many, with the digest of their names.
    ///
    /// - Parameter decodesAll: read every field of each, as a peer that makes whole records does.
    func traverse(department: Int, decodesAll: Bool) throws -> (count: Int, digest: UInt64)
}

/// Writing many rows at once, by predicate or key, without an object for each.
public protocol BatchWrites: Contestant {
    /// Inserts rows, 10,000 a durable transaction, in the way meant for many.
    func insertInBatches(_ rows: [PersonRow], packed: PackedPeople) throws

    /// Sets the score of all persons of at least an age in one durable transaction; returns how many.
    func setScore(_ score: Double, fromAge age: Int16) throws -> Int

    /// Deletes the persons with these numbers, 10,000 a durable transaction.
    func deleteInBatches(_ ids: [UInt64]) throws

    /// Deletes the active persons in one durable transaction; returns how many.
    func deleteActive() throws -> Int
}

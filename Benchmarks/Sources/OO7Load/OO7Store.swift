/// A store with a module in it. It belongs to one thread, and keeps between calls what a program would: a context, or a
/// connection with its statements.
///
/// What a call reads it returns as a digest. Changes of one call are one transaction, durable when it returns.
public protocol OO7Store: AnyObject {
    /// Inserts the module; need not be durable.
    func fill(_ design: OO7Design) throws

    func close() throws

    // MARK: Traversals

    /// T1, and with an update T2 and T3: from the root of the design down to the composite parts of each base assembly,
    /// and there over the graph of atomic parts in depth, each part once. A composite part is visited once for each
    /// base assembly that uses it.
    ///
    /// - Returns: the sum of ``partDigest(id:x:y:buildDate:)`` over the parts, as each is found, and of the lengths of
    ///   their connections.
    func traverse(_ update: OO7Update?) throws -> UInt64

    /// T6: as T1, of each composite part the root part alone.
    func traverseRoots() throws -> UInt64

    /// T4: as T1, counting ``OO7/wantedByte`` in the documents in place of visiting parts.
    func countInDocuments() throws -> UInt64

    /// T5: as T4, replacing the beginning of each document that begins with `old`.
    ///
    /// - Returns: how many were changed.
    func replaceInDocuments(_ old: String, with new: String) throws -> UInt64

    /// T7: from an atomic part up to its composite part, the base assemblies that use it, and from each to the root.
    ///
    /// - Returns: the sum over the assemblies, as often as each is come by.
    func climb(from part: Int64) throws -> UInt64

    /// T8: counts ``OO7/wantedByte`` in the manual.
    func countInManual() throws -> UInt64

    /// T9: whether first and last byte of the manual are the same: 1 or 0.
    func compareEndsOfManual() throws -> UInt64

    // MARK: Queries

    /// Q1: atomic parts by number.
    func parts(_ ids: [Int64]) throws -> UInt64

    /// Q2 and Q3: the atomic parts that were built from a date on.
    func parts(builtSince date: Int64) throws -> UInt64

    /// Q4: the base assemblies that use the composite parts of documents, as often as they do.
    func assemblies(usingDocuments titles: [String]) throws -> UInt64

    /// Q5: the base assemblies that use a composite part built after them.
    func outdatedBaseAssemblies() throws -> UInt64

    /// Q6: the assemblies that use such a composite part, by way of other assemblies, too.
    func outdatedAssemblies() throws -> UInt64

    /// Q7: all atomic parts.
    func allParts() throws -> UInt64

    /// Q8: the pairs of a document and an atomic part that has the document's number.
    func documentsAndParts() throws -> UInt64

    // MARK: Structural changes

    /// Inserts composite parts, each with the base assemblies that use it.
    func insert(_ composites: [(composite: OO7Composite, users: [Int64])]) throws

    /// Deletes composite parts with all that belongs to them.
    func delete(_ composites: [Int64]) throws

    /// How many rows or objects there are: of assemblies, their uses of composite parts, composite parts, documents,
    /// atomic parts and connections together.
    func rowCount() throws -> Int
}

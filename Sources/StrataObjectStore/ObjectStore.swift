/// A bucket: named objects of bytes that are written whole, replaced under conditions, and listed in the order of their
/// names.
///
/// What Strata asks of S3's protocol and of nothing more, so that every server that keeps to conditional writes will
/// do. `StrataS3` speaks to servers, ``DirectoryObjectStore`` keeps objects in files, and `StrataTestKit` has one that
/// loses answers and objects on demand.
///
/// A key is UTF-8 of 1 to 1,024 bytes, relative to what the store was made for (a bucket and a prefix in it). Calls may
/// be made from any task; a cancelled task's call throws ``ObjectStoreError/cancelled`` and may have been carried out.
public protocol ObjectStore: Sendable {
    /// Where the objects are, for messages: `s3://bucket/prefix`. No secrets are in it.
    var description: String { get }

    /// What tells this bucket from every other one, however each was addressed: two stores have the same identity if,
    /// and only if, an object that is written to one is read from the other. No secrets are in it.
    ///
    /// A ``description`` need not say on which server a bucket is, or from where a path leads. What is kept of a bucket
    /// elsewhere goes by its identity, so it has to be the same in every process.
    var identity: String { get }

    /// Reads an object, or a range of its bytes, with what the store says of it at that moment.
    ///
    /// - Parameter range: Cut at the object's end; nil for all bytes. A range that begins at or behind the end throws
    ///   ``ObjectStoreError/rangeNotSatisfiable(key:size:)``.
    /// - Throws: ``ObjectStoreError/notFound(key:)`` where there is none.
    func get(_ key: String, range: Range<Int64>?) async throws(ObjectStoreError) -> ObjectContents

    /// What the store says of an object, or nil where there is none.
    func head(_ key: String) async throws(ObjectStoreError) -> ObjectInfo?

    /// Writes an object of at most ``ObjectLimits/largestPut`` bytes in one request, all of it or nothing.
    ///
    /// Once it returns, every ``get(_:range:)``, ``head(_:)`` and ``list(prefix:after:limit:)`` that begins later knows
    /// of it (S3 and those that speak its protocol say so since 2020), and the bytes are durable.
    ///
    /// - Parameter digest: SHA-256 of the bytes; kept beside them and told by ``head(_:)``.
    /// - Throws: ``ObjectStoreError/preconditionFailed(key:)`` if the condition does not hold. Implementations that
    ///   sent the request more than once have settled by digest whether it was their own write that stood in the way.
    func put(
        _ key: String, _ bytes: [UInt8], digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo

    /// Writes an object of any length, in parts where that is more than one request takes; nobody sees it before it is
    /// whole. What is left of an upload that failed is aborted as far as the store can be reached.
    ///
    /// - Parameter source: Asked for ranges, some of them more than once and several at a time.
    func upload(
        _ key: String, from source: any ObjectSource, digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo

    /// Objects whose keys begin with `prefix` and come after `after`, in the order of the keys' bytes.
    ///
    /// - Parameter limit: At most so many, and at most 1,000.
    func list(prefix: String, after: String?, limit: Int) async throws(ObjectStoreError) -> ObjectList

    /// Removes objects; one that is not there counts as removed. In batches where the store has such requests.
    ///
    /// - Throws: For the first that could not be removed; others may have been.
    func delete(_ keys: [String]) async throws(ObjectStoreError)
}

extension ObjectStore {
    /// The ``description``, for stores that it tells apart.
    public var identity: String { description }
}

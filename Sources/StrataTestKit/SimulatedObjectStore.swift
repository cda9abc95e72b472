public import StrataObjectStore
internal import Synchronization

/// An object store in memory that loses answers and objects on demand, and always the same way for the same plan.
///
/// Several of these share a bucket (``client()``): each is a way to it, with faults and counters of its own. Requests
/// are carried out one after the other; a request is numbered by the client that makes it, from 1.
///
/// ```swift
/// let store = SimulatedObjectStore()
/// store.fail { request in request.number == 3 ? .lostAnswer : nil }
/// ```
///
/// Safe to use from any thread.
public final class SimulatedObjectStore: ObjectStore {
    /// What goes wrong with one request.
    public enum Fault: Sendable, Hashable, CaseIterable {
        /// It is carried out, and no answer comes: ``ObjectStoreError/unanswered(key:message:)``.
        case lostAnswer
        /// It is not carried out, and no answer comes.
        case lostRequest
        /// No answer comes, and a write is carried out later: after another ``delayedRequests`` requests to the bucket.
        case delayed
        /// 409: a write with a condition met another one.
        case conflict
        /// The write is carried out, its answer lost, and repeating it gives 412.
        case falsePrecondition
        /// 500. Nothing is done.
        case internalError
        /// 503, too many requests. Nothing is done.
        case slowDown
        /// The object that the request is about has vanished before.
        case vanished
        /// One bit of what is read arrives wrong.
        case bitFlip
        /// What is read arrives too short.
        case truncated
        /// A list does not know of the newest objects, and still names some that are gone.
        case staleList
        /// The credentials have expired.
        case expiredCredentials
        /// 403: there is no permission for this.
        case denied
    }

    /// A request that somebody makes.
    public struct Request: Sendable {
        /// What kind of request it is.
        public enum Kind: Sendable, Hashable, CaseIterable {
            case get, head, put, upload, list, delete
        }

        /// The number of this client's request, from 1.
        public let number: Int
        /// What is asked for.
        public let kind: Kind
        /// The object, the prefix of a list, or the first of those to be removed.
        public let key: String
    }

    /// How many requests of each kind were made.
    public struct Counts: Sendable, Equatable {
        /// By their kind.
        public var requests: [Request.Kind: Int] = [:]
        /// Bytes of objects that were sent to the client.
        public var bytesRead = 0
        /// Bytes of objects that came from the client.
        public var bytesWritten = 0

        /// Of all kinds.
        public var total: Int { requests.values.reduce(0, +) }
    }

    fileprivate struct Object: Sendable {
        var bytes: [UInt8]
        var digest: ObjectDigest
        var version: UInt64
        var modified: Double

        func info(_ key: String, digest isWanted: Bool) -> ObjectInfo {
            ObjectInfo(
                key: key, size: Int64(bytes.count), tag: "\"\(version)\"", digest: isWanted ? digest : nil,
                modified: modified)
        }
    }

    fileprivate struct Delayed: Sendable {
        var due: Int
        var key: String
        var bytes: [UInt8]
        var digest: ObjectDigest
        var condition: PutCondition
    }

    /// A bucket at some moment: its objects, and what is still on its way to it.
    public struct Contents: Sendable {
        fileprivate var objects: [String: Object] = [:]
        fileprivate var version: UInt64 = 0
        fileprivate var requests = 0
        fileprivate var delayed: [Delayed] = []
        /// The last changes of names, oldest first: what lists that lag do not know.
        fileprivate var recent: [(key: String, before: Object?)] = []
        fileprivate var now = 1_750_000_000.0
        fileprivate var clockOffset = 0.0

        /// An empty bucket.
        public init() {}

        /// The keys, in order.
        public var keys: [String] { objects.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
    }

    private final class Bucket: Sendable {
        let contents: Mutex<Contents>
        let name: String
        let server: String

        init(_ contents: Contents, _ name: String, _ server: String) {
            self.contents = Mutex(contents)
            self.name = name
            self.server = server
        }
    }

    private struct Client {
        var plan: (@Sendable (Request) -> Fault?)?
        var counts = Counts()
        var fired: [Fault: Int] = [:]
        var isPartitioned = false
        var isExpired = false
    }

    /// So many requests later a delayed write is carried out.
    public static let delayedRequests = 7

    private let bucket: Bucket
    private let own = Mutex(Client())

    /// A bucket of its own, with these contents, that describes itself by a name.
    ///
    /// - Parameter server: Where it is: part of its ``identity``, and not of its ``description``.
    public convenience init(_ contents: Contents = Contents(), name: String = "bucket", server: String = "") {
        self.init(bucket: Bucket(contents, name, server))
    }

    private init(bucket: Bucket) {
        self.bucket = bucket
    }

    /// Another way to the same bucket, without faults.
    public func client() -> SimulatedObjectStore { SimulatedObjectStore(bucket: bucket) }

    /// A bucket of its own that is as this one is now.
    public func fork() -> SimulatedObjectStore {
        SimulatedObjectStore(contents, name: bucket.name, server: bucket.server)
    }

    /// The bucket as it is, delayed writes included; to be set again later.
    public var contents: Contents {
        get { bucket.contents.withLock { $0 } }
        set { bucket.contents.withLock { $0 = newValue } }
    }

    // MARK: Faults

    /// Asks a plan before each request of this client what goes wrong with it; nil for no faults.
    public func fail(_ plan: (@Sendable (Request) -> Fault?)?) {
        own.withLock { $0.plan = plan }
    }

    /// Faults of some kinds at random, determined by a seed.
    public func fail(seed: UInt64, probability: Double, _ faults: [Fault]) {
        fail { request in
            var generator = SeededGenerator(seed: seed, stream: UInt64(request.number))
            return generator.chance(probability) ? faults[generator.below(faults.count)] : nil
        }
    }

    /// Whether nothing of this client reaches the bucket.
    public var isPartitioned: Bool {
        get { own.withLock { $0.isPartitioned } }
        set { own.withLock { $0.isPartitioned = newValue } }
    }

    /// Whether this client's credentials have expired, until it gets new ones.
    public var isExpired: Bool {
        get { own.withLock { $0.isExpired } }
        set { own.withLock { $0.isExpired = newValue } }
    }

    /// By how many seconds the bucket's clock is wrong.
    public var clockOffset: Double {
        get { bucket.contents.withLock { $0.clockOffset } }
        set { bucket.contents.withLock { $0.clockOffset = newValue } }
    }

    /// Lets time pass for the bucket's clock, which does not go by itself.
    public func advance(seconds: Double) {
        bucket.contents.withLock { $0.now += seconds }
    }

    /// What this client has asked.
    public var counts: Counts { own.withLock { $0.counts } }

    /// How often faults have happened to this client.
    public var fired: [Fault: Int] { own.withLock { $0.fired } }

    // MARK: What nobody asked for

    /// An object's bytes, without a request.
    public func bytes(of key: String) -> [UInt8]? { bucket.contents.withLock { $0.objects[key]?.bytes } }

    /// Puts other bytes in an object's place, or removes it, as damage or an administrator does.
    public func tamper(_ key: String, _ change: (inout [UInt8]?) -> Void) {
        bucket.contents.withLock { contents in
            let before = contents.objects[key]
            var bytes = before?.bytes
            change(&bytes)
            contents.version += 1
            contents.objects[key] = bytes.map {
                Object(
                    bytes: $0, digest: before?.digest ?? ObjectDigest(of: $0), version: contents.version,
                    modified: contents.now)
            }
        }
    }

    /// Removes everything.
    public func empty() {
        bucket.contents.withLock { $0.objects = [:] }
    }

    // MARK: Requests

    public var description: String { "simulated://\(bucket.name)" }

    /// The name, and the server if there is one.
    public var identity: String { bucket.server.isEmpty ? description : description + "@" + bucket.server }

    /// Counts a request and says what goes wrong with it.
    private func begin(_ kind: Request.Kind, _ key: String) throws(ObjectStoreError) -> Fault? {
        if Task.isCancelled { throw .cancelled }
        let isName = kind != .list && kind != .delete
        guard key.utf8.count <= ObjectLimits.longestKey, !key.isEmpty || !isName else {
            throw .unsupported(key: key, message: "a key has 1 to \(ObjectLimits.longestKey) bytes")
        }
        let (fault, isPartitioned, isExpired) = own.withLock { client -> (Fault?, Bool, Bool) in
            client.counts.requests[kind, default: 0] += 1
            let fault = client.plan?(Request(number: client.counts.total, kind: kind, key: key))
            if let fault { client.fired[fault, default: 0] += 1 }
            return (fault, client.isPartitioned, client.isExpired)
        }
        if isPartitioned { throw .unanswered(key: key, message: "the network is partitioned") }
        bucket.contents.withLock { contents in
            contents.requests += 1
            contents.now += 0.001
            let due = contents.delayed.filter { $0.due <= contents.requests }
            contents.delayed.removeAll { $0.due <= contents.requests }
            for write in due {
                _ = try? Self.write(write.key, write.bytes, write.digest, write.condition, &contents)
            }
            if fault == .vanished { contents.objects[key] = nil }
        }
        if isExpired { throw .credentials(message: "the credentials have expired") }
        switch fault {
        case .lostRequest: throw .unanswered(key: key, message: "no answer came")
        case .conflict where kind == .put || kind == .upload:
            throw .unavailable(key: key, message: "409 ConditionalRequestConflict")
        case .internalError: throw .unavailable(key: key, message: "500 InternalError")
        case .slowDown: throw .unavailable(key: key, message: "503 SlowDown")
        case .expiredCredentials: throw .credentials(message: "the credentials have expired")
        case .denied: throw .denied(key: key, message: "403 AccessDenied")
        default: return fault
        }
    }

    public func get(_ key: String, range: Range<Int64>?) async throws(ObjectStoreError) -> ObjectContents {
        let fault = try begin(.get, key)
        let found = bucket.contents.withLock { $0.objects[key] }
        guard let found else { throw .notFound(key: key) }
        let size = Int64(found.bytes.count)
        guard range == nil || (range?.lowerBound ?? 0) < size else { throw .rangeNotSatisfiable(key: key, size: size) }
        let wanted = range.map { Int($0.lowerBound)..<Int(min($0.upperBound, size)) } ?? 0..<found.bytes.count
        var bytes = Array(found.bytes[wanted])
        own.withLock { $0.counts.bytesRead += bytes.count }
        switch fault {
        case .lostAnswer, .delayed: throw .unanswered(key: key, message: "no answer came")
        case .bitFlip where !bytes.isEmpty: bytes[bytes.count / 2] ^= 1
        case .truncated: bytes.removeLast(bytes.count / 2)
        default: break
        }
        return ObjectContents(bytes: bytes, info: found.info(key, digest: true))
    }

    public func head(_ key: String) async throws(ObjectStoreError) -> ObjectInfo? {
        let fault = try begin(.head, key)
        if fault == .lostAnswer || fault == .delayed { throw .unanswered(key: key, message: "no answer came") }
        return bucket.contents.withLock { $0.objects[key]?.info(key, digest: true) }
    }

    public func put(
        _ key: String, _ bytes: [UInt8], digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        guard bytes.count <= ObjectLimits.largestPut else { throw .unsupported(key: key, message: "too long") }
        return try write(.put, key, bytes, digest, condition)
    }

    public func upload(
        _ key: String, from source: any ObjectSource, digest: ObjectDigest, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectInfo {
        let bytes: [UInt8]
        do {
            bytes = try await source.read(0..<source.size)
        } catch {
            throw .source(key: key, message: "\(error)")
        }
        return try write(.upload, key, bytes, digest, condition)
    }

    private func write(
        _ kind: Request.Kind, _ key: String, _ bytes: [UInt8], _ digest: ObjectDigest, _ condition: PutCondition
    ) throws(ObjectStoreError) -> ObjectInfo {
        let fault = try begin(kind, key)
        guard ObjectDigest(of: bytes) == digest else {
            throw .damaged(key: key, message: "the bytes have another digest than was said")
        }
        own.withLock { $0.counts.bytesWritten += bytes.count }
        if fault == .delayed {
            bucket.contents.withLock { contents in
                contents.delayed.append(
                    Delayed(
                        due: contents.requests + Self.delayedRequests, key: key, bytes: bytes, digest: digest,
                        condition: condition))
            }
            throw .unanswered(key: key, message: "no answer came")
        }
        let result = bucket.contents.withLock { contents in
            Result { () throws(ObjectStoreError) in try Self.write(key, bytes, digest, condition, &contents) }
        }
        if fault == .lostAnswer { throw .unanswered(key: key, message: "no answer came") }
        if fault == .falsePrecondition, condition != .always { throw .preconditionFailed(key: key) }
        return try result.get()
    }

    private static func write(
        _ key: String, _ bytes: [UInt8], _ digest: ObjectDigest, _ condition: PutCondition, _ contents: inout Contents
    ) throws(ObjectStoreError) -> ObjectInfo {
        let before = contents.objects[key]
        switch condition {
        case .always: break
        case .absent: if before != nil { throw .preconditionFailed(key: key) }
        case .matching(let tag):
            if before?.info(key, digest: false).tag != tag { throw .preconditionFailed(key: key) }
        }
        contents.version += 1
        let object = Object(
            bytes: bytes, digest: digest, version: contents.version, modified: contents.now + contents.clockOffset)
        contents.record(key)
        contents.objects[key] = object
        return object.info(key, digest: true)
    }

    public func list(prefix: String, after: String?, limit: Int) async throws(ObjectStoreError) -> ObjectList {
        let fault = try begin(.list, prefix)
        if fault == .lostAnswer || fault == .delayed { throw .unanswered(key: prefix, message: "no answer came") }
        var objects = bucket.contents.withLock { contents -> [String: Object] in
            var objects = contents.objects
            if fault == .staleList { for (key, before) in contents.recent.reversed() { objects[key] = before } }
            return objects
        }
        objects = objects.filter { entry in
            entry.key.hasPrefix(prefix) && (after.map { $0.utf8.lexicographicallyPrecedes(entry.key.utf8) } ?? true)
        }
        let keys = objects.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let shown = keys.prefix(min(max(limit, 0), 1000))
        return ObjectList(
            objects: shown.compactMap { objects[$0]?.info($0, digest: false) }, isTruncated: shown.count < keys.count)
    }

    public func delete(_ keys: [String]) async throws(ObjectStoreError) {
        let fault = try begin(.delete, keys.first ?? "")
        bucket.contents.withLock { contents in
            for key in keys {
                contents.record(key)
                contents.objects[key] = nil
            }
        }
        if fault == .lostAnswer || fault == .delayed {
            throw .unanswered(key: keys.first ?? "", message: "no answer came")
        }
    }
}

extension SimulatedObjectStore.Contents {
    /// Before a name changes.
    fileprivate mutating func record(_ key: String) {
        recent.append((key, objects[key]))
        if recent.count > 4 { recent.removeFirst() }
    }
}

internal import StrataIO
internal import StrataLog
internal import StrataObjectStore
internal import Synchronization
internal import SystemPackage

/// A log in a bucket, read through a cache: what the files of a follower's store stand on.
final class FollowedLog: Sendable {
    private struct State {
        var catalog: FollowCatalog
        var lastContact: ContinuousClock.Instant?
        var error: ShipError?
        /// Chunks that are being fetched, and who else waits for them.
        var fetching: [ChunkCache.Key: Task<Result<[UInt8], ShipError>, Never>] = [:]
        /// How often segments are open.
        var open: [UInt32: Int] = [:]
        /// The last segment that was looked for whole.
        var wholeAsked: UInt32 = 0
    }

    let objects: ShipBucket
    let cache: ChunkCache
    private let wholeObjectBytes: Int
    /// In place of the page that a writer would share.
    let page = SharedPage(name: 1)
    private let announcer: TailAnnouncer
    private let state: Mutex<State>

    init(
        _ objects: ShipBucket, _ cache: ChunkCache, _ catalog: FollowCatalog, _ options: FollowOptions,
        isContacted: Bool
    ) {
        self.objects = objects
        wholeObjectBytes = options.wholeObjectBytes
        self.cache = cache
        announcer = TailAnnouncer(page, storeUUID: catalog.storeUUID)
        state = Mutex(State(catalog: catalog, lastContact: isContacted ? .now : nil))
        if let end = catalog.end { announcer.announce(end) }
    }

    var catalog: FollowCatalog { state.withLock { $0.catalog } }

    /// Takes over what the bucket has by now, if that is not older than what is known.
    private func replace(_ catalog: FollowCatalog) {
        state.withLock { state in
            guard !catalog.isBehind(state.catalog) else { return }
            var catalog = catalog
            let open = state.open
            catalog.retain(state.catalog) { open[$0] != nil }
            state.catalog = catalog
            if let end = catalog.end { announcer.announce(end) }
        }
    }

    /// Takes the next piece in. Does nothing if it has come in another way meanwhile.
    func add(_ header: ObjectHeader, _ payload: [UInt8], key: String) {
        var grown = catalog
        guard key == grown.nextKey else { return }
        grown.add(header, key: key)
        cachePiece(header, payload, grown)
        var holes: [ClosedRange<UInt32>] = []
        // The first record of a segment says which ones the log does not need any more.
        if header.position.offset == 0,
            case .all(let all)? = try? payload.records(
                of: header.position.segment, header.storeUUID, key, isCut: true
            ).first?.holes
        {
            holes = all
        }
        state.withLock { state in
            guard key == state.catalog.nextKey else { return }
            state.catalog.add(header, key: key)
            let open = state.open
            if !holes.isEmpty { state.catalog.retire(holes) { open[$0] != nil } }
            // Under the lock, so that nobody tells of less later. Whoever is told finds it in the catalogue.
            if let end = state.catalog.end { announcer.announce(end) }
        }
    }

    func noteContact() {
        state.withLock { state in
            state.lastContact = .now
            state.error = nil
        }
    }

    func note(_ error: ShipError) { state.withLock { $0.error = error } }

    /// Why the bucket did not answer the last time; nil if it did.
    var error: ShipError? { state.withLock { $0.error } }

    var status: FollowStatus {
        let (catalog, contact, error) = state.withLock { ($0.catalog, $0.lastContact, $0.error) }
        return FollowStatus(
            sequence: catalog.sequence, time: catalog.time, age: contact.map { $0.duration(to: .now) }, error: error,
            cachedBytes: cache.byteCount, shippedBytes: catalog.byteCount,
            isWhollyCached: missing(catalog).isEmpty)
    }

    // MARK: Reading

    /// Something that is read as a file.
    enum Source: Hashable, Sendable {
        case segment(UInt32)
        /// With its epoch: a later one may have another with the same number, and who has opened this one goes on
        /// reading it.
        case checkpoint(FollowCatalog.Checkpoint)
    }

    func byteCount(_ source: Source) -> Int? {
        let catalog = catalog
        switch source {
        case .segment(let number): return catalog.segment(number)?.end
        case .checkpoint(let checkpoint): return checkpoint.byteCount
        }
    }

    /// The parts that a file consists of at the moment.
    private func parts(_ source: Source, _ catalog: FollowCatalog) -> [FollowCatalog.Part]? {
        switch source {
        case .segment(let number):
            return catalog.segment(number)?.parts
        case .checkpoint(let checkpoint):
            return [
                FollowCatalog.Part(
                    key: checkpoint.key, offset: 0, byteCount: checkpoint.byteCount, lower: 0,
                    upper: checkpoint.byteCount, epoch: checkpoint.epoch)
            ]
        }
    }

    /// One chunk of a file: its key, and where in the file it lies now.
    private struct Chunk {
        var key: ChunkCache.Key
        var range: Range<Int>
        var parts: [FollowCatalog.Part]
        /// Whether nothing will be added to it.
        var isWhole: Bool
    }

    private func chunk(_ source: Source, _ index: Int, _ catalog: FollowCatalog) -> Chunk? {
        guard let all = parts(source, catalog), let end = all.last?.upper else { return nil }
        let lower = index * ChunkCache.chunkBytes
        let full = lower + ChunkCache.chunkBytes
        guard lower < end else { return nil }
        let range = lower..<min(full, end)
        let parts = all.filter { $0.lower < range.upperBound && $0.upper > range.lowerBound }
        // A chunk in which one epoch takes over from another is of the later one.
        let epoch = parts.map(\.epoch).max() ?? 0
        let log = catalog.logs[epoch] ?? 0
        let isLast = source == .segment(catalog.segments.last?.number ?? 0)
        switch source {
        case .segment(let number):
            return Chunk(
                key: .init(kind: .segment, log: log, epoch: epoch, number: number, chunk: UInt32(index)),
                range: range, parts: parts, isWhole: end >= full || !isLast)
        case .checkpoint(let checkpoint):
            return Chunk(
                key: .init(
                    kind: .checkpoint, log: log, epoch: epoch, number: checkpoint.number, chunk: UInt32(index)),
                range: range, parts: parts, isWhole: true)
        }
    }

    /// Bytes of a file from an offset on to the end of the chunk that it lies in; none at the file's end. Blocks until
    /// they are there.
    func bytes(_ source: Source, from offset: Int) throws(ShipError) -> ArraySlice<UInt8> {
        let index = offset / ChunkCache.chunkBytes
        guard let chunk = chunk(source, index, catalog), offset < chunk.range.upperBound else { return [] }
        let within = offset - chunk.range.lowerBound
        if let found = cache.bytes(chunk.key, atLeast: chunk.range.count) { return found[within..<chunk.range.count] }
        let found = try BucketRequestExecutor.wait { await self.fetchOnce(source, index) }.get()
        guard found.count > within else { return [] }
        return found[within...]
    }

    /// Fetches a chunk; all who want it at once wait for one request.
    func fetchOnce(_ source: Source, _ index: Int) async -> Result<[UInt8], ShipError> {
        guard let chunk = chunk(source, index, catalog) else {
            return .failure(ShipError(.missing, "a part of the log is not in the bucket any more"))
        }
        let task = state.withLock { state in
            if let task = state.fetching[chunk.key] { return task }
            let task = Task.detached(executorPreference: BucketRequestExecutor.shared) {
                let result = await self.fetch(source, index)
                _ = self.state.withLock { $0.fetching.removeValue(forKey: chunk.key) }
                return result
            }
            state.fetching[chunk.key] = task
            return task
        }
        let result = await task.value
        // The one that was under way may have begun before the chunk grew.
        if case .success(let bytes) = result, bytes.count < chunk.range.count { return await fetch(source, index) }
        return result
    }

    private func fetch(_ source: Source, _ index: Int) async -> Result<[UInt8], ShipError> {
        var isSecond = false
        while true {
            guard let chunk = chunk(source, index, catalog) else {
                return .failure(ShipError(.missing, "a part of the log is not in the bucket any more"))
            }
            if let found = cache.bytes(chunk.key, atLeast: chunk.range.count) { return .success(found) }
            do throws(ShipError) {
                let bytes = try await load(chunk)
                cache.keep(chunk.key, bytes, isWhole: chunk.isWhole)
                noteContact()
                return .success(bytes)
            } catch {
                // Pieces are put together into whole segments, and go then.
                guard error.code == .missing, !isSecond else {
                    if error.mayPass { note(error) }
                    return .failure(error)
                }
                isSecond = true
                do throws(ShipError) { try await reload() } catch { return .failure(error) }
            }
        }
    }

    /// Reads what a bucket has; nil where there is no log.
    static func catalog(_ objects: ShipBucket) async throws(ShipError) -> FollowCatalog? {
        guard var log = try await ShippedLog.read(objects) else { return nil }
        try log.requireEnd()
        try await log.removeStrayCheckpoints(objects)
        var end: LogPosition?
        if let newest = log.checkpoints.last {
            end = try await objects.end(ofCheckpoint: ShipKey.checkpoint(newest.epoch, newest.number))
        }
        return FollowCatalog(
            log, bucket: objects.description, holes: try await holes(log, objects), newestEnd: end)
    }

    /// The segments that a log does not need any more: what the beginning of its last one says.
    private static func holes(_ log: ShippedLog, _ objects: ShipBucket) async throws(ShipError) -> [ClosedRange<UInt32>]
    {
        guard let last = log.segments.last(where: { $0.isComplete && !$0.parts.isEmpty }) else { return [] }
        let records = try await RestorePointFinder.firstRecords(last, log.head.storeUUID, objects)
        guard case .all(let holes)? = records.first?.holes else { return [] }
        return holes
    }

    /// Behind the last piece of a segment: looks for checkpoints, which come with sealed segments, and whether segments
    /// before are there whole by now. Two requests, however much is in the bucket, and one for each checkpoint and each
    /// segment that is found.
    func noteSealed() async throws(ShipError) {
        let (before, objects) = (catalog, objects)
        let prefix = ShipKey.checkpointPrefix + ShipKey.hex(before.epoch) + "/"
        let last = before.checkpoints.last { $0.epoch == before.epoch }?.key
        let list = try await asking { () async throws(ObjectStoreError) in
            try await objects.list(prefix: prefix, after: last, limit: 1000)
        }
        // Whoever opens the store reads on behind the newest one: that has to be of what is known. The others are
        // listed again behind the next segment.
        let count = try await objects.count(ofCheckpoints: list.objects.map(\.key), through: before.end)
        let reached = Array(list.objects.prefix(count))
        var newestEnd: LogPosition?
        if let newest = reached.last { newestEnd = try await objects.end(ofCheckpoint: newest.key) }
        let wholes = try await wholes(before)
        state.withLock { state in
            // Otherwise all has been read anew meanwhile.
            guard state.catalog.epoch == before.epoch else { return }
            let open = state.open
            state.catalog.add(reached, newestEnd: newestEnd, isEncrypted: objects.isEncrypted) { open[$0] != nil }
            for whole in wholes {
                state.catalog.replace(whole.segment, key: whole.key, byteCount: whole.byteCount)
            }
        }
    }

    /// A segment that the bucket has whole.
    private struct Whole {
        var segment: FollowCatalog.Segment
        var key: String
        var byteCount: Int
    }

    /// So many segments are looked for at once, if they are found.
    private static let wholeMaximum = 8

    /// Looks for segments that the bucket has whole by now, until one is not there. The next time it begins behind that
    /// one, which may never come.
    private func wholes(_ catalog: FollowCatalog) async throws(ShipError) -> [Whole] {
        let (last, candidates) = (state.withLock { $0.wholeAsked }, catalog.replaceable)
        var found: [Whole] = []
        for segment in candidates.filter({ $0.number > last }) + candidates.filter({ $0.number <= last }) {
            guard found.count < Self.wholeMaximum else { break }
            state.withLock { $0.wholeAsked = segment.number }
            let key = ShipKey.whole(catalog.epoch, segment.number)
            guard let header = try await ShippedLog.header(key, objects) else { break }
            guard header.kind == .whole, header.storeUUID == catalog.storeUUID, header.epoch == catalog.epoch,
                header.position == LogPosition(segment: segment.number, offset: 0)
            else { throw ShipError(.damaged, "an object is not the one that its name says", key: key) }
            found.append(Whole(segment: segment, key: key, byteCount: header.payloadByteCount))
        }
        return found
    }

    /// Counts a file of a segment that is opened; false if there is none.
    func open(_ source: Source) -> Bool {
        state.withLock { state in
            guard case .segment(let number) = source else { return true }
            guard state.catalog.segment(number) != nil else { return false }
            state.open[number, default: 0] += 1
            return true
        }
    }

    func close(_ source: Source) {
        guard case .segment(let number) = source else { return }
        state.withLock { state in
            guard let count = state.open[number] else { return }
            state.open[number] = count > 1 ? count - 1 : nil
            if count == 1 { state.catalog.retired.removeAll { $0.number == number } }
        }
    }

    /// Reads the bucket's names anew.
    func reload() async throws(ShipError) {
        guard let found = try await Self.catalog(objects) else {
            throw ShipError(.missing, "the log is not in \(objects.description) any more", key: ShipKey.head)
        }
        guard catalog.isContinued(by: found) else {
            throw ShipError(
                .damaged,
                "another log is shipped to \(objects.description) now: another store's, or it was begun anew. Start the "
                    + "follower again", key: ShipKey.head)
        }
        replace(found)
    }

    private func load(_ chunk: Chunk) async throws(ShipError) -> [UInt8] {
        var pieces = [[UInt8]](repeating: [], count: chunk.parts.count)
        let (objects, parts, range) = (objects, chunk.parts, chunk.range)
        let results = await withTaskGroup(of: (Int, Result<[UInt8], ShipError>).self) { group in
            var next = 0
            func add() {
                guard next < parts.count else { return }
                let (number, part) = (next, parts[next])
                next += 1
                group.addTask { (number, await self.load(part, range, objects)) }
            }
            for _ in 0..<8 { add() }
            var results: [(Int, Result<[UInt8], ShipError>)] = []
            while let result = await group.next() {
                results.append(result)
                add()
            }
            return results
        }
        for (number, result) in results { pieces[number] = try result.get() }
        let bytes = Array(pieces.joined())
        guard bytes.count == range.count else {
            throw ShipError(.damaged, "\(bytes.count) bytes of the log were read, and should be \(range.count)")
        }
        return bytes
    }

    private func load(
        _ part: FollowCatalog.Part, _ range: Range<Int>, _ objects: ShipBucket
    ) async -> Result<[UInt8], ShipError> {
        let wanted = max(range.lowerBound, part.lower) - part.offset..<min(range.upperBound, part.upper) - part.offset
        do throws(ShipError) {
            if part.byteCount <= wholeObjectBytes {
                guard let object = try await ShippedLog.object(part.key, objects) else { throw Self.gone(part.key) }
                guard wanted.upperBound <= object.payload.count else { throw Self.short(part.key) }
                return .success(Array(object.payload[wanted]))
            }
            guard let bytes = try await objects.payload(part.key, byteCount: part.byteCount, wanted) else {
                throw Self.gone(part.key)
            }
            return .success(bytes)
        } catch {
            return .failure(error)
        }
    }

    private static func gone(_ key: String) -> ShipError {
        ShipError(
            .missing,
            "an object of the log is gone: it was collected, or somebody has removed it. Open the store again", key: key
        )
    }

    private static func short(_ key: String) -> ShipError {
        ShipError(.damaged, "an object is shorter than its name says", key: key)
    }

    // MARK: Filling the cache

    /// Puts a piece that has just come behind what is there of its chunks.
    private func cachePiece(_ header: ObjectHeader, _ payload: [UInt8], _ catalog: FollowCatalog) {
        let source = Source.segment(header.position.segment)
        var offset = header.position.offset
        let end = header.end.offset
        while offset < end {
            let index = offset / ChunkCache.chunkBytes
            guard let chunk = chunk(source, index, catalog) else { return }
            let upper = min(end, chunk.range.upperBound)
            let added = payload[(offset - header.position.offset)..<(upper - header.position.offset)]
            let before = offset - chunk.range.lowerBound
            if before == 0 {
                cache.keep(chunk.key, Array(added), isWhole: chunk.isWhole)
            } else if let found = cache.bytes(chunk.key, atLeast: before) {
                cache.keep(chunk.key, Array(found.prefix(before)) + added, isWhole: chunk.isWhole)
            }
            offset = upper
        }
        // What is sealed grows no more.
        guard header.nextSegment != nil, end > 0 else { return }
        let last = (end - 1) / ChunkCache.chunkBytes
        guard let chunk = chunk(source, last, catalog), let bytes = cache.bytes(chunk.key, atLeast: chunk.range.count)
        else { return }
        cache.keep(chunk.key, bytes, isWhole: true)
    }

    /// The chunks that are not in the cache: the newest checkpoint's, then the log's from its end.
    private func missing(_ catalog: FollowCatalog) -> [(source: Source, index: Int)] {
        var sources: [Source] = catalog.checkpoints.suffix(1).map { .checkpoint($0) }
        sources += catalog.segments.reversed().map { .segment($0.number) }
        var missing: [(Source, Int)] = []
        for source in sources {
            let end = parts(source, catalog)?.last?.upper ?? 0
            for index in 0..<(end + ChunkCache.chunkBytes - 1) / ChunkCache.chunkBytes {
                guard let chunk = chunk(source, index, catalog) else { continue }
                if !cache.has(chunk.key, atLeast: chunk.range.count) { missing.append((source, index)) }
            }
        }
        return missing
    }

    /// Fetches what is missing, a few chunks at once, if all of the log has room. Stops at the first failure.
    func fetchAhead() async {
        let catalog = catalog
        guard catalog.byteCount + catalog.segments.count * 32 <= cache.budgetBytes else { return }
        let missing = missing(catalog)
        await withTaskGroup(of: Bool.self) { group in
            var next = 0
            func add() {
                guard next < missing.count, !Task.isCancelled else { return }
                let (source, index) = missing[next]
                next += 1
                group.addTask {
                    if case .success = await self.fetchOnce(source, index) { return true }
                    return false
                }
            }
            for _ in 0..<4 { add() }
            while let isDone = await group.next() {
                guard isDone else { return }
                add()
            }
        }
    }

    /// Writes to the cache what is only in memory.
    func write() { cache.write(catalog) }
}

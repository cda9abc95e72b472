internal import StrataIO
internal import StrataLog
internal import StrataObjectStore
internal import StrataSupport
internal import SystemPackage

/// What ships: one thing after the other.
actor ShipWorker {
    struct Progress: Sendable {
        var sequence: UInt64
        var unshippedBytes: Int64
        var oldestUnshippedTime: Int64?
        var epoch: UInt32
        var pieces: Int
        var pieceBytes: Int64
        var gaps: Int
        var problem: String?
    }

    /// An object that was sent, or is about to be, until it is known what has become of it. The same bytes are sent
    /// again under the same name: a piece that is cut anew could be longer, and pass over a fence.
    private struct Pending {
        var key: String
        var header: ObjectHeader
        var bytes: [UInt8]
        var digest: ObjectDigest
    }

    /// A sealed segment that lies in the bucket in pieces.
    private struct Sealed {
        var header: ObjectHeader
    }

    private let path: FilePath
    private let fileSystem: any FileSystem
    private var objects: ShipBucket
    private let options: ShipOptions
    private let calls = BlockingCalls("strata.ship")
    private var scanner: LogScanner?
    /// That of a shipper that has no epoch yet.
    private var beginning: LogScanner?
    private var lead: EpochLead?
    /// Where the log in the bucket ends.
    private var place = ShipHead.Place(segment: 0, offset: 0, sequence: 0, time: .min, checksum: 0)
    private var pending: Pending?
    private var failure: ShipError?
    /// Whether whoever has fenced this shipper ships another store, which has taken the place of this one.
    private(set) var isReplaced = false
    /// The segment that is being shipped: where it begins, as far as that is known, and in how many pieces it lies.
    private var segmentStart: (sequence: UInt64, time: Int64)?
    private var segmentPieces = 0
    private var sealed: [Sealed] = []
    private var checkpointEnd: LogPosition?
    private var checkpointNumber: UInt32?
    private var loggedSinceCheckpoint = 0
    private var pieces = 0
    private var pieceBytes: Int64 = 0
    private var gaps = 0
    private var problem: String?
    /// The segment that the log went on in when its shipping began: what was compacted away before was never to be
    /// shipped.
    private var firstSegment: UInt32 = 0
    private var keeper: SlotKeeper?
    /// When it was last looked whether the head is still there and ours.
    private var lastLook: Int64 = 0
    /// Since when something has been waiting to be shipped, by the shipper's clock.
    private var waitingSince: Int64?
    /// A fence that was met, until it is known whether another store has taken the place of this one.
    private var fence: ShipError?
    private var collected: Int64?
    private var collectedPieces = 0

    init(_ path: FilePath, _ fileSystem: any FileSystem, _ objects: any ObjectStore, _ options: ShipOptions) {
        self.path = path
        self.fileSystem = fileSystem
        self.objects = ShipBucket(objects, options.cipher)
        self.options = options
    }

    /// With work to do, so much time passes before it is looked whether the head is still there and ours.
    private static let lookNanoseconds: Int64 = 60_000_000_000
    /// So many segments are kept open for when compaction removes them.
    private static let heldMaximum = 64
    /// A collection is begun that often, if something was shipped since, and the first so long after the start.
    private static let collectionNanoseconds: Int64 = 86_400_000_000_000
    private static let firstCollectionNanoseconds: Int64 = 600_000_000_000

    /// Ships what is there.
    ///
    /// - Parameters:
    ///   - isLast: Whether the newest checkpoint is shipped however near the last one is.
    ///   - note: Called whenever something has been shipped.
    func round(isLast: Bool, note: @Sendable (Progress) -> Void) async throws(ShipError) {
        if let failure { throw failure }
        do throws(ShipError) {
            try await settleFence()
            if lead == nil { try await open(note) }
            try await ship(note)
            try await shipWholes()
            try await shipCheckpoint(isLast: isLast)
            if isLast, lead?.isBehind(place.position) == true { try await look(isDue: true) }
            try await collect(isLast: isLast)
        } catch {
            var error = error
            if error.code == .fenced {
                fence = error
                do throws(ShipError) { try await settleFence() } catch let other { error = other }
            }
            if !error.mayPass, error.code != .cancelled { (failure, beginning) = (error, nil) }
            throw error
        }
    }

    /// Behind a fence: makes the writer refuse further commits, in whichever process it is, if its store has been
    /// replaced. A second shipper of the same store replaces nothing. As long as the bucket does not say whose the
    /// fence is, nothing is decided.
    ///
    /// - Throws: that there is a fence; or why it is not known yet whose it is, which may pass.
    private func settleFence() async throws(ShipError) {
        guard let fence else { return }
        do throws(ShipError) {
            if let found = try await ShippedLog.head(objects), found.head.epochs.last?.line != keeper?.slot.line {
                isReplaced = true
            }
        } catch {
            if error.mayPass || error.code == .cancelled { throw error }
        }
        if isReplaced, let scanner { _ = try? await calls.run { () throws(StoreError) in scanner.refuseWrites() } }
        throw fence
    }

    // MARK: Beginning

    private func open(_ note: @Sendable (Progress) -> Void) async throws(ShipError) {
        let (path, fileSystem) = (path, fileSystem)
        let before = beginning
        beginning = nil
        let scanner = try await calls.run { () throws(StoreError) in
            if let before { return before }
            return try LogScanner(path, in: fileSystem)
        }
        objects.store = scanner.directory.string
        let found = try await SlotKeeper(scanner, fileSystem, objects, calls, options)
        // While the bucket cannot be reached, the gauges show what waits since the last segment that was shipped.
        place.segment = found.segment
        let end = try await calls.run { () throws(StoreError) in try scanner.extent().end }
        let waiting = try await unshipped(scanner, end)
        note(progress(oldest: waiting.time, bytes: waiting.bytes))
        if !found.isWaitedFor {
            let maximumBytes = options.slotMaximumBytes
            try await calls.run { () throws(StoreError) in
                try scanner.hold(0...end.segment, maximumBytes: maximumBytes, maximumCount: Self.heldMaximum)
            }
            // What is held stays while the bucket does not answer.
            beginning = scanner
        }
        var keeper = found
        try await keeper.adoptEarlier(objects)
        self.keeper = keeper
        let begun = try await EpochLead.take(scanner, keeper.slot, calls, objects, options) {
            // Whoever starts next has to know the name that the head is about to have.
            if keeper.isNew { await writeSlot(segment: 0, hasShipped: false) }
        }
        beginning = nil
        lastLook = options.clock()
        self.scanner = scanner
        lead = begun.lead
        place = begun.place
        segmentStart = begun.segmentStart
        segmentPieces = begun.segmentPieces
        checkpointEnd = begun.checkpointEnd
        checkpointNumber = nil
        firstSegment = begun.isFirst ? end.segment : 0
        await writeSlot(segment: place.segment)
    }

    private func progress(oldest: Int64?, bytes: Int64) -> Progress {
        Progress(
            sequence: place.sequence, unshippedBytes: bytes, oldestUnshippedTime: oldest,
            epoch: lead?.epoch ?? 0, pieces: pieces, pieceBytes: pieceBytes, gaps: gaps, problem: problem)
    }

    /// Ends what ``open(_:)`` has begun, and lets the next shipper of this store go on in the epoch, if nothing is on
    /// its way to the bucket. Shipping again begins anew.
    func release() async {
        guard failure == nil, fence == nil, pending == nil, sealed.isEmpty, let lead else { return }
        self.lead = nil
        self.scanner = nil
        let release = ShipSlot.Release(
            epoch: lead.epoch, owner: lead.owner, position: place.position, sequence: place.sequence,
            checksum: place.checksum)
        // Without it, the next one takes an epoch of its own.
        await writeSlot(segment: place.segment, release: release)
    }

    // MARK: Pieces

    private func ship(_ note: @Sendable (Progress) -> Void) async throws(ShipError) {
        guard let scanner else { return }
        var extent = try await calls.run { () throws(StoreError) in try scanner.extent() }
        guard pending != nil || place.position < extent.end else {
            waitingSince = nil
            note(progress(oldest: nil, bytes: 0))
            // Once, when a minute has passed since the last piece: an idle store costs nothing.
            if lead?.isBehind(place.position) == true { try await look() }
            return
        }
        while pending != nil || place.position < extent.end {
            let waiting = try await unshipped(scanner, extent.end)
            note(progress(oldest: waiting.time, bytes: waiting.bytes))
            try await look()
            if pending == nil { pending = try await nextPiece(scanner, extent) }
            try await send()
            // Whoever waits is told behind this, and a piece may have taken long.
            try await look()
            extent = try await calls.run { () throws(StoreError) in try scanner.extent() }
        }
        note(progress(oldest: nil, bytes: 0))
    }

    /// Looks whether the head is still there and ours, if that was last seen a minute ago, or it is due in any case;
    /// and says there how far the log has come.
    private func look(isDue: Bool = false) async throws(ShipError) {
        let now = options.clock()
        // A clock that was set back is no reason to wait.
        guard isDue || now < lastLook || now - lastLook >= Self.lookNanoseconds, var looking = lead else { return }
        try await looking.look(objects, place.position)
        lead = looking
        lastLook = now
    }

    /// How much waits to be shipped, and since when: the time of the oldest record, or when it was first seen here, by
    /// whichever clock says more.
    private func unshipped(
        _ scanner: LogScanner, _ end: LogPosition
    ) async throws(ShipError) -> (bytes: Int64, time: Int64?) {
        let place = place
        let waiting: (bytes: Int64, time: Int64?) = try await calls.run { () throws(StoreError) in
            guard place.position < end else { return (0, nil) }
            var bytes = Int64(0)
            var time: Int64?
            for segment in try scanner.segments() where segment >= place.segment && segment <= end.segment {
                let from = segment == place.segment ? place.offset : 0
                let to = segment == end.segment ? end.offset : (try? scanner.byteCount(of: segment)) ?? from
                bytes += Int64(max(0, to - from))
                // Not there where the segment ends, or has been compacted away.
                if time == nil { time = try? scanner.time(at: LogPosition(segment: segment, offset: from)) }
            }
            return (bytes, time)
        }
        guard waiting.bytes > 0 else {
            waitingSince = nil
            return waiting
        }
        let since = waitingSince ?? options.clock()
        waitingSince = since
        return (waiting.bytes, min(waiting.time ?? since, since))
    }

    /// What is shipped next.
    private func nextPiece(
        _ scanner: LogScanner, _ extent: LogScanner.Extent
    ) async throws(ShipError) -> Pending {
        guard let lead else { throw ShipError(.invalid, "the shipper has no epoch") }
        let (place, maximum, first) = (place, options.pieceMaximumBytes, firstSegment)
        struct Cut: Sendable {
            var bytes: [UInt8] = []
            var records: [LoggedRecord] = []
            var next: UInt32?
            var isGap = false
            var start: SegmentStart?
        }
        let cut: Cut = try await calls.run { () throws(StoreError) in
            var cut = Cut()
            let later = try scanner.readableSegments().filter { $0 > place.segment && $0 <= extent.end.segment }
            for segment in later.prefix(Self.heldMaximum) { try scanner.hold(segment) }
            let isOver = extent.end.segment > place.segment
            guard try scanner.hold(place.segment) else {
                // Compacted away before it was shipped.
                guard isOver, let next = later.first else {
                    throw StoreError(
                        .corruption, "the segment that the log goes on in is missing", segment: place.segment)
                }
                cut.next = next
                cut.isGap = true
                return cut
            }
            if place.offset == 0 { cut.start = try scanner.start(of: place.segment) }
            var limit = extent.end.offset
            var isLimitKnown = !isOver
            if isOver {
                if later.first == place.segment + 1 {
                    limit = try scanner.start(of: place.segment + 1).previousValidByteCount
                    isLimitKnown = true
                } else {
                    // The next segment, which says how long this one is, has gone: every sound record counts.
                    limit = try scanner.byteCount(of: place.segment)
                }
            }
            if place.offset < limit {
                let previous = cut.start.map(\.previousChecksum) ?? place.checksum
                // A flush first: what is read after it is on the disk.
                if !isOver, !extent.isDurable { try scanner.flush(place.segment) }
                let run = try scanner.run(
                    from: place.position, upTo: limit, previousChecksum: previous, maximumBytes: maximum)
                cut.bytes = run.bytes
                cut.records = run.records
            }
            let end = place.offset + cut.bytes.count
            if isOver, end >= limit || (!isLimitKnown && cut.bytes.isEmpty) {
                let next = place.segment + 1
                // If that has been compacted away, a gap begins there.
                cut.next = next < first ? later.first : next
            } else if cut.bytes.isEmpty {
                throw StoreError(
                    .corruption, "no sound record lies where the log should go on", segment: place.segment,
                    offset: place.offset)
            }
            return cut
        }
        var header = ObjectHeader(
            kind: .piece, storeUUID: scanner.storeUUID, epoch: lead.epoch, position: place.position,
            previousSequence: cut.start?.previousSequence ?? place.sequence,
            sequence: cut.records.last?.sequence ?? cut.start?.previousSequence ?? place.sequence,
            previousTime: place.time,
            time: cut.records.reduce(place.time) { max($0, $1.timestampNanoseconds) },
            checksum: cut.records.last?.checksum ?? cut.start?.previousChecksum ?? place.checksum)
        header.isGap = cut.isGap
        if let next = cut.next {
            header.nextSegment = next
            header.validByteCount = place.offset + cut.bytes.count
        }
        header.payloadByteCount = cut.bytes.count
        let key = ShipKey.piece(lead.epoch, place.segment, place.offset)
        let bytes = try header.object(cut.bytes, key: key, cipher: objects.cipher)
        return Pending(key: key, header: header, bytes: bytes, digest: ObjectDigest(of: bytes))
    }

    /// Sends what is pending and waits until it is known to be there.
    private func send() async throws(ShipError) {
        guard let sent = pending, let lead else { return }
        do throws(ObjectStoreError) {
            let condition: PutCondition = lead.head.onlyWriter ? .always : .absent
            try await write(sent.key, sent.bytes, sent.digest, condition)
        } catch {
            guard case .preconditionFailed = error else { throw ShipError(error) }
            try await settle(sent)
        }
        pending = nil
        waitingSince = nil
        pieces += 1
        pieceBytes += Int64(sent.header.payloadByteCount)
        loggedSinceCheckpoint += sent.header.payloadByteCount
        if sent.header.position.offset == 0 {
            segmentStart = (sent.header.previousSequence, sent.header.previousTime)
            segmentPieces = 0
        }
        if sent.header.payloadByteCount > 0 { segmentPieces += 1 }
        let next = sent.header.next
        place = ShipHead.Place(
            segment: next.segment, offset: next.offset, sequence: sent.header.sequence, time: sent.header.time,
            checksum: sent.header.checksum)
        if sent.header.isGap {
            gaps += 1
            objects.tell(.gap)
            problem = "segments \(sent.header.position.segment) to \(next.segment - 1) were compacted away unshipped"
            segmentStart = nil
        }
        if sent.header.nextSegment != nil { try await leave(sent.header) }
    }

    private func write(
        _ key: String, _ bytes: [UInt8], _ digest: ObjectDigest, _ condition: PutCondition
    ) async throws(ObjectStoreError) {
        if bytes.count <= ObjectLimits.largestPut {
            _ = try await objects.put(key, bytes, digest: digest, if: condition)
        } else {
            _ = try await objects.upload(key, from: BytesSource(bytes), digest: digest, if: condition)
        }
    }

    /// There is something under the name: what was sent before, or a fence.
    private func settle(_ sent: Pending) async throws(ShipError) {
        if try await asking({ () async throws(ObjectStoreError) in try await objects.head(sent.key) })?.digest
            == sent.digest
        {
            return
        }
        guard let found = try await ShippedLog.header(sent.key, objects) else {
            throw ShipError(
                .store, "an object was there and is gone", key: sent.key,
                objectStoreError: .unavailable(key: sent.key, message: "an object was there and is gone"))
        }
        if found.kind == .fence { throw EpochLead.fenced(by: found.epoch, sent.key) }
        let contents = try await asking { () async throws(ObjectStoreError) in
            try await objects.get(sent.key, range: nil)
        }
        guard contents.bytes == sent.bytes else {
            throw ShipError(
                .conflict,
                "the bucket has another object under a name that only this shipper gives: its log is another one's, or was "
                    + "copied with its shipper. Nothing was overwritten", key: sent.key)
        }
    }

    /// A segment has been shipped to its end.
    private func leave(_ header: ObjectHeader) async throws(ShipError) {
        let first = header.position.segment
        if segmentPieces >= 2, let segmentStart, header.validByteCount <= options.wholeMaximumBytes,
            header.validByteCount > 0
        {
            var whole = header
            whole.kind = .whole
            whole.position = LogPosition(segment: first, offset: 0)
            whole.previousSequence = segmentStart.sequence
            whole.previousTime = segmentStart.time
            whole.isGap = false
            if !header.isGap { sealed.append(Sealed(header: whole)) }
        }
        segmentStart = nil
        segmentPieces = 0
        scanner?.letGo(before: min(sealed.first?.header.position.segment ?? .max, place.segment))
        await writeSlot(segment: place.segment)
    }

    private func writeSlot(segment: UInt32, hasShipped: Bool = true, release: ShipSlot.Release? = nil) async {
        guard var changed = keeper else { return }
        do throws(ShipError) {
            try await changed.write(segment: segment, hasShipped: hasShipped, release: release)
        } catch {
            // Where nothing may be written beside the store, compaction does not wait, and the next start has to be
            // told that it takes over.
            problem = "compaction does not wait for this shipper, and the next one has to take over: \(error)"
        }
        keeper = changed
    }

    // MARK: Whole segments and checkpoints

    private func shipWholes() async throws(ShipError) {
        guard let scanner, let lead else { return }
        while let next = sealed.first {
            let segment = next.header.position.segment
            let count = next.header.validByteCount
            let bytes: [UInt8]
            do throws(ShipError) {
                bytes = try await calls.run { () throws(StoreError) in try scanner.bytes(of: segment, 0..<count) }
            } catch {
                // It was shipped in pieces, which stay.
                sealed.removeFirst()
                continue
            }
            guard bytes.count == count else {
                sealed.removeFirst()
                continue
            }
            var header = next.header
            header.payloadByteCount = count
            try await writeOnce(ShipKey.whole(lead.epoch, segment), header, bytes)
            sealed.removeFirst()
            scanner.letGo(before: min(sealed.first?.header.position.segment ?? .max, place.segment))
        }
    }

    private func shipCheckpoint(isLast: Bool) async throws(ShipError) {
        guard let scanner, let lead, isLast || loggedSinceCheckpoint >= options.checkpointLogBytes else { return }
        guard let found = try await calls.run({ () throws(StoreError) in try scanner.newestCheckpoint() }),
            found.number != checkpointNumber, found.end <= place.position,
            found.end > checkpointEnd ?? LogPosition(segment: 0, offset: 0),
            let bytes = try await calls.run({ () throws(StoreError) in try scanner.checkpoint(found.number) })
        else { return }
        var header = ObjectHeader(
            kind: .checkpoint, storeUUID: scanner.storeUUID, epoch: lead.epoch, position: found.end,
            previousSequence: found.sequence, sequence: found.sequence, previousTime: found.timestampNanoseconds,
            time: found.timestampNanoseconds, checksum: found.checksum)
        header.payloadByteCount = bytes.count
        try await writeOnce(ShipKey.checkpoint(lead.epoch, found.number), header, bytes)
        checkpointEnd = found.end
        checkpointNumber = found.number
        loggedSinceCheckpoint = 0
    }

    /// Writes an object that nobody else writes, and that may be there from an attempt before.
    private func writeOnce(_ key: String, _ header: ObjectHeader, _ payload: [UInt8]) async throws(ShipError) {
        let bytes = try header.object(payload, key: key, cipher: objects.cipher)
        let digest = ObjectDigest(of: bytes)
        do throws(ObjectStoreError) {
            try await write(key, bytes, digest, lead?.head.onlyWriter == true ? .always : .absent)
        } catch {
            guard case .preconditionFailed = error else { throw ShipError(error) }
        }
    }

    // MARK: Collecting

    private func collect(isLast: Bool) async throws(ShipError) {
        let now = options.clock()
        let due: Int64
        if let collected {
            due = collected + Self.collectionNanoseconds
        } else {
            collected = now - Self.collectionNanoseconds + Self.firstCollectionNanoseconds
            due = now + Self.firstCollectionNanoseconds
        }
        // Who ships now and then collects now and then.
        guard lead != nil, pieces > collectedPieces, now >= due || isLast && options.retention != nil else { return }
        collected = now
        collectedPieces = pieces
        do throws(ShipError) {
            _ = try await LogCollector(
                objects, retention: options.retention, clock: options.clock
            ).collect()
        } catch {
            // The log goes on being shipped; space is lost, which somebody has to know.
            problem = "nothing was collected: \(error)"
        }
    }
}

internal import StrataIO
internal import StrataLog
internal import StrataObjectStore
internal import StrataSupport
internal import SystemPackage

/// What ships: one thing after the other.
actor ShipWorker {
    struct Progress: Sendable {
        /// The last transaction that whoever waits for it may be told of.
        var sequence: UInt64
        /// How often it was looked whether the head is still there and ours, and when that was done last.
        var looks: Int
        var lookTime: Int64
        /// What waits to be shipped; nil if it was not found out.
        var unshipped: (bytes: Int64, oldestTime: Int64?)?
        var epoch: UInt32
        var pieces: Int
        var pieceBytes: Int64
        var gaps: Int
        var problem: String?
    }

    /// What is to be done.
    enum Round: Sendable {
        case usual
        /// The newest checkpoint is shipped, too, however near the last one is.
        case last
        /// Nothing is shipped. It is looked whether the head is still there and ours.
        case look
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
    struct Sealed {
        var header: ObjectHeader
    }

    private let path: FilePath
    private let fileSystem: any FileSystem
    var objects: ShipBucket
    let options: ShipOptions
    let calls = BlockingCalls("strata.ship")
    private var isAtWork = false
    private var queue: [CheckedContinuation<Void, Never>] = []
    var scanner: LogScanner?
    /// That of a shipper that has no epoch yet.
    private var beginning: LogScanner?
    var lead: EpochLead?
    /// Where the log in the bucket ends.
    var place = ShipHead.Place(segment: 0, offset: 0, sequence: 0, time: .min, checksum: 0)
    private var pending: Pending?
    private var failure: ShipError?
    /// Whether whoever has fenced this shipper ships another store, which has taken the place of this one.
    private(set) var isReplaced = false
    /// The segment that is being shipped: where it begins, as far as that is known, and in how many pieces it lies.
    private var segmentStart: (sequence: UInt64, time: Int64)?
    private var segmentPieces = 0
    var sealed: [Sealed] = []
    var checkpointEnd: LogPosition?
    var checkpointNumber: UInt32?
    var loggedSinceCheckpoint = 0
    var pieces = 0
    private var pieceBytes: Int64 = 0
    private var gaps = 0
    var problem: String?
    /// The segment that the log went on in when its shipping began: what was compacted away before was never to be
    /// shipped.
    private var firstSegment: UInt32 = 0
    private var keeper: SlotKeeper?
    /// When it was last looked whether the head is still there and ours, and how often.
    private var lastLook: Int64 = 0
    private var looks = 0
    /// The last transaction in the bucket behind which no look was due.
    private var vouchedSequence: UInt64 = 0
    /// Since when something has been waiting to be shipped, by the shipper's clock.
    private var waitingSince: Int64?
    /// A fence that was met, until it is known whether another store has taken the place of this one.
    private var fence: ShipError?
    var collected: Int64?
    var collectedPieces = 0

    init(_ path: FilePath, _ fileSystem: any FileSystem, _ objects: any ObjectStore, _ options: ShipOptions) {
        self.path = path
        self.fileSystem = fileSystem
        self.objects = ShipBucket(objects, options.cipher)
        self.options = options
    }

    /// With work to do, so much time passes before it is looked whether the head is still there and ours.
    static let lookNanoseconds: Int64 = 60_000_000_000

    /// Ships what is there.
    ///
    /// - Parameters:
    ///   - isAsked: Whether somebody waits for a look at the head.
    ///   - note: Called whenever something has been shipped.
    func round(
        _ round: Round, isAsked: Bool = false, note: @Sendable (Progress) -> Void
    ) async throws(ShipError) {
        await enter()
        defer { leave() }
        if let failure { throw failure }
        let isLast = round == .last
        do throws(ShipError) {
            try await settleFence()
            if round == .look {
                try await look(isDue: true)
                return note(progress(nil))
            }
            if lead == nil { try await open(note) }
            try await ship(isAsked: isAsked, note)
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

    /// Waits until nobody else is at work: a look may be asked for at any time.
    private func enter() async {
        guard isAtWork else {
            isAtWork = true
            return
        }
        await withCheckedContinuation { queue.append($0) }
    }

    private func leave() {
        if queue.isEmpty { isAtWork = false } else { queue.removeFirst().resume() }
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
        note(progress(waiting))
        if !found.isWaitedFor {
            let maximumBytes = options.slotMaximumBytes
            try await calls.run { () throws(StoreError) in
                try scanner.hold(0...end.segment, maximumBytes: maximumBytes, maximumCount: PieceCut.heldMaximum)
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
        looks += 1
        self.scanner = scanner
        lead = begun.lead
        place = begun.place
        vouchedSequence = place.sequence
        segmentStart = begun.segmentStart
        segmentPieces = begun.segmentPieces
        checkpointEnd = begun.checkpointEnd
        checkpointNumber = nil
        firstSegment = begun.isFirst ? end.segment : 0
        await writeSlot(segment: place.segment)
    }

    private func progress(_ unshipped: (bytes: Int64, oldestTime: Int64?)?) -> Progress {
        Progress(
            sequence: vouchedSequence, looks: looks, lookTime: lastLook, unshipped: unshipped, epoch: lead?.epoch ?? 0,
            pieces: pieces, pieceBytes: pieceBytes, gaps: gaps, problem: problem)
    }

    /// Ends what ``open(_:)`` has begun, and lets the next shipper of this store go on in the epoch, if nothing is on
    /// its way to the bucket. Shipping again begins anew.
    func release() async {
        await enter()
        defer { leave() }
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

    private func ship(isAsked: Bool, _ note: @Sendable (Progress) -> Void) async throws(ShipError) {
        guard let scanner else { return }
        var isAsked = isAsked
        var extent = try await calls.run { () throws(StoreError) in try scanner.extent() }
        guard pending != nil || place.position < extent.end else {
            waitingSince = nil
            note(progress((0, nil)))
            // An idle store costs nothing, but once, a minute after the last piece, and for somebody who asks.
            guard isAsked || vouchedSequence != place.sequence || lead?.isBehind(place.position) == true else { return }
            try await look(isDue: isAsked)
            return note(progress((0, nil)))
        }
        while pending != nil || place.position < extent.end {
            let waiting = try await unshipped(scanner, extent.end)
            note(progress(waiting))
            try await look(isDue: isAsked)
            isAsked = false
            if pending == nil { pending = try await nextPiece(scanner, extent) }
            try await send()
            // Whoever waits is told behind this, and a piece may have taken long.
            try await look()
            extent = try await calls.run { () throws(StoreError) in try scanner.extent() }
        }
        note(progress((0, nil)))
    }

    /// Looks whether the head is still there and ours, if that was last seen a minute ago, or it is due in any case;
    /// and says there how far the log has come. Behind that, whoever waits may be told what is in the bucket.
    private func look(isDue: Bool = false) async throws(ShipError) {
        let now = options.clock()
        // A clock that was set back is no reason to wait.
        if isDue || now < lastLook || now - lastLook >= Self.lookNanoseconds {
            if var looking = lead {
                try await looking.look(objects, place.position)
                lead = looking
            }
            lastLook = now
            looks += 1
        }
        vouchedSequence = place.sequence
    }

    /// How much waits to be shipped, and since when: the time of the oldest record, or when it was first seen here, by
    /// whichever clock says more.
    private func unshipped(
        _ scanner: LogScanner, _ end: LogPosition
    ) async throws(ShipError) -> (bytes: Int64, oldestTime: Int64?) {
        let place = place
        let waiting: (bytes: Int64, oldestTime: Int64?) = try await calls.run { () throws(StoreError) in
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
        return (waiting.bytes, min(waiting.oldestTime ?? since, since))
    }

    /// What is shipped next.
    private func nextPiece(
        _ scanner: LogScanner, _ extent: LogScanner.Extent
    ) async throws(ShipError) -> Pending {
        guard let lead else { throw ShipError(.invalid, "the shipper has no epoch") }
        let (place, maximum, first) = (place, options.pieceMaximumBytes, firstSegment)
        let cut = try await calls.run { () throws(StoreError) in
            try PieceCut(scanner, extent, from: place, firstSegment: first, maximumBytes: maximum)
        }
        let header = cut.header(scanner.storeUUID, epoch: lead.epoch, from: place)
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

    func write(
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
}

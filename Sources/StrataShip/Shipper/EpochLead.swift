internal import StrataLog
internal import StrataObjectStore
internal import SystemPackage

/// The right to write a bucket: an epoch of the head, taken as `docs/models/fencing.pml` has it.
struct EpochLead: Sendable {
    private(set) var head: ShipHead
    private var tag: String
    let epoch: UInt32
    let owner: String
    /// The head that the epoch was taken from; nil if there was none.
    private let before: ShipHead?

    /// An epoch, and where the log in the bucket ends.
    struct Begun {
        var lead: EpochLead
        var place: ShipHead.Place
        /// Whether nothing was in the bucket.
        var isFirst = false
        /// What is known of the segment that the log goes on in.
        var segmentStart: (sequence: UInt64, time: Int64)?
        var segmentPieces = 0
        /// Where the newest checkpoint in the bucket ends.
        var checkpointEnd: LogPosition?
    }

    static func fenced(by epoch: UInt32, _ key: String) -> ShipError {
        ShipError(
            .fenced,
            "another shipper has taken over with epoch \(epoch): this store has been replaced, and nothing of it is shipped any "
                + "more. If that was a mistake, stop the other one, and start this one again", key: key)
    }

    /// How often a head is tried to be replaced that somebody else replaces meanwhile.
    private static let attempts = 8

    // MARK: Taking

    /// Takes an epoch for a store, whose log has to go on where that of the bucket ends.
    ///
    /// - Parameter beforeClaim: called before the slot's line is written to the head. Until then nothing is changed.
    /// - Throws: `.unsafeStore`, `.conflict`, `.fenced` when somebody else takes over at the same time.
    static func take(
        _ scanner: LogScanner, _ slot: ShipSlot, _ calls: BlockingCalls, _ objects: ShipBucket, _ options: ShipOptions,
        beforeClaim: () async -> Void
    ) async throws(ShipError) -> Begun {
        let line = slot.line
        if !options.onlyWriter { try await probe(objects) }
        let owner = randomName()
        for _ in 0..<attempts {
            guard let log = try await ShippedLog.read(objects) else {
                let begun = try await create(
                    owner, slot, scanner, calls, objects, options, beforeClaim: beforeClaim)
                if let begun { return begun }
                continue
            }
            try await check(log, scanner, slot, calls, objects, options)
            if isReleased(log, slot, objects, options) {
                guard let begun = try await goOn(owner, log, objects, options) else { continue }
                return try await described(begun, log, scanner.storeUUID, objects)
            }
            await beforeClaim()
            guard let lead = try await claim(owner, line, log, objects, options) else { continue }
            let ended = try await lead.fence(log, objects)
            try await check(ended, scanner, slot, calls, objects, options)
            guard let begun = try await lead.begin(ended.end, objects) else {
                throw ShipError(
                    .fenced,
                    "another shipper has taken over while this one was about to. If it is not the one that is wanted, "
                        + "stop it, and start this one again", key: ShipKey.head)
            }
            return try await described(begun, ended, scanner.storeUUID, objects)
        }
        throw ShipError(
            .store, "the head is replaced again and again by others", key: ShipKey.head,
            objectStoreError: .unavailable(key: ShipKey.head, message: "it is replaced again and again"))
    }

    /// Takes an epoch for a store that is restored from the bucket.
    ///
    /// - Parameter find: which state is restored, of a log that no longer grows. The epoch begins there, which may be
    ///   before the log's end, and is where a restored store goes on writing even if a segment ends there.
    /// - Parameter beforeFence: called before the other shipper is stopped; may prevent that.
    static func take(
        line: String, _ objects: ShipBucket, _ options: ShipOptions, beforeFence: () throws(ShipError) -> Void,
        find: (ShippedLog) async throws(ShipError) -> RestorePoint
    ) async throws(ShipError) -> RestorePoint {
        if !options.onlyWriter { try await probe(objects) }
        let owner = randomName()
        for _ in 0..<attempts {
            guard let log = try await ShippedLog.read(objects) else { throw noLog(objects) }
            try log.requireEnd()
            guard let lead = try await claim(owner, line, log, objects, options) else { continue }
            try beforeFence()
            let ended = try await lead.fence(log, objects)
            let point = try await find(ended)
            guard try await lead.begin(point.place, objects) != nil else {
                throw ShipError(.fenced, "a shipper has taken over at the same time: try again", key: ShipKey.head)
            }
            return point
        }
        throw ShipError(.fenced, "shippers take over again and again", key: ShipKey.head)
    }

    static func noLog(_ objects: ShipBucket) -> ShipError {
        ShipError(
            .missing, "there is no log in \(objects.description): nothing was shipped there, or its head was removed",
            key: ShipKey.head)
    }

    static func randomName() -> String {
        var generator = SystemRandomNumberGenerator()
        return ShipKey.hex(generator.next(), 16) + ShipKey.hex(generator.next(), 16)
    }

    /// Looks whether the bucket keeps to the conditions of writes.
    private static func probe(_ objects: ShipBucket) async throws(ShipError) {
        let found = try await asking { () async throws(ObjectStoreError) in
            try await ConditionalWriteProbe.violation(on: objects.objects, prefix: ShipKey.probePrefix)
        }
        guard let found else { return }
        throw ShipError(
            .unsafeStore,
            "two shippers could destroy each other's log in \(objects.description): \(found.message). Use a store that has "
                + "conditional writes, or say that there is only ever one writer")
    }

    // MARK: Steps

    /// Writes the first head of a bucket; nil if somebody else has.
    private static func create(
        _ owner: String, _ slot: ShipSlot, _ scanner: LogScanner, _ calls: BlockingCalls, _ objects: ShipBucket,
        _ options: ShipOptions, beforeClaim: () async -> Void
    ) async throws(ShipError) -> Begun? {
        let left = try await asking { () async throws(ObjectStoreError) in
            try await objects.list(prefix: ShipKey.logPrefix, after: nil, limit: 1)
        }
        guard left.objects.isEmpty else {
            throw ShipError(
                .missing,
                "the head of \(objects.description) is gone, but objects of a log are there: somebody, or a rule of the bucket, has "
                    + "removed it. Ship to another prefix, and keep what is here", key: ShipKey.head)
        }
        guard !slot.hasShipped else {
            throw ShipError(
                .missing,
                "this store has been shipped to \(objects.description), and nothing is there any more: it was emptied, or is not the "
                    + "one that it was; a directory may not be mounted. To begin a new log there, remove the file "
                    + "\(ShipSlot.path(besideStoreAt: scanner.directory, bucket: objects.identity))",
                key: ShipKey.head)
        }
        let start = try await calls.run { () throws(StoreError) in
            guard let first = try scanner.readableSegments().first else {
                throw StoreError(.corruption, "the store has no log", path: scanner.directory.string)
            }
            return try scanner.start(of: first)
        }
        let place = ShipHead.Place(
            segment: start.segment, offset: 0, sequence: start.previousSequence, time: .min,
            checksum: start.previousChecksum)
        let epoch = ShipHead.Epoch(
            number: 1, owner: owner, line: slot.line, name: options.name, taken: options.clock(), start: place)
        let head = ShipHead(
            storeUUID: scanner.storeUUID, epochs: [epoch], onlyWriter: options.onlyWriter,
            isEncrypted: objects.isEncrypted)
        await beforeClaim()
        guard let tag = try await replace(head, .absent, objects) else { return nil }
        let lead = EpochLead(head: head, tag: tag, epoch: 1, owner: owner, before: nil)
        return Begun(lead: lead, place: place, isFirst: true)
    }

    /// Whether the last shipper of this store, and nobody behind it, has written the log's end, and will write no more.
    static func isReleased(
        _ log: ShippedLog, _ slot: ShipSlot, _ objects: ShipBucket, _ options: ShipOptions
    ) -> Bool {
        guard let release = slot.release, let last = log.head.epochs.last, last.start != nil, last.line == slot.line
        else { return false }
        return last.number == release.epoch && last.owner == release.owner && log.fence == nil
            && log.end.position == release.position && log.next == release.position
            && log.end.sequence == release.sequence && log.end.checksum == release.checksum
            && log.head.onlyWriter == options.onlyWriter
    }

    /// Goes on in the epoch of a shipper that has ended, whose place in the head it takes; nil if somebody else has
    /// changed the head. There is no fence, because nobody is left who would write.
    private static func goOn(
        _ owner: String, _ log: ShippedLog, _ objects: ShipBucket, _ options: ShipOptions
    ) async throws(ShipError) -> Begun? {
        var head = log.head
        var epoch = head.epochs.removeLast()
        epoch.owner = owner
        epoch.name = options.name
        epoch.taken = options.clock()
        head.epochs.append(epoch)
        head.reached = ShipHead.Reached(epoch.number, log.end.position)
        guard let tag = try await replace(head, .matching(log.headTag), objects) else { return nil }
        let lead = EpochLead(head: head, tag: tag, epoch: epoch.number, owner: owner, before: log.head)
        return Begun(lead: lead, place: log.end)
    }

    /// Adds an epoch to the head; nil if somebody else has changed it.
    private static func claim(
        _ owner: String, _ line: String, _ log: ShippedLog, _ objects: ShipBucket, _ options: ShipOptions
    ) async throws(ShipError) -> EpochLead? {
        var head = log.head
        let number = (head.epochs.last?.number ?? 0) + 1
        // Whoever took one and has not begun it never will: the head is another by now.
        head.epochs.removeAll { $0.start == nil }
        head.epochs.append(
            ShipHead.Epoch(
                number: number, owner: owner, line: line, name: options.name, taken: options.clock(), start: nil))
        head.onlyWriter = options.onlyWriter
        head.reached = ShipHead.Reached(log.epoch, log.end.position)
        guard let tag = try await replace(head, .matching(log.headTag), objects) else { return nil }
        return EpochLead(head: head, tag: tag, epoch: number, owner: owner, before: log.head)
    }

    /// Puts a fence under the name that the owner of the newest epoch would write next.
    ///
    /// - Parameter log: as it was when the epoch was taken; it may have grown.
    private func fence(_ log: ShippedLog, _ objects: ShipBucket) async throws(ShipError) -> ShippedLog {
        var log = log
        for _ in 0..<Self.fenceAttempts {
            if log.fence != nil { return log }
            let key = ShipKey.piece(log.epoch, log.next.segment, log.next.offset)
            let header = ObjectHeader(
                kind: .fence, storeUUID: head.storeUUID, epoch: epoch, position: log.next,
                previousSequence: log.end.sequence, sequence: log.end.sequence, previousTime: log.end.time,
                time: log.end.time, checksum: log.end.checksum)
            let bytes = try header.object([], key: key)
            do throws(ObjectStoreError) {
                _ = try await objects.put(
                    key, bytes, digest: ObjectDigest(of: bytes), if: head.onlyWriter ? .always : .absent)
                return log
            } catch {
                guard case .preconditionFailed = error else { throw ShipError(error) }
            }
            // A piece that was on its way, a fence, or this one after all.
            guard let found = try await ShippedLog.read(objects) else { throw Self.noLog(objects) }
            if isOlder(found.head) { throw Self.putBack(objects) }
            try found.requireEnd()
            guard found.head.epochs.last?.owner == owner else {
                throw ShipError(
                    .fenced, "another shipper has taken over while this one was about to", key: ShipKey.head)
            }
            log = found
        }
        throw ShipError(
            .store, "the shipper before this one goes on too quickly",
            objectStoreError: .unavailable(key: ShipKey.head, message: "pieces are written too quickly"))
    }

    private static let fenceAttempts = 64

    /// Says in the head where the epoch begins; nil if somebody else has taken one since.
    private func begin(_ place: ShipHead.Place, _ objects: ShipBucket) async throws(ShipError) -> Begun? {
        var lead = self
        for _ in 0..<Self.attempts {
            var head = lead.head
            guard head.epochs.last?.owner == owner, head.epochs.last?.number == epoch else { return nil }
            head.epochs[head.epochs.count - 1].start = place
            // What came later of the epoch before counts no more.
            head.reached = nil
            // Epochs that nothing was written in, and those of which nothing is left.
            head.epochs.removeAll { $0.number != epoch && ($0.start.map { $0.position >= place.position } ?? true) }
            if let tag = try await Self.replace(head, .matching(lead.tag), objects) {
                lead.head = head
                lead.tag = tag
                return Begun(lead: lead, place: place)
            }
            // The floor may have been raised.
            guard let found = try await ShippedLog.head(objects) else { throw Self.noLog(objects) }
            if lead.isOlder(found.head) { throw Self.putBack(objects) }
            (lead.head, lead.tag) = found
        }
        return nil
    }

    /// Replaces the head.
    ///
    /// - Returns: its tag; nil if the condition does not hold and the head is another one.
    static func replace(
        _ head: ShipHead, _ condition: PutCondition, _ objects: ShipBucket
    ) async throws(ShipError) -> String? {
        let bytes = try head.encoded(objects.cipher)
        do throws(ObjectStoreError) {
            return try await objects.put(
                ShipKey.head, bytes, digest: ObjectDigest(of: bytes), if: head.onlyWriter ? .always : condition
            ).tag
        } catch {
            switch error {
            case .preconditionFailed, .unanswered, .notFound: break
            default: throw ShipError(error)
            }
            // Written after all, perhaps: nobody else writes these bytes.
            guard let found = try await ShippedLog.head(objects) else {
                if case .unanswered = error { throw ShipError(error) }
                return nil
            }
            if found.head == head { return found.tag }
            if case .unanswered = error { throw ShipError(error) }
            return nil
        }
    }

    /// Whether the head does not say how far the log has come. Without conditions of writes it never does: somebody
    /// else's head could be overwritten.
    func isBehind(_ position: LogPosition) -> Bool {
        guard !head.onlyWriter, let start = head.epochs.last(where: { $0.number == epoch })?.start else { return false }
        return position > (head.reached.flatMap { $0.epoch == epoch ? $0.position : nil } ?? start.position)
    }

    /// Looks whether the head is still there, and the epoch the newest; and says in it how far the log has come, which
    /// takes no further request.
    mutating func look(_ objects: ShipBucket, _ position: LogPosition) async throws(ShipError) {
        var attempt = 0
        while isBehind(position), attempt < Self.attempts {
            attempt += 1
            var said = head
            said.reached = ShipHead.Reached(epoch, position)
            if let new = try await Self.replace(said, .matching(tag), objects) {
                (head, tag) = (said, new)
                return
            }
            try await look(objects)
        }
        if attempt == 0 { try await look(objects) }
    }

    private mutating func look(_ objects: ShipBucket) async throws(ShipError) {
        guard
            let info = try await asking({ () async throws(ObjectStoreError) in
                try await objects.head(ShipKey.head)
            })
        else {
            throw ShipError(
                .missing,
                "the head of \(objects.description) is gone: the bucket was emptied, or a rule deletes from it. What was "
                    + "shipped may be lost; ship to another prefix", key: ShipKey.head)
        }
        guard info.tag != tag else { return }
        guard let found = try await ShippedLog.head(objects) else { throw Self.noLog(objects) }
        let isOwnLog = found.head.storeUUID == head.storeUUID
        if isOwnLog, let newer = found.head.begun.last?.epoch, newer.number > epoch {
            throw Self.fenced(by: newer.number, ShipKey.head)
        }
        if isOwnLog, isOlder(found.head) { throw Self.putBack(objects) }
        let entry = found.head.epochs.first { $0.number == epoch }
        let line = head.epochs.first { $0.number == epoch }?.line
        if isOwnLog, let entry, entry.owner != owner, entry.line == line {
            throw Self.fenced(by: epoch, ShipKey.head)
        }
        guard isOwnLog, entry?.owner == owner else {
            throw ShipError(
                .missing,
                "\(objects.description) has another head than this shipper has written: the bucket was emptied or put back, and "
                    + "another shipper has begun there. What was shipped may be lost; ship to another prefix",
                key: ShipKey.head)
        }
        (head, tag) = found
    }

    /// Whether a head of this log was written before the newest one that is known here. Nobody takes anything back that
    /// it says: whose the epochs are, how far the log has come, and where the floor is.
    private func isOlder(_ found: ShipHead) -> Bool {
        guard let entry = found.epochs.first(where: { $0.number == epoch && $0.owner == owner }) else {
            return found.epochs.allSatisfy { entry in
                before?.epochs.contains { $0.number == entry.number && $0.owner == entry.owner } ?? false
            }
        }
        let isBegun = head.epochs.contains { $0.number == epoch && $0.start != nil }
        if isBegun, entry.start == nil { return true }
        if let known = head.floor, found.floor.map({ $0.place.position < known.place.position }) ?? true { return true }
        guard let known = head.reached, known.epoch == epoch else { return false }
        return found.reached.map { $0.epoch < epoch || $0.position < known.position } ?? true
    }

    private static func putBack(_ objects: ShipBucket) -> ShipError {
        ShipError(
            .missing,
            "the head of \(objects.description) is an older one than this shipper has written: the bucket, or a part of it, was "
                + "put back to an earlier state. What was shipped since is lost there; ship to another prefix",
            key: ShipKey.head)
    }

    /// What is known of the segment that the log goes on in, so that it can be shipped whole later.
    private static func described(
        _ begun: Begun, _ log: ShippedLog, _ storeUUID: StoreUUID, _ objects: ShipBucket
    ) async throws(ShipError) -> Begun {
        var begun = begun
        if begun.place.offset > 0, let segment = log.segments.last, segment.number == begun.place.segment,
            segment.isComplete, let first = segment.parts.first,
            let header = try await ShippedLog.header(first.key, objects)
        {
            begun.segmentStart = (header.previousSequence, header.previousTime)
            begun.segmentPieces = segment.parts.count
        }
        if let newest = log.checkpoints.last,
            let header = try await ShippedLog.header(ShipKey.checkpoint(newest.epoch, newest.number), objects)
        {
            begun.checkpointEnd = header.position
        }
        return begun
    }
}

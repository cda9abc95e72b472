internal import StrataLog
internal import StrataObjectStore

/// Asks a bucket for the next piece, again and again: one request a poll, no list.
struct LogPoller {
    private let log: FollowedLog
    private let options: FollowOptions
    /// Polls without anything new, one after the other.
    private var idlePolls = 0
    private var lastWrite: ContinuousClock.Instant?
    private var isWritten = false

    /// After so many polls without anything new, the head and the whole segment are looked for: the next piece may
    /// have come and gone while nobody looked, or somebody else may have taken over.
    private static let pollsPerLook = 30
    private static let writeInterval = Duration.seconds(30)

    init(_ log: FollowedLog, _ options: FollowOptions) {
        self.log = log
        self.options = options
    }

    mutating func run() async {
        while !Task.isCancelled {
            guard let pause = await step() else { continue }
            try? await Task.sleep(for: pause)
        }
    }

    /// Asks once.
    ///
    /// - Returns: how long to wait before asking again; nil to ask at once.
    mutating func step() async -> Duration? {
        var isNew = false
        do throws(ShipError) {
            isNew = try await poll()
            log.noteContact()
        } catch {
            // Nothing was asked.
            if error.code == .cancelled { return .zero }
            log.note(error)
        }
        idlePolls = isNew ? 0 : idlePolls + 1
        if isNew {
            isWritten = false
            return nil
        }
        write()
        return pause
    }

    /// Grows by half from one idle poll to the next.
    private var pause: Duration {
        var pause = options.shortestPoll
        for _ in 1..<max(2, min(idlePolls, 40)) where pause < options.longestPoll { pause = pause * 1.5 }
        return min(pause, options.longestPoll)
    }

    /// So that a follower that is killed begins where it was.
    private mutating func write() {
        guard !isWritten, lastWrite.map({ $0.duration(to: .now) > Self.writeInterval }) ?? true else { return }
        log.write()
        lastWrite = .now
        isWritten = true
    }

    /// Returns whether there was something new.
    private mutating func poll() async throws(ShipError) -> Bool {
        let catalog = log.catalog
        let key = catalog.nextKey
        guard let (header, payload) = try await ShippedLog.object(key, log.objects) else {
            guard idlePolls % Self.pollsPerLook == Self.pollsPerLook - 1 else { return false }
            return try await look(catalog)
        }
        switch header.kind {
        case .fence:
            // The next epoch goes on here, or before, once its owner has said so in the head; which it never does if it
            // has died.
            guard !isNewest(catalog, try await head()) else { return false }
            try await log.reload()
            return log.catalog.nextKey != key
        case .piece where header.isGap:
            try await log.reload()
            return log.catalog.nextKey != key
        case .piece:
            guard header.storeUUID == catalog.storeUUID, header.epoch == catalog.epoch,
                header.position == LogPosition(segment: catalog.nextSegment, offset: catalog.nextOffset)
            else {
                throw ShipError(
                    .damaged, "an object is not the one that its name says: of another store, perhaps", key: key)
            }
            log.add(header, payload, key: key)
            if header.nextSegment != nil { try await log.noteSealed() }
            return true
        case .whole, .checkpoint:
            throw ShipError(.damaged, "an object is not the one that its name says", key: key)
        }
    }

    private func head() async throws(ShipError) -> ShipHead {
        guard let (head, _) = try await ShippedLog.head(log.objects) else {
            throw ShipError(.missing, "the log is not in \(log.objects.description) any more", key: ShipKey.head)
        }
        return head
    }

    /// Whether a catalogue is of a head's log, and knows of the newest epoch that has begun.
    private func isNewest(_ catalog: FollowCatalog, _ head: ShipHead) -> Bool {
        head.begun.last?.epoch.number == catalog.epoch && catalog.isContinued(by: head)
    }

    private func look(_ catalog: FollowCatalog) async throws(ShipError) -> Bool {
        let head = try await head()
        // Shippers that begin or say how far they are change it, too, and only an epoch has other names.
        let next = LogPosition(segment: catalog.nextSegment, offset: catalog.nextOffset)
        let reached = head.reached.flatMap { $0.epoch == catalog.epoch ? $0.position : nil }
        if isNewest(catalog, head), reached.map({ $0 <= next }) ?? true {
            let whole = ShipKey.whole(catalog.epoch, catalog.nextSegment)
            guard try await ShippedLog.header(whole, log.objects) != nil else { return false }
        }
        try await log.reload()
        let now = log.catalog
        return now.nextKey != catalog.nextKey
    }
}

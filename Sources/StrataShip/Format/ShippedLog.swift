package import StrataLog
internal import StrataObjectStore

/// What a bucket has of a log: which objects hold which bytes, and where it ends.
///
/// Names tell most of it. The list of a bucket may lag behind: what it does not name and should be there is asked for
/// by name, and the end of the log is always found that way. Whatever is read is checked against the object's header.
package struct ShippedLog: Sendable {
    /// Bytes of a segment in one object.
    package struct Part: Sendable, Hashable {
        package let key: String
        /// In the segment; what the object holds behind this does not count.
        package var range: Range<Int>
        /// How many bytes of log the object has.
        package let byteCount: Int
        /// Where the object's log begins in the segment.
        package let offset: Int
    }

    /// A segment of the log.
    package struct Segment: Sendable, Hashable {
        package let number: UInt32
        /// One behind the other from offset 0, if ``isComplete``.
        package fileprivate(set) var parts: [Part] = []
        /// Whether everything is there from the segment's beginning to its end, or so far to the log's.
        package fileprivate(set) var isComplete = true

        package var byteCount: Int { parts.reduce(0) { $0 + $1.range.count } }
        package var end: Int { parts.last?.range.upperBound ?? 0 }
    }

    package let head: ShipHead
    /// The version of the head that this goes by.
    package let headTag: String
    /// Ascending. Those that are not there were compacted away before they were shipped, or have been collected.
    package private(set) var segments: [Segment] = []
    /// The names of pieces without bytes, which only say that a segment is over, on the way to the end.
    package private(set) var ends: Set<String> = []
    /// Where the log ends.
    package private(set) var end: ShipHead.Place
    /// The name of the next piece, and the epoch that it is of.
    package private(set) var next: LogPosition
    package private(set) var epoch: UInt32
    /// The header of the last object of the log; nil if the newest epoch has none.
    package private(set) var last: ObjectHeader?
    /// The epoch whose owner has put a fence under the name of the next piece.
    package private(set) var fence: UInt32?
    /// A piece that was shipped, is gone, and has to be there before anybody goes on with the log. Either it lies at
    /// ``end``: the bucket names it or one behind it in its segment, or the head says that the log had come further,
    /// and nobody knows how far. Or it lies before ``end`` in the same segment, which cannot be read then.
    package private(set) var gone: String?
    /// Checkpoints that lie on this log, by number, ascending, their epochs, and their objects' sizes.
    package internal(set) var checkpoints: [(number: UInt32, epoch: UInt32, byteCount: Int64)] = []

    // MARK: Reading

    /// Reads what a bucket has; nil where there is no log.
    ///
    /// - Throws: `.damaged`, `.unsupportedFormat`; `.store` when requests fail.
    package static func read(_ objects: ShipBucket) async throws(ShipError) -> ShippedLog? {
        let log = try await readOnce(objects)
        // A list may name what was collected, and not know of the segments that came later: a second one decides.
        return log?.gone == nil ? log : try await readOnce(objects)
    }

    private static func readOnce(_ objects: ShipBucket) async throws(ShipError) -> ShippedLog? {
        guard let (head, tag) = try await head(objects) else { return nil }
        guard let first = head.begun.first else {
            throw ShipError(.damaged, "no epoch of the head has begun", key: ShipKey.head)
        }
        var log = ShippedLog(head: head, headTag: tag, end: first.start, next: first.start.position, epoch: 0)
        var names = Names(isEncrypted: head.isEncrypted)
        for info in try await list(ShipKey.logPrefix, objects) { names.add(info) }
        let begun = head.begun
        for (index, (epoch, start)) in begun.enumerated() {
            let limit = index + 1 < begun.count ? begun[index + 1].start.position : nil
            try await log.walk(epoch.number, from: start, to: limit, names, objects)
        }
        log.compareWithReached()
        log.findHole()
        try await log.findCheckpoints(objects)
        return log
    }

    private init(head: ShipHead, headTag: String, end: ShipHead.Place, next: LogPosition, epoch: UInt32) {
        self.head = head
        self.headTag = headTag
        self.end = end
        self.next = next
        self.epoch = epoch
    }

    /// The names that a list gave.
    private struct Names {
        struct Of: Hashable {
            var epoch: UInt32
            var segment: UInt32
        }

        let isEncrypted: Bool
        var pieces: [Of: [Int: Int]] = [:]
        var wholes: [Of: Int] = [:]
        /// The newest epoch that has a segment whole.
        var wholeEpochs: [UInt32: UInt32] = [:]
        var segments: [UInt32: Set<UInt32>] = [:]

        init(isEncrypted: Bool) {
            self.isEncrypted = isEncrypted
        }

        mutating func add(_ info: ObjectInfo) {
            guard let byteCount = FrameReader.byteCount(ofObject: Int(info.size), isEncrypted: isEncrypted) else {
                return
            }
            switch ShipKey.parse(info.key) {
            case .piece(let epoch, let segment, let offset):
                pieces[Of(epoch: epoch, segment: segment), default: [:]][offset] = byteCount
                segments[epoch, default: []].insert(segment)
            case .whole(let epoch, let segment):
                wholes[Of(epoch: epoch, segment: segment)] = byteCount
                wholeEpochs[segment] = max(wholeEpochs[segment] ?? 0, epoch)
                segments[epoch, default: []].insert(segment)
            case .checkpoint, nil: break
            }
        }

        func isListed(_ epoch: UInt32, _ position: LogPosition) -> Bool {
            pieces[Of(epoch: epoch, segment: position.segment)]?[position.offset] != nil
        }

        /// Whether an object is listed that only follows those before it: at an offset of a segment, or behind it.
        func isListed(_ epoch: UInt32, atOrBehind position: LogPosition) -> Bool {
            pieces[Of(epoch: epoch, segment: position.segment)]?.keys.contains { $0 >= position.offset } ?? false
        }

        func hasWhole(of segment: UInt32, after epoch: UInt32) -> Bool {
            wholeEpochs[segment].map { $0 > epoch } ?? false
        }

        func nextSegment(after segment: UInt32, in epoch: UInt32) -> UInt32? {
            segments[epoch]?.filter { $0 > segment }.min()
        }
    }

    /// Follows an epoch from its beginning to where the next one begins, or to its end.
    private mutating func walk(
        _ epoch: UInt32, from start: ShipHead.Place, to limit: LogPosition?, _ names: Names, _ objects: ShipBucket
    ) async throws(ShipError) {
        self.epoch = epoch
        end = start
        next = start.position
        last = nil
        while limit == nil || next < (limit ?? next) {
            let position = next
            begin(position)
            if try await passWhole(epoch, position, limit, names, objects) { continue }
            if passListed(epoch, position, limit, names) { continue }
            // What was collected because a later epoch has the segment whole is not asked for.
            if let limit, limit.segment == position.segment, names.hasWhole(of: position.segment, after: epoch),
                !names.isListed(epoch, position)
            {
                segments[segments.count - 1].isComplete = false
                break
            }
            let key = ShipKey.piece(epoch, position.segment, position.offset)
            if let header = try await Self.header(key, objects) {
                guard header.kind != .fence else {
                    guard limit == nil else {
                        throw ShipError(.damaged, "epoch \(epoch) ends before the next one begins", key: key)
                    }
                    fence = header.epoch
                    break
                }
                try check(header, key, epoch, position)
                add(key, position.offset, header.payloadByteCount, limit)
                if header.payloadByteCount == 0 { ends.insert(key) }
                if header.isGap { segments[segments.count - 1].isComplete = false }
                note(header)
                next = header.next
                continue
            }
            // Collected since the list was made, or never shipped: then this is the end.
            let whole = ShipKey.whole(epoch, position.segment)
            if let header = try await Self.header(whole, objects) {
                try check(header, whole, epoch, LogPosition(segment: position.segment, offset: 0))
                addWhole(whole, header.payloadByteCount, limit)
                note(header)
                next = header.next
                continue
            }
            let later = names.nextSegment(after: position.segment, in: epoch)
            guard limit != nil || later != nil else {
                // A list that lags does not name what is there. What it names was there, and all before it, too.
                if names.isListed(epoch, atOrBehind: position) {
                    gone = key
                    segments[segments.count - 1].isComplete = false
                }
                break
            }
            segments[segments.count - 1].isComplete = false
            guard let later, limit == nil || later <= (limit?.segment ?? 0) else { break }
            next = LogPosition(segment: later, offset: 0)
        }
        try await finishWalk(epoch, limit, objects)
    }

    /// Goes to the end of a segment that an epoch has whole. Of one in which the next epoch begins, it has the
    /// beginning.
    private mutating func passWhole(
        _ epoch: UInt32, _ position: LogPosition, _ limit: LogPosition?, _ names: Names, _ objects: ShipBucket
    ) async throws(ShipError) -> Bool {
        guard let byteCount = names.wholes[Names.Of(epoch: epoch, segment: position.segment)] else { return false }
        let key = ShipKey.whole(epoch, position.segment)
        var following = position.segment + 1
        if !names.isListed(epoch, LogPosition(segment: following, offset: 0)),
            names.wholes[Names.Of(epoch: epoch, segment: following)] == nil
        {
            guard let header = try await Self.header(key, objects) else { return false }
            try check(header, key, epoch, LogPosition(segment: position.segment, offset: 0))
            note(header)
            following = header.nextSegment ?? following
        }
        addWhole(key, byteCount, limit)
        next = LogPosition(segment: following, offset: 0)
        return true
    }

    /// Goes to the end of a piece behind which another one is listed.
    private mutating func passListed(
        _ epoch: UInt32, _ position: LogPosition, _ limit: LogPosition?, _ names: Names
    ) -> Bool {
        let pieces = names.pieces[Names.Of(epoch: epoch, segment: position.segment)]
        guard let byteCount = pieces?[position.offset], byteCount > 0, pieces?[position.offset + byteCount] != nil
        else {
            return false
        }
        add(ShipKey.piece(epoch, position.segment, position.offset), position.offset, byteCount, limit)
        next.offset += byteCount
        return true
    }

    private mutating func finishWalk(
        _ epoch: UInt32, _ limit: LogPosition?, _ objects: ShipBucket
    ) async throws(ShipError) {
        if let limit {
            next = limit
            return
        }
        if end.position != next, let key = segments.last?.parts.last?.key {
            // The last piece was only known by name.
            guard let header = try await Self.header(key, objects) else {
                throw ShipError(.missing, "the last piece of the log is gone", key: key)
            }
            try check(header, key, epoch, header.position)
            note(header)
        }
        if let final = segments.last, final.parts.isEmpty, final.isComplete { segments.removeLast() }
    }

    /// Finds out whether the log ends where it should, or has lost its last pieces.
    private mutating func compareWithReached() {
        guard gone == nil, let reached = head.reached, reached.epoch == epoch, end.position < reached.position else {
            return
        }
        gone = ShipKey.piece(epoch, next.segment, next.offset)
        if let last = segments.last, last.number == next.segment { segments[segments.count - 1].isComplete = false }
    }

    /// Finds out whether the segment that the log goes on in has lost a piece. An epoch that begins in the middle of
    /// the segment says nothing of the pieces of the one before.
    private mutating func findHole() {
        guard gone == nil, end.offset > 0 else { return }
        var hole = 0
        for part in segment(end.segment)?.parts ?? [] {
            guard part.range.lowerBound == hole else { break }
            hole = part.range.upperBound
        }
        guard hole < end.offset else { return }
        let position = LogPosition(segment: end.segment, offset: hole)
        let owner = head.begun.last { $0.start.position <= position }?.epoch.number
        gone = ShipKey.piece(owner ?? epoch, position.segment, position.offset)
        // What lies behind it is of no use, and what lies before it is.
        guard let index = segments.lastIndex(where: { $0.number == position.segment }) else { return }
        segments[index].parts.removeAll { $0.range.lowerBound >= hole }
        segments[index].isComplete = false
    }

    /// A segment that is entered, or gone on in.
    private mutating func begin(_ position: LogPosition) {
        if let last = segments.last, last.number == position.segment {
            // A new epoch begins before where the last one ended: what lies behind is of another history.
            if last.end > position.offset {
                segments[segments.count - 1].parts = last.parts.compactMap { part in
                    guard part.range.lowerBound < position.offset else { return nil }
                    var part = part
                    part.range = part.range.lowerBound..<min(part.range.upperBound, position.offset)
                    return part
                }
            }
            return
        }
        segments.removeAll { $0.number >= position.segment }
        segments.append(Segment(number: position.segment))
        if position.offset > 0 { segments[segments.count - 1].isComplete = false }
    }

    private mutating func add(_ key: String, _ offset: Int, _ byteCount: Int, _ limit: LogPosition?) {
        guard byteCount > 0, let segment = segments.last else { return }
        var upper = offset + byteCount
        if let limit, limit.segment == segment.number { upper = min(upper, limit.offset) }
        guard upper > offset else { return }
        segments[segments.count - 1].parts.append(
            Part(key: key, range: offset..<upper, byteCount: byteCount, offset: offset))
    }

    private mutating func addWhole(_ key: String, _ byteCount: Int, _ limit: LogPosition?) {
        guard let number = segments.last?.number else { return }
        segments[segments.count - 1].parts = []
        segments[segments.count - 1].isComplete = true
        if limit?.segment == number, limit?.offset == 0 { return }
        add(key, 0, byteCount, limit)
    }

    private mutating func note(_ header: ObjectHeader) {
        last = header
        end = ShipHead.Place(
            segment: header.next.segment, offset: header.next.offset, sequence: header.sequence, time: header.time,
            checksum: header.checksum)
    }

    private func check(
        _ header: ObjectHeader, _ key: String, _ epoch: UInt32, _ position: LogPosition
    ) throws(ShipError) {
        // What leads back would be followed for ever.
        guard header.storeUUID == head.storeUUID, header.epoch == epoch, header.position == position,
            header.next > position
        else {
            throw ShipError(
                .damaged, "an object is not the one that its name says: of another store, perhaps", key: key)
        }
    }

    /// Makes sure that it is known where the log ends: nothing may be fenced, compared, or taken for the newest state
    /// before.
    ///
    /// - Throws: `.missing`
    package func requireEnd() throws(ShipError) {
        guard let gone else { return }
        let last = gone == ShipKey.piece(epoch, end.segment, end.offset) ? ", up to transaction \(end.sequence)" : ""
        throw ShipError(
            .missing,
            "a piece of the log is gone that was shipped: somebody, or a rule of the bucket, has removed it. "
                + "The log ends behind it, and cannot be followed. Earlier states can be restored\(last); to go on "
                + "shipping, use another prefix", key: gone)
    }

    /// Whether a position that an epoch has written is of the history that counts.
    package func contains(_ position: LogPosition, of epoch: UInt32) -> Bool {
        guard let next = head.begun.first(where: { $0.epoch.number > epoch }) else { return true }
        return position <= next.start.position
    }

    /// The segment with a number.
    package func segment(_ number: UInt32) -> Segment? {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < segments.count && segments[low].number == number ? segments[low] : nil
    }
}

internal import Foundation
internal import StrataLog
internal import StrataObjectStore

/// Which bytes of a log are in which objects of a bucket, and how far they may be read. Written into the cache, too, so
/// that what lies there can be read without the bucket.
struct FollowCatalog: Sendable, Codable, Hashable {
    struct Part: Sendable, Codable, Hashable {
        var key: String
        /// Where the object's bytes begin in the segment.
        var offset: Int
        var byteCount: Int
        /// What of the segment is read from it.
        var lower: Int
        var upper: Int
        var epoch: UInt32
    }

    struct Segment: Sendable, Codable, Hashable {
        var number: UInt32
        /// One behind the other from offset 0.
        var parts: [Part]
        var end: Int { parts.last?.upper ?? 0 }
    }

    struct Checkpoint: Sendable, Codable, Hashable {
        var number: UInt32
        var epoch: UInt32
        var byteCount: Int
        /// The segment in which it ends; nil if that is not known.
        var segment: UInt32?
        var key: String { ShipKey.checkpoint(epoch, number) }
    }

    var storeHigh: UInt64
    var storeLow: UInt64
    /// The bucket, as it describes itself.
    private(set) var bucket: String
    /// What tells each epoch of the log from those with its number of other logs: a fork has the UUID of the log that
    /// it comes from, and the same segments up to where it begins.
    private(set) var logs: [UInt32: UInt64]
    /// Ascending, and complete.
    var segments: [Segment]
    /// Those that were among them and are open. Snapshots of before go on reading them, as long as their objects are
    /// there.
    var retired: [Segment] = []
    /// The segments that the log does not need any more, although states of before do.
    private(set) var holes: [ClosedRange<UInt32>]
    /// The newest, ascending.
    private(set) var checkpoints: [Checkpoint]
    /// So many checkpoints are kept: where the newest is damaged, the one before will do.
    private static let checkpointMaximum = 2
    /// The next piece's name.
    var epoch: UInt32
    var nextSegment: UInt32
    var nextOffset: Int
    /// The last transaction, and the latest time of any record.
    var sequence: UInt64
    var time: Int64

    /// - Parameters:
    ///   - bucket: How the bucket describes itself.
    ///   - holes: The segments that the log does not need any more.
    ///   - newestEnd: Where the newest checkpoint ends, if that is known.
    init(
        _ log: ShippedLog, bucket: String, holes: [ClosedRange<UInt32>] = [], newestEnd: LogPosition? = nil
    ) {
        self.bucket = bucket
        logs = Self.logs(log.head)
        storeHigh = log.head.storeUUID.high
        storeLow = log.head.storeUUID.low
        self.holes = holes
        segments = log.segments.filter { $0.isComplete && !$0.parts.isEmpty }.map { segment in
            Segment(
                number: segment.number,
                parts: segment.parts.map { part in
                    Part(
                        key: part.key, offset: part.offset, byteCount: part.byteCount, lower: part.range.lowerBound,
                        upper: part.range.upperBound, epoch: Self.epoch(of: part.key))
                })
        }
        checkpoints = log.checkpoints.compactMap { found in
            let size = Int(found.byteCount)
            let byteCount = FrameReader.byteCount(ofObject: size, isEncrypted: log.head.isEncrypted) ?? 0
            guard byteCount > 0 else { return nil }
            let isNewest = log.checkpoints.last.map { $0.number == found.number && $0.epoch == found.epoch } ?? false
            return Checkpoint(
                number: found.number, epoch: found.epoch, byteCount: byteCount,
                segment: isNewest ? newestEnd?.segment : nil)
        }
        // Numbers of checkpoints go on from one epoch to the next. Of two with one number, the later counts.
        var newest: [UInt32: Checkpoint] = [:]
        for checkpoint in checkpoints { newest[checkpoint.number] = checkpoint }
        checkpoints = newest.values.sorted { $0.number < $1.number }.suffix(Self.checkpointMaximum)
        epoch = log.epoch
        nextSegment = log.next.segment
        nextOffset = log.next.offset
        sequence = log.end.sequence
        time = log.end.time
        letGo { _ in false }
    }

    private static func epoch(of key: String) -> UInt32 {
        switch ShipKey.parse(key) {
        case .piece(let epoch, _, _), .whole(let epoch, _), .checkpoint(let epoch, _): epoch
        case nil: 0
        }
    }

    /// Nobody else has drawn the name of the store that an epoch's owner ships, which stays as long as the epoch.
    private static func logs(_ head: ShipHead) -> [UInt32: UInt64] {
        var logs: [UInt32: UInt64] = [:]
        for (epoch, _) in head.begun {
            let digest = ObjectDigest(of: Array("\(head.storeHigh) \(head.storeLow) \(epoch.line)".utf8))
            logs[epoch.number] = UInt64(digest.hexadecimal.prefix(16), radix: 16) ?? 0
        }
        return logs
    }

    /// Whether another catalogue, read from the bucket later, is of the same log.
    func isContinued(by later: FollowCatalog) -> Bool { later.storeUUID == storeUUID && isContinued(by: later.logs) }

    /// Whether a head, read from the bucket later, is of the same log.
    func isContinued(by head: ShipHead) -> Bool {
        head.storeUUID == storeUUID && isContinued(by: Self.logs(head))
    }

    /// Heads forget epochs of which nothing is left, and never take them back.
    private func isContinued(by later: [UInt32: UInt64]) -> Bool {
        later.allSatisfy { number, log in number > epoch || logs[number] == log }
    }

    var storeUUID: StoreUUID { StoreUUID(high: storeHigh, low: storeLow) }
    var nextKey: String { ShipKey.piece(epoch, nextSegment, nextOffset) }

    /// How far the log may be read; nil where nothing of it is there. Behind a sealed segment whose successor has not
    /// come, that segment's end.
    var end: LogPosition? { segments.last.map { LogPosition(segment: $0.number, offset: $0.end) } }

    var byteCount: Int { segments.reduce(0) { $0 + $1.end } + checkpoints.reduce(0) { $0 + $1.byteCount } }

    func segment(_ number: UInt32) -> Segment? {
        // Mostly the last.
        segments.last { $0.number == number } ?? retired.last { $0.number == number }
    }

    /// Whether another catalogue knows of more.
    func isBehind(_ other: FollowCatalog) -> Bool {
        (epoch, nextSegment, nextOffset) < (other.epoch, other.nextSegment, other.nextOffset)
    }

    /// Keeps what is open of what an earlier catalogue had and this one has not.
    mutating func retain(_ before: FollowCatalog, _ isOpen: (UInt32) -> Bool) {
        let known = Set(segments.map(\.number))
        retired = (before.retired + before.segments).filter { !known.contains($0.number) && isOpen($0.number) }
    }

    /// Takes in which segments the log does not need any more.
    mutating func retire(_ holes: [ClosedRange<UInt32>], _ isOpen: (UInt32) -> Bool) {
        self.holes = holes
        letGo(isOpen)
    }

    /// Lets go of the segments that the log does not need any more, but for those that are open, and those that an
    /// opening needs: it begins with the newest checkpoint and reads all segments from there on, retired or not.
    private mutating func letGo(_ isOpen: (UInt32) -> Bool) {
        guard !holes.isEmpty else { return }
        let (before, first) = (self, firstReplayed)
        segments.removeAll { segment in
            holes.contains { $0.contains(segment.number) } && first.map { segment.number < $0 } ?? true
        }
        retain(before, isOpen)
    }

    /// The segment that the newest checkpoint ends in; nil without one that the log can be read on from.
    private var firstReplayed: UInt32? {
        guard let first = checkpoints.last?.segment, let last = segments.last?.number, first <= last,
            segments.count(where: { $0.number >= first }) == Int(last - first) + 1
        else { return nil }
        return first
    }

    /// The segments, but for the last, that lie in several pieces of the epoch that is being written: the bucket has
    /// them whole by now, or will have.
    var replaceable: [Segment] {
        segments.dropLast().filter { segment in
            segment.parts.count >= 2 && segment.parts.allSatisfy { $0.epoch == epoch }
        }
    }

    /// Takes in that the bucket has a segment whole.
    mutating func replace(_ segment: Segment, key: String, byteCount: Int) {
        guard let index = segments.firstIndex(of: segment), byteCount >= segment.end else { return }
        segments[index].parts = [
            Part(key: key, offset: 0, byteCount: byteCount, lower: 0, upper: segment.end, epoch: epoch)
        ]
    }

    /// Takes in that the bucket has further checkpoints, of the epoch that is being written, and where the newest ends.
    mutating func add(
        _ found: [ObjectInfo], newestEnd: LogPosition?, isEncrypted: Bool, _ isOpen: (UInt32) -> Bool
    ) {
        for info in found {
            guard case .checkpoint(let epoch, let number) = ShipKey.parse(info.key), epoch == self.epoch,
                let byteCount = FrameReader.byteCount(ofObject: Int(info.size), isEncrypted: isEncrypted), byteCount > 0
            else { continue }
            checkpoints.removeAll { $0.number == number }
            checkpoints.append(
                Checkpoint(
                    number: number, epoch: epoch, byteCount: byteCount,
                    segment: info.key == found.last?.key ? newestEnd?.segment : nil))
        }
        checkpoints.sort { $0.number < $1.number }
        checkpoints.removeFirst(max(0, checkpoints.count - Self.checkpointMaximum))
        letGo(isOpen)
    }

    func checkpoint(_ number: UInt32) -> Checkpoint? { checkpoints.last { $0.number == number } }

    /// Takes the next piece in.
    mutating func add(_ header: ObjectHeader, key: String) {
        let part = Part(
            key: key, offset: header.position.offset, byteCount: header.payloadByteCount,
            lower: header.position.offset, upper: header.end.offset, epoch: header.epoch)
        if header.payloadByteCount > 0 {
            if let last = segments.last, last.number == header.position.segment, last.end == part.lower {
                segments[segments.count - 1].parts.append(part)
            } else if part.lower == 0 {
                segments.append(Segment(number: header.position.segment, parts: [part]))
            }
        }
        nextSegment = header.next.segment
        nextOffset = header.next.offset
        sequence = max(sequence, header.sequence)
        time = max(time, header.time)
    }

    // MARK: In the cache

    func encoded() -> [UInt8] {
        guard let line = try? JSONEncoder().encode(self) else { return [] }
        return Array(line) + Array("\n\(ObjectDigest(of: Array(line)).hexadecimal)\n".utf8)
    }

    /// Nil for what was not written whole, or by another version.
    init?(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count == 3, lines[2].isEmpty,
            ObjectDigest(of: Array(lines[0])).hexadecimal == String(decoding: lines[1], as: UTF8.self),
            let found = try? JSONDecoder().decode(FollowCatalog.self, from: Data(lines[0]))
        else { return nil }
        self = found
    }
}

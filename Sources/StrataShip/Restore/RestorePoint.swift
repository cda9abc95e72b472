internal import StrataLog
internal import StrataObjectStore

/// A place in a bucket's log, and what of the log is needed for the store as it was there.
struct RestorePoint: Sendable {
    /// A segment and how much of it.
    struct Piece: Sendable, Hashable {
        var segment: ShippedLog.Segment
        var byteCount: Int
    }

    struct Checkpoint: Sendable {
        var key: String
        var number: UInt32
        var byteCount: Int64
    }

    let place: ShipHead.Place
    let pieces: [Piece]
    /// What the last of these holds, which has been read to find the place.
    let last: [UInt8]
    let checkpoint: Checkpoint?
    let plan: RestorePlan
}

/// Finds places in a bucket's log.
struct RestorePointFinder {
    let log: ShippedLog
    let objects: ShipBucket
    private let segments: [ShippedLog.Segment]
    private var headers: [UInt32: ObjectHeader] = [:]

    init(_ log: ShippedLog, _ objects: ShipBucket) {
        self.log = log
        self.objects = objects
        segments = log.segments.filter { !$0.parts.isEmpty }
    }

    // MARK: Reading

    /// The header of a segment's first object.
    private mutating func header(_ segment: ShippedLog.Segment) async throws(ShipError) -> ObjectHeader {
        if let known = headers[segment.number] { return known }
        guard let key = segment.parts.first?.key, let found = try await ShippedLog.header(key, objects) else {
            throw Self.gone(segment.parts.first?.key)
        }
        headers[segment.number] = found
        return found
    }

    static func gone(_ key: String?) -> ShipError {
        ShipError(
            .missing,
            "an object of the log is gone: it was collected while it was about to be read, or somebody has removed it. Try again; "
                + "if that does not help, restore an older or a newer state", key: key)
    }

    /// A segment's bytes, as far as they count.
    static func bytes(
        _ segment: ShippedLog.Segment, upTo limit: Int, _ objects: ShipBucket,
        _ progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws(ShipError) -> [UInt8] {
        let parts = segment.parts.filter { $0.range.lowerBound < limit }
        // A segment that the log goes on in lies in many pieces: several at once, as each waits mostly for the way.
        let results = await withTaskGroup(of: (Int, Result<[UInt8], ShipError>).self) { group in
            var next = 0
            func add() {
                guard next < parts.count else { return }
                let (number, part) = (next, parts[next])
                next += 1
                group.addTask { (number, await payload(part, segment.number, objects, progress)) }
            }
            for _ in 0..<partsAtOnce { add() }
            var results = [Result<[UInt8], ShipError>?](repeating: nil, count: parts.count)
            while let (number, result) = await group.next() {
                results[number] = result
                if case .success = result { add() } else { group.cancelAll() }
            }
            return results
        }
        // The first failure is the cause; others were cancelled for it.
        let failures = results.compactMap { result -> ShipError? in
            if case .failure(let error)? = result { return error }
            return nil
        }
        if let failure = failures.first(where: { $0.code != .cancelled }) ?? failures.first { throw failure }
        var bytes: [UInt8] = []
        for (part, result) in zip(parts, results) {
            guard bytes.count == part.range.lowerBound, let payload = try result?.get() else { throw gone(part.key) }
            let end = min(part.range.upperBound, limit) - part.offset
            if bytes.isEmpty, part.offset == 0 {
                // Mostly the only one, and long: it is not copied.
                bytes = payload
                bytes.removeLast(bytes.count - end)
            } else {
                bytes += payload[(part.range.lowerBound - part.offset)..<end]
            }
        }
        return bytes
    }

    /// So many pieces of a segment are fetched at once.
    private static let partsAtOnce = 8

    private static func payload(
        _ part: ShippedLog.Part, _ segment: UInt32, _ objects: ShipBucket, _ progress: @Sendable (Int64) -> Void
    ) async -> Result<[UInt8], ShipError> {
        do throws(ShipError) {
            guard let object = try await ShippedLog.object(part.key, objects) else { throw gone(part.key) }
            guard object.header.position.segment == segment, object.header.position.offset == part.offset,
                object.payload.count >= part.range.upperBound - part.offset
            else {
                throw ShipError(.damaged, "an object is not the one that its name says", key: part.key)
            }
            progress(Int64(objects.objectByteCount(object.payload.count)))
            return .success(object.payload)
        } catch {
            return .failure(error)
        }
    }

    /// What the header of a segment in the bucket says.
    private func start(_ segment: ShippedLog.Segment) async throws(ShipError) -> SegmentStart {
        guard let part = segment.parts.first, part.offset == 0 else {
            throw ShipError(.notRestorable, "the beginning of segment \(segment.number) is not in the bucket")
        }
        guard part.byteCount >= SegmentStart.byteCount else {
            throw ShipError(.damaged, "a segment is shorter than its header", key: part.key)
        }
        let found = try await objects.payload(part.key, byteCount: part.byteCount, 0..<SegmentStart.byteCount)
        guard let found else { throw Self.gone(part.key) }
        return try locally { () throws(StoreError) in
            try found.withBytes { bytes throws(StoreError) in
                try SegmentStart(bytes, segment: segment.number)
            }
        }
    }

    /// So many bytes of a segment count, as far as the one after it says.
    private func limit(at index: Int) async throws(ShipError) -> Int {
        let segment = segments[index]
        guard index + 1 < segments.count, segments[index + 1].number == segment.number + 1 else { return segment.end }
        return min(segment.end, try await start(segments[index + 1]).previousValidByteCount)
    }

    /// So many bytes of the segment with a number count; 0 where it is not there.
    func validByteCount(of number: UInt32) async throws(ShipError) -> Int {
        guard let index = segments.firstIndex(where: { $0.number == number }) else { return 0 }
        return try await limit(at: index)
    }

    /// A segment's first records, as many as lie in so many bytes of its first object.
    static func firstRecords(
        _ segment: ShippedLog.Segment, _ storeUUID: StoreUUID, _ objects: ShipBucket, byteCount: Int = 256 << 10
    ) async throws(ShipError) -> [LoggedRecord] {
        guard let part = segment.parts.first, part.offset == 0 else { return [] }
        let limit = min(part.range.upperBound, byteCount)
        guard limit > 0 else { return [] }
        let bytes = try await objects.payload(part.key, byteCount: part.byteCount, 0..<limit)
        guard let bytes else { throw gone(part.key) }
        let records = try bytes.records(of: segment.number, storeUUID, part.key, isCut: true)
        // A preamble that is longer.
        if records.isEmpty, limit < part.range.upperBound {
            return try await firstRecords(segment, storeUUID, objects, byteCount: byteCount * 16)
        }
        return records
    }

    private func records(
        _ segment: ShippedLog.Segment, upTo limit: Int
    ) async throws(ShipError) -> [LoggedRecord] {
        try records(of: segment, in: try await Self.bytes(segment, upTo: limit, objects))
    }

    private func records(
        of segment: ShippedLog.Segment, in bytes: [UInt8]
    ) throws(ShipError) -> [LoggedRecord] {
        try bytes.records(of: segment.number, log.head.storeUUID, segment.parts.first?.key)
    }

    /// The transactions of a segment from an offset on, and their times.
    func transactions(of segment: ShippedLog.Segment, from offset: Int) async throws(ShipError) -> [UInt64: Int64] {
        let found = try await records(segment, upTo: segment.end).filter {
            $0.isTransaction && $0.range.lowerBound >= offset
        }
        return Dictionary(found.map { ($0.sequence, $0.timestampNanoseconds) }) { $1 }
    }

    // MARK: Finding

    mutating func find(_ target: RestoreTarget) async throws(ShipError) -> RestorePoint {
        guard let last = segments.indices.last else {
            try log.requireEnd()
            throw ShipError(.notRestorable, "nothing of the log is in \(objects.description) yet")
        }
        switch target {
        case .newest:
            try log.requireEnd()
            return try await point(in: last) { _ in true }
        case .transaction(let sequence):
            if sequence > log.end.sequence { try log.requireEnd() }
            guard sequence > 0, sequence <= log.end.sequence else {
                throw ShipError(
                    .notRestorable,
                    "there is no transaction \(sequence) in \(objects.description), whose last is \(log.end.sequence)")
            }
            let index = try await lastIndex { $0.previousSequence < sequence }
            guard let index else { throw try await tooOld("transaction \(sequence)") }
            return try await point(in: index, sequence) { !($0.isTransaction && $0.sequence > sequence) }
        case .time(let time):
            var index = try await lastIndex { $0.previousTime <= time }
            while let found = index {
                let segment = segments[found]
                let first = try await Self.firstRecords(segment, log.head.storeUUID, objects).first
                if let first, first.timestampNanoseconds <= time { break }
                index = found > 0 ? found - 1 : nil
            }
            guard let index else { throw try await tooOld("the state of that time") }
            return try await point(in: index) { $0.timestampNanoseconds <= time }
        }
    }

    private mutating func tooOld(_ what: String) async throws(ShipError) -> ShipError {
        var message = "\(what) is not in \(objects.description) (any more)"
        if let oldest = try await oldest() { message += ": the oldest state there is that of transaction \(oldest)" }
        return ShipError(.notRestorable, message)
    }

    /// The last segment whose first header satisfies something that the first ones do and the others do not.
    private mutating func lastIndex(_ isBefore: (ObjectHeader) -> Bool) async throws(ShipError) -> Int? {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(try await header(segments[middle])) { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }

    /// The place behind the last record of a segment's beginning that satisfies something.
    ///
    /// - Parameter sequence: where the place has to be behind this transaction and before everything after it.
    private mutating func point(
        in index: Int, _ sequence: UInt64? = nil, while isWanted: (LoggedRecord) -> Bool
    ) async throws(ShipError) -> RestorePoint {
        let segment = segments[index]
        guard segment.parts.first?.range.lowerBound == 0 else {
            throw try await tooOld("what segment \(segment.number) has of that state")
        }
        let bytesOfSegment = try await Self.bytes(segment, upTo: try await limit(at: index), objects)
        let all = try records(of: segment, in: bytesOfSegment)
        var wanted = Array(all.prefix(while: isWanted))
        // What follows may be of that time, too.
        if sequence == nil, index == segments.count - 1, wanted.count == all.count { try log.requireEnd() }
        // What follows was compacted away before it was shipped: nobody knows where that state would end.
        if sequence == nil, !segment.isComplete, wanted.count == all.count {
            throw try await tooOld("the end of segment \(segment.number), and so that state,")
        }
        // So may have been what lies between two segments.
        if sequence == nil, wanted.count == all.count, index + 1 < segments.count, let last = wanted.last,
            try await header(segments[index + 1]).previousSequence > last.sequence
        {
            throw try await tooOld("what follows transaction \(last.sequence), and so that state,")
        }
        if let sequence {
            // What is no transaction and follows was not there when the transaction was committed.
            guard let end = wanted.lastIndex(where: { $0.isTransaction && $0.sequence == sequence }) else {
                throw try await tooOld("transaction \(sequence)")
            }
            wanted.removeLast(wanted.count - 1 - end)
        }
        guard let last = wanted.last else {
            throw ShipError(.notRestorable, "segment \(segment.number) has no record up to there")
        }
        let before = try await header(segment)
        let place = ShipHead.Place(
            segment: segment.number, offset: last.range.upperBound, sequence: last.sequence,
            time: wanted.reduce(before.previousTime) { max($0, $1.timestampNanoseconds) }, checksum: last.checksum)
        if let floor = log.head.floor, place.position < floor.place.position {
            throw ShipError(
                .notRestorable,
                "that state lies before what \(objects.description) keeps, which begins with transaction \(floor.place.sequence)"
            )
        }
        let holes = wanted.holes
        var pieces: [RestorePoint.Piece] = []
        var missing: [UInt32] = []
        var number: UInt32 = 1
        while number < segment.number {
            defer { number += 1 }
            if let hole = holes.first(where: { $0.contains(number) }) {
                number = hole.upperBound
                continue
            }
            if let found = log.segment(number), found.isComplete, !found.parts.isEmpty {
                pieces.append(RestorePoint.Piece(segment: found, byteCount: found.end))
            } else {
                missing.append(number)
                if missing.count > 8 { break }
            }
        }
        guard missing.isEmpty else {
            throw try await tooOld(
                "that state needs segments that were compacted away before they were shipped, or were removed "
                    + "(\(missing.map(String.init).joined(separator: ", "))), and so")
        }
        pieces.append(RestorePoint.Piece(segment: segment, byteCount: place.offset))
        let checkpoint = try await checkpoint(before: place.position, holes)
        let keys = pieces.flatMap { piece in
            piece.segment.parts.filter { $0.range.lowerBound < piece.byteCount }
        }
        let bytes = keys.reduce(Int64(checkpoint?.byteCount ?? 0)) {
            $0 + Int64(objects.objectByteCount($1.byteCount))
        }
        let reached = wanted.last { $0.isTransaction }
        var transaction = reached.map {
            RestorePlan.Transaction(sequence: $0.sequence, timestampNanoseconds: $0.timestampNanoseconds)
        }
        if transaction == nil, place.sequence > 0 {
            // A compaction may have moved it before it was shipped: then only its number is known, and that it is no
            // later than this.
            transaction =
                try await self.transaction(place.sequence, before: index)
                ?? RestorePlan.Transaction(sequence: place.sequence, timestampNanoseconds: place.time)
        }
        var next = all.dropFirst(wanted.count).first { $0.isTransaction }.map {
            RestorePlan.Transaction(sequence: $0.sequence, timestampNanoseconds: $0.timestampNanoseconds)
        }
        if next == nil { next = try await self.next(after: place.sequence, in: index) }
        return RestorePoint(
            place: place, pieces: pieces, last: Array(bytesOfSegment.prefix(place.offset)), checkpoint: checkpoint,
            plan: RestorePlan(
                transaction: transaction, next: next, segments: pieces.count, checkpoint: checkpoint?.number,
                objects: keys.count + (checkpoint == nil ? 0 : 1), bytes: bytes))
    }

    /// A transaction that lies in an earlier segment; nil if that was compacted away.
    private mutating func transaction(
        _ sequence: UInt64, before index: Int
    ) async throws(ShipError) -> RestorePlan.Transaction? {
        guard let earlier = try await lastIndex({ $0.previousSequence < sequence }), earlier < index else { return nil }
        let found = try await records(segments[earlier], upTo: try await limit(at: earlier)).last {
            $0.isTransaction && $0.sequence == sequence
        }
        return found.map {
            RestorePlan.Transaction(sequence: $0.sequence, timestampNanoseconds: $0.timestampNanoseconds)
        }
    }

    /// The first transaction behind one, where that lies in a later segment. Between them may lie any number of
    /// segments that compaction has written.
    private mutating func next(
        after sequence: UInt64, in index: Int
    ) async throws(ShipError) -> RestorePlan.Transaction? {
        guard let later = try await lastIndex({ $0.previousSequence <= sequence }), later > index,
            segments[later].parts.first?.range.lowerBound == 0
        else { return nil }
        let first = try await Self.firstRecords(segments[later], log.head.storeUUID, objects)
        var found = first.first { $0.isTransaction }
        if found == nil, first.last?.range.upperBound != segments[later].end {
            found = try await records(segments[later], upTo: try await limit(at: later)).first { $0.isTransaction }
        }
        return found.map {
            RestorePlan.Transaction(sequence: $0.sequence, timestampNanoseconds: $0.timestampNanoseconds)
        }
    }

    /// The newest checkpoint that a store as of a position can use.
    private func checkpoint(
        before position: LogPosition, _ holes: [ClosedRange<UInt32>]
    ) async throws(ShipError) -> RestorePoint.Checkpoint? {
        var (low, high) = (0, log.checkpoints.count)
        var found: (index: Int, header: ObjectHeader)?
        while low < high {
            let middle = (low + high) / 2
            let entry = log.checkpoints[middle]
            // One that has been collected, or is damaged, only makes the restored store open more slowly.
            let header = try? await ShippedLog.header(ShipKey.checkpoint(entry.epoch, entry.number), objects)
            if let header, header.position <= position {
                if log.contains(header.position, of: entry.epoch) { found = (middle, header) }
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard let found, (holes.last?.upperBound ?? 0) < found.header.position.segment else { return nil }
        let entry = log.checkpoints[found.index]
        return RestorePoint.Checkpoint(
            key: ShipKey.checkpoint(entry.epoch, entry.number), number: entry.number, byteCount: entry.byteCount)
    }

    /// The first transaction that can be restored, as far as segments' beginnings tell.
    private mutating func oldest() async throws(ShipError) -> UInt64? {
        for segment in segments where segment.isComplete {
            if let floor = log.head.floor, segment.number < floor.place.segment { continue }
            let records = try await Self.firstRecords(segment, log.head.storeUUID, objects)
            guard let first = records.first(where: \.isTransaction) else { continue }
            let holes = records.prefix { !$0.isTransaction }.holes
            let isComplete = (1..<max(segment.number, 1)).allSatisfy { number in
                holes.contains { $0.contains(number) } || log.segment(number)?.isComplete == true
            }
            if isComplete { return first.sequence }
        }
        return nil
    }
}

extension Sequence<LoggedRecord> {
    /// Which segments the log does not have behind these records, the first of which is a segment's first.
    var holes: [ClosedRange<UInt32>] {
        var holes: [ClosedRange<UInt32>] = []
        for record in self {
            switch record.holes {
            case .unchanged: break
            case .all(let all): holes = all
            case .more(let segments): holes += segments.map { $0...$0 }
            }
        }
        return holes.sorted { $0.lowerBound < $1.lowerBound }
    }
}

extension [UInt8] {
    /// The records of a segment's bytes.
    ///
    /// - Parameter isCut: whether the last one may be incomplete.
    /// - Throws: `.damaged` where they do not follow each other to the end.
    func records(
        of segment: UInt32, _ storeUUID: StoreUUID, _ key: String?, isCut: Bool = false
    ) throws(ShipError) -> [LoggedRecord] {
        let found = try locally { () throws(StoreError) in
            try withBytes { bytes throws(StoreError) in
                var records: [LoggedRecord] = []
                var previous = try SegmentStart(bytes, segment: segment).previousChecksum
                var offset = SegmentStart.byteCount
                while offset < bytes.count {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                    guard
                        let record = try LoggedRecord(rest, storeUUID: storeUUID, segment: segment, offset: offset),
                        record.previousChecksum == previous
                    else { return (records, false) }
                    previous = record.checksum
                    records.append(record)
                    offset = record.range.upperBound
                }
                return (records, true)
            }
        }
        guard found.1 || isCut else {
            throw ShipError(
                .damaged, "the records of segment \(segment) do not follow each other as they were written", key: key)
        }
        return found.0
    }
}

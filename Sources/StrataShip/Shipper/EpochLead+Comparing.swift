internal import StrataLog
internal import StrataObjectStore

/// Comparing a store's log with that of a bucket.
extension EpochLead {
    /// Whether the store's log goes on where that of the bucket ends.
    static func check(
        _ log: ShippedLog, _ scanner: LogScanner, _ slot: ShipSlot, _ calls: BlockingCalls,
        _ objects: ShipBucket, _ options: ShipOptions
    ) async throws(ShipError) {
        guard log.head.storeUUID == scanner.storeUUID else {
            throw ShipError(
                .conflict, "\(objects.description) has the log of another store: every store needs a prefix of its own",
                key: ShipKey.head)
        }
        try log.requireEnd()
        let place = log.end
        let owner = log.head.begun.last?.epoch
        let isOwn = owner?.line == slot.line
        let slotPath = ShipSlot.path(besideStoreAt: scanner.directory, bucket: objects.identity)
        guard isOwn || options.takesOver else {
            throw ShipError(
                .conflict,
                "\(objects.description) is shipped to from elsewhere (\(owner?.name ?? "unknown")), or the file \(slotPath), "
                    + "which says that this store has, was lost. A copy needs a prefix of its own. If this store is to go "
                    + "on in that one's place, say so (`strata ship --take-over`)", key: ShipKey.head)
        }
        func other(_ what: String) -> ShipError {
            ShipError(
                .conflict,
                "\(what). The bucket ends with transaction \(place.sequence), segment \(place.segment) at \(place.offset). A copy or a "
                    + "restored fork needs a prefix of its own; `strata restore --take-over` makes a store that goes on from the "
                    + "bucket")
        }
        switch try await local(place, log, scanner, calls) {
        case .same: return
        case .behind: throw other("the bucket has more of the log than the store")
        case .different: throw other("the bucket has another log than the store")
        case .gone(let kept):
            let isGone = "the store has compacted segment \(place.segment) away, so that it cannot be compared"
            guard isOwn || options.takesOver else { throw other(isGone) }
            // Where the two meet, they must be one log.
            let common = log.segments.last { segment in
                kept.contains(segment.number) && segment.isComplete && !segment.parts.isEmpty
            }
            if let common, common.number + 1 == place.segment, place.offset == 0 {
                // All that is in the bucket lies before.
                let end = try await RestorePointFinder(log, objects).validByteCount(of: common.number)
                try await compare(common.number, end)
                let goesOn = try await calls.run { () throws(StoreError) in
                    try scanner.hasRecord(at: LogPosition(segment: common.number, offset: end))
                }
                if !goesOn { return }
            }
            // The slot is written whenever a segment has been shipped: it is as old as the store is. That of a store
            // which has not shipped here, or has lost it, says nothing.
            guard !slot.hasShipped || place.segment <= slot.segment + 1 else {
                throw other(
                    "the bucket has more than this store remembers to have shipped: the store was put back to an earlier state, or the "
                        + "file \(slotPath) was")
            }
            // A machine that was put back within that segment, and has compacted it since, would look the same. The
            // word that its last shipper has left for the next vouches for it: the disk is not older than that.
            guard options.takesOver || isReleased(log, slot, objects, options) else {
                throw other(
                    isGone + ". If the bucket has this store's own past, say so (`strata ship --take-over`)")
            }
            guard let common else {
                guard slot.hasShipped else { throw other(isGone + ", and nothing of before is left that could be") }
                return
            }
            let end = try await RestorePointFinder(log, objects).validByteCount(of: common.number)
            try await compare(common.number, end)
        case .compare(let number, let end):
            try await compare(number, end)
            try await compareMoved(number, end)
        }
        /// What the bucket has of a segment behind where it ends in the store: a flush that failed has moved that into
        /// the next one. Or the store was put back to before it, and went on in another segment with something else.
        func compareMoved(_ number: UInt32, _ end: Int) async throws(ShipError) {
            guard let segment = log.segment(number), segment.end > end else { return }
            let moved = try await RestorePointFinder(log, objects).transactions(of: segment, from: end)
            guard let last = moved.keys.max() else { return }
            let found = try await calls.run { () throws(StoreError) in
                try scanner.transactions(of: number + 1, through: last)
            }
            guard moved.allSatisfy({ found[$0.key] == $0.value }) else {
                throw other("the bucket has another log than the store")
            }
        }
        /// The last bytes of a segment in the bucket, with those that the store has there.
        func compare(_ number: UInt32, _ end: Int) async throws(ShipError) {
            guard let part = log.segment(number)?.parts.last(where: { $0.range.lowerBound < end }) else {
                throw other("the bucket has another log than the store")
            }
            guard let object = try await ShippedLog.object(part.key, objects) else {
                throw ShipError(.missing, "a piece that was shipped is gone", key: part.key)
            }
            let upper = min(part.range.upperBound, end)
            let bytes = try await calls.run { () throws(StoreError) in
                try scanner.bytes(of: number, part.offset..<upper)
            }
            guard bytes.count == upper - part.offset, object.payload.starts(with: bytes) else {
                throw other("the bucket has another log than the store")
            }
        }
    }

    private enum Place: Sendable {
        case same, behind, different
        /// The segment is not there any more; these, from before it, are.
        case gone([UInt32])
        /// The bytes before an offset of a segment decide.
        case compare(UInt32, Int)
    }

    /// What the store has where the log in the bucket ends.
    private static func local(
        _ place: ShipHead.Place, _ log: ShippedLog, _ scanner: LogScanner, _ calls: BlockingCalls
    ) async throws(ShipError) -> Place {
        let before = log.segments.last { $0.number < place.segment && !$0.parts.isEmpty }
        return try await calls.run { () throws(StoreError) in
            let extent = try scanner.extent()
            guard extent.end >= place.position else { return .behind }
            let segments = try scanner.readableSegments()
            guard segments.contains(place.segment) else {
                guard segments.contains(where: { $0 > place.segment }) else { return .different }
                return .gone(segments.filter { $0 < place.segment })
            }
            if place.offset > 0 {
                var end = place.offset
                if segments.contains(place.segment + 1), extent.end.segment > place.segment {
                    end = min(end, try scanner.start(of: place.segment + 1).previousValidByteCount)
                }
                return .compare(place.segment, end)
            }
            let start = try scanner.start(of: place.segment)
            if start.previousChecksum == place.checksum, start.previousSequence == place.sequence { return .same }
            // A flush that failed may have moved records out of the segment before, after they were shipped.
            guard let before, before.number == start.previousSegment, start.previousValidByteCount < before.end,
                segments.contains(before.number)
            else { return .different }
            return .compare(before.number, start.previousValidByteCount)
        }
    }
}

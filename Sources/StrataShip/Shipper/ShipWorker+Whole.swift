internal import StrataLog
internal import StrataObjectStore

// What is done besides shipping the log: whole segments, checkpoints, and removing what nothing needs.
extension ShipWorker {
    /// A collection is begun that often, if something was shipped since, and the first so long after the start.
    private static let collectionNanoseconds: Int64 = 86_400_000_000_000
    private static let firstCollectionNanoseconds: Int64 = 600_000_000_000

    /// Ships sealed segments that lie in the bucket in pieces.
    func shipWholes() async throws(ShipError) {
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

    /// Ships the newest checkpoint if it is due.
    func shipCheckpoint(isLast: Bool) async throws(ShipError) {
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

    /// Removes from the bucket what nothing needs, now and then.
    func collect(isLast: Bool) async throws(ShipError) {
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

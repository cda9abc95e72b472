internal import StrataLog
internal import StrataObjectStore

// Which of the bucket's checkpoints lie on the log.
extension ShippedLog {
    /// Lists the checkpoints of all epochs that have begun.
    mutating func findCheckpoints(_ objects: ShipBucket) async throws(ShipError) {
        let epochs = Set(head.begun.map(\.epoch.number))
        for info in try await Self.list(ShipKey.checkpointPrefix, objects) {
            guard case .checkpoint(let epoch, let number) = ShipKey.parse(info.key), epochs.contains(epoch) else {
                continue
            }
            checkpoints.append((number, epoch, info.size))
        }
        checkpoints.sort { ($0.number, $0.epoch) < ($1.number, $1.epoch) }
    }

    /// Leaves out the checkpoints that do not lie on the log: those of the ends of epochs that count no more, since a
    /// later one begins before them, and those that came while the log was read, of what was shipped behind its end.
    /// Whoever looks for the newest would find one of another history, or of what is not known yet.
    package mutating func removeStrayCheckpoints(_ objects: ShipBucket) async throws(ShipError) {
        var numbers: [UInt32: [UInt32]] = [:]
        for entry in checkpoints { numbers[entry.epoch, default: []].append(entry.number) }
        let log = self
        let results = await withTaskGroup(of: Result<(UInt32, Set<UInt32>), ShipError>.self) { group in
            var waiting = Array(numbers)
            func add() {
                guard let (epoch, numbers) = waiting.popLast() else { return }
                group.addTask { () async -> Result<(UInt32, Set<UInt32>), ShipError> in
                    do throws(ShipError) {
                        let keys = numbers.sorted().map { ShipKey.checkpoint(epoch, $0) }
                        let count = try await objects.count(ofCheckpoints: keys, through: log.limit(of: epoch))
                        return .success((epoch, Set(numbers.sorted().prefix(count))))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            for _ in 0..<8 { add() }
            var results: [Result<(UInt32, Set<UInt32>), ShipError>] = []
            while let result = await group.next() {
                results.append(result)
                add()
            }
            return results
        }
        var reached: [UInt32: Set<UInt32>] = [:]
        for result in results {
            let (epoch, numbers) = try result.get()
            reached[epoch] = numbers
        }
        checkpoints.removeAll { entry in reached[entry.epoch]?.contains(entry.number) != true }
    }

    /// How far an epoch counts: to where the next one begins, or as far as the log is there.
    private func limit(of epoch: UInt32) -> LogPosition? {
        if let next = head.begun.first(where: { $0.epoch.number > epoch }) { return next.start.position }
        return segments.last { $0.isComplete && !$0.parts.isEmpty }.map {
            LogPosition(segment: $0.number, offset: $0.end)
        }
    }
}

extension ShipBucket {
    /// How many of some checkpoints of one epoch, given in their order, end no later than a position. One request if
    /// all of them do, and few if not. What lies behind one that cannot be read may count as later, too.
    func count(
        ofCheckpoints keys: [String], through limit: LogPosition?
    ) async throws(ShipError) -> Int {
        guard let limit else { return 0 }
        var (low, high) = (0, keys.count)
        // Mostly the newest one is of what is known.
        var middle = keys.count - 1
        while low < high {
            if let end = try await end(ofCheckpoint: keys[middle]), end <= limit {
                low = middle + 1
            } else {
                high = middle
            }
            middle = (low + high) / 2
        }
        return low
    }
}

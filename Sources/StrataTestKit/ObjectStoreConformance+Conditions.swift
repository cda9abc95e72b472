import StrataObjectStore

extension ObjectStoreConformance {
    func absentCondition() async throws {
        let key = key("object")
        try expect(try await putIfHolds(key, [1], if: .absent), "what is not there was not written")
        try expect(try await !putIfHolds(key, [2], if: .absent), "what is there was written")
        try expect(try await !putIfHolds(key, [1], if: .absent), "what is there was written, the same bytes")
        try expect(try await store.get(key, range: nil).bytes == [1], "the first write is gone")
        try await store.delete([key])
        try expect(try await putIfHolds(key, [3], if: .absent), "what was removed was not written")
    }

    func matchingCondition() async throws {
        let key = key("object")
        let first = try await put(key, [1])
        let second = try await put(key, [2], if: .matching(first.tag))
        try expect(try await !putIfHolds(key, [3], if: .matching(first.tag)), "an old tag matched")
        let other = PutCondition.matching("\"0123456789abcdef0123456789abcdef\"")
        try expect(try await !putIfHolds(key, [3], if: other), "another tag matched")
        try expect(try await store.get(key, range: nil).bytes == [2], "a write was carried out all the same")
        try expect(try await store.head(key)?.tag == second.tag, "head says another tag than put")
        try expect(try await store.get(key, range: 0..<1).info.tag == second.tag, "get says another tag than put")
        try expect(try await all(key).map(\.tag) == [second.tag], "the list says another tag than put")
        try await store.delete([key])
        try expect(try await !putIfHolds(key, [4], if: .matching(second.tag)), "the tag of a removed object matched")
        try expect(try await store.head(key) == nil, "a removed object is back")
    }

    func conditionalUploads() async throws {
        let key = key("object")
        let bytes = Self.bytes(uploadSize)
        func upload(_ seed: Int, if condition: PutCondition) async throws(ObjectStoreError) -> ObjectInfo? {
            let bytes = Self.bytes(uploadSize, seed: seed)
            do throws(ObjectStoreError) {
                return try await store.upload(
                    key, from: ObjectBytes(bytes), digest: ObjectDigest(of: bytes), if: condition)
            } catch .preconditionFailed {
                return nil
            }
        }
        guard let first = try await upload(1, if: .absent) else {
            throw Failure(description: "what is not there was not uploaded")
        }
        try expect(try await upload(2, if: .absent) == nil, "what is there was uploaded")
        if traits.contains(.matchingUploads) {
            try expect(try await upload(2, if: .matching("\"0123456789abcdef\"")) == nil, "another tag matched")
        }
        try expect(try await store.get(key, range: nil).bytes == bytes, "the first upload is gone")
        guard let second = try await upload(3, if: .matching(first.tag)) else {
            throw Failure(description: "the tag of an upload did not match")
        }
        if traits.contains(.matchingUploads) {
            try expect(try await upload(4, if: .matching(first.tag)) == nil, "an old tag matched")
        }
        try expect(try await store.head(key)?.tag == second.tag, "head says another tag than the upload")
        let last = Self.bytes(uploadSize, seed: 3)
        try expect(try await store.get(key, range: nil).bytes == last, "other bytes were read")
    }

    /// Several tasks write under one condition that holds at first: one may win.
    private func race(_ key: String, _ round: Int, if condition: PutCondition) async throws {
        let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    try await putIfHolds(key, [UInt8(writer), UInt8(round)], if: condition) ? writer : nil
                }
            }
            var winners: [Int] = []
            for try await winner in group { if let winner { winners.append(winner) } }
            return winners
        }
        try expect(winners.count == 1, "round \(round): \(winners.count) of 8 writers have won")
        let found = try await store.get(key, range: nil).bytes
        try expect(
            found == [UInt8(winners[0]), UInt8(round)], "round \(round): other bytes than the winner's are there")
    }

    func racingCreators() async throws {
        for round in 0..<20 { try await race(key("object\(round)"), round, if: .absent) }
    }

    func racingReplacers() async throws {
        let key = key("object")
        try await put(key, [0])
        for round in 0..<20 {
            guard let tag = try await store.head(key)?.tag else { throw Failure(description: "head finds nothing") }
            try await race(key, round, if: .matching(tag))
        }
    }

    /// A counter that is read, and replaced if nobody else has: no step is lost.
    func countingByTags() async throws {
        let key = key("counter")
        try await put(key, [0])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var steps = 0
                    while steps < 8 {
                        let found = try await store.get(key, range: nil)
                        if try await putIfHolds(key, [found.bytes[0] + 1], if: .matching(found.info.tag)) { steps += 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        let count = try await store.get(key, range: nil).bytes
        try expect(count == [32], "32 steps were counted as \(count)")
    }
}

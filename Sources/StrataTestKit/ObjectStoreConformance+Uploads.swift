import StrataObjectStore

extension ObjectStoreConformance {
    func uploads() async throws {
        for size in [0, 1000, uploadSize, uploadSize + 1] {
            let key = key("size\(size)")
            let bytes = Self.bytes(size)
            let digest = ObjectDigest(of: bytes)
            let written = try await store.upload(key, from: ObjectBytes(bytes), digest: digest, if: .always)
            try expect(written.key == key && written.size == size && written.digest == digest, "\(written)")
            let found = try await store.get(key, range: nil)
            try expect(found.bytes == bytes, "other bytes were read")
            try expect(found.info.tag == written.tag && found.info.digest == digest, "\(found.info), not \(written)")
            guard size > 1000 else { continue }
            let middle = Int64(size / 2)
            let part = try await store.get(key, range: middle..<middle + 100)
            try expect(part.bytes == Array(bytes[(size / 2)..<(size / 2 + 100)]), "other bytes were read of the middle")
        }
    }

    /// Gives bytes up to a place, and then fails.
    private struct Broken: ObjectSource {
        struct Problem: Error {}
        let size: Int64
        let end: Int64

        func read(_ range: Range<Int64>) async throws -> [UInt8] {
            guard range.upperBound <= end else { throw Problem() }
            return [UInt8](repeating: 1, count: range.count)
        }
    }

    func failingUploads() async throws {
        let digest = ObjectDigest(of: [])
        for end in [0, Int64(uploadSize) - 1] {
            let key = key("end\(end)")
            let found = try await error("a source that fails") { () async throws(ObjectStoreError) in
                try await store.upload(
                    key, from: Broken(size: Int64(uploadSize), end: end), digest: digest, if: .always)
            }
            guard case .source(key, _) = found else { throw Failure(description: "a source that fails threw \(found)") }
            try expect(try await store.head(key) == nil, "half an object is there")
        }
    }

    func removals() async throws {
        let names = (0..<30).map { key("object \($0)&<>") }
        for name in names { try await put(name, [1]) }
        let kept = key("other")
        try await put(kept, [1])
        try await store.delete([names[0]])
        try expect(try await store.head(names[0]) == nil, "a removed object is there")
        try await store.delete(names + [key("was never there")])
        let left = try await all(key("")).map(\.key)
        try expect(left == [kept], "left are \(left)")
        try expect(try await store.get(kept, range: nil).bytes == [1], "what was not to be removed is gone")
    }

    func cancellation() async throws {
        let key = key("object")
        try await put(key, [1])
        let store = store
        let task = Task { () async -> ObjectStoreError? in
            while !Task.isCancelled { await Task.yield() }
            do throws(ObjectStoreError) {
                _ = try await store.get(key, range: nil)
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        let error = await task.value
        try expect(error == .cancelled, "a cancelled task's call ended with \(String(describing: error))")
        try expect(try await store.get(key, range: nil).bytes == [1], "the store does not go on")
    }
}

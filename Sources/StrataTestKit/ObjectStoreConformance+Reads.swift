import StrataObjectStore

extension ObjectStoreConformance {
    func absentObjects() async throws {
        let key = key("none")
        let got = try await error("get") { () async throws(ObjectStoreError) in try await store.get(key, range: nil) }
        try expect(got == .notFound(key: key), "get of no object threw \(got)")
        let part = try await error("get") { () async throws(ObjectStoreError) in
            try await store.get(key, range: 0..<1)
        }
        try expect(part == .notFound(key: key), "get of a range of no object threw \(part)")
        try expect(try await store.head(key) == nil, "there is something")
        try await store.delete([key])
        try await store.delete([])
        let page = try await store.list(prefix: key, after: nil, limit: 10)
        try expect(page.objects.isEmpty && !page.isTruncated, "the list is not empty: \(page)")
        let empty = try await error("the empty key") { () async throws(ObjectStoreError) in try await put("", [1]) }
        guard case .unsupported = empty else { throw Failure(description: "the empty key threw \(empty)") }
    }

    func wholeObjects() async throws {
        for size in [0, 1, 1000, 300_000] {
            let key = key("size\(size)")
            let bytes = Self.bytes(size)
            let written = try await put(key, bytes)
            try expect(written.key == key && written.size == size, "put says \(written)")
            try expect(written.digest == ObjectDigest(of: bytes), "put says another digest")
            let found = try await store.get(key, range: nil)
            try expect(found.bytes == bytes, "other bytes were read")
            try expect(
                found.info.key == key && found.info.size == size && found.info.tag == written.tag, "\(found.info)")
            try expect(found.info.digest == written.digest, "get says another digest")
            guard let head = try await store.head(key) else { throw Failure(description: "head finds nothing") }
            try expect(head.size == size && head.tag == written.tag && head.digest == written.digest, "\(head)")
        }
    }

    func ranges() async throws {
        let key = key("object")
        let bytes = Self.bytes(10_000)
        try await put(key, bytes)
        let parts: [Range<Int64>] = [
            0..<1, 0..<10_000, 0..<20_000, 9_999..<10_000, 9_999..<Int64.max, 5_000..<5_001, 1..<9_999, 777..<777,
        ]
        for part in parts {
            let found = try await store.get(key, range: part)
            try expect(
                found.bytes == Array(bytes[Int(part.lowerBound)..<Int(min(part.upperBound, 10_000))]),
                "\(part) gave \(found.bytes.count) other bytes")
            try expect(found.info.size == 10_000, "\(part) says that the object has \(found.info.size) bytes")
            // A store may have to read all of the object to know it.
            let digest = found.info.digest
            try expect(digest == nil || digest == ObjectDigest(of: bytes), "\(part) says another digest")
        }
        for part in [10_000..<10_001, 20_000..<30_000] as [Range<Int64>] {
            let found = try await error("\(part)") { () async throws(ObjectStoreError) in
                try await store.get(key, range: part)
            }
            try expect(found == .rangeNotSatisfiable(key: key, size: 10_000), "\(part) threw \(found)")
        }
        let empty = self.key("empty")
        try await put(empty, [])
        let found = try await error("0..<1 of nothing") { () async throws(ObjectStoreError) in
            try await store.get(empty, range: 0..<1)
        }
        try expect(found == .rangeNotSatisfiable(key: empty, size: 0), "a range of nothing threw \(found)")
    }

    func replacing() async throws {
        let key = key("object")
        var tags: Set<String> = []
        for version in 1...5 {
            let bytes = Self.bytes(100 * (6 - version), seed: version)
            tags.insert(try await put(key, bytes).tag)
            try expect(try await store.get(key, range: nil).bytes == bytes, "version \(version) was not read")
        }
        try expect(tags.count == 5, "five versions have \(tags.count) tags")
        try expect(try await all(key).map(\.size) == [100], "the list has something else")
    }
}

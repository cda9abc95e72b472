import StrataObjectStore

extension ObjectStoreConformance {
    func names() async throws {
        var names = [
            "a b", "a+b", "a%20b", "~tilde", "ümläut", "日本語", "😀", "a&b<c>\"d\"'e'", "(a)!*,;:@$=", "a=b?c#d", "UPPER",
            "[brackets]{}|^`", "a..b", ".hidden", "deep/er/and/deeper", "e\u{301}",
        ]
        if traits.contains(.anyName) { names += ["a//b", "a/", "a", "a/b", "deep", "back\\slash", "/first"] }
        for name in names { try await put(key(name), Array(name.utf8)) }
        for name in names {
            let key = key(name)
            try expect(try await store.get(key, range: nil).bytes == Array(name.utf8), "\(name) has other bytes")
            try expect(try await store.head(key)?.size == Int64(name.utf8.count), "\(name) has no head")
        }
        var listed: [ObjectInfo] = []
        if traits.contains(.byteOrder) {
            listed = try await all(key(""))
        } else {
            // One at a time.
            for name in names { listed += try await store.list(prefix: key(name), after: nil, limit: 1).objects }
        }
        try expect(
            Set(listed.map { Array($0.key.utf8) }) == Set(names.map { Array(key($0).utf8) }),
            "other names are listed: \(listed.map(\.key))")
        try await store.delete(names.map { key($0) })
        for name in names { try expect(try await store.head(key(name)) == nil, "\(name) is still there") }
    }

    func longNames() async throws {
        let part = String(repeating: "x", count: 200)
        var longest = key("")
        while longest.utf8.count + 201 <= 1000 { longest += part + "/" }
        let short = longest + "end"
        try await put(short, [1])
        try expect(try await store.get(short, range: nil).bytes == [1], "other bytes were read")
        let key = longest + String(repeating: "y", count: 2000)
        let found = try await error("a key of 2,000 bytes") { () async throws(ObjectStoreError) in
            try await put(key, [1])
        }
        guard case .unsupported = found else { throw Failure(description: "a long key threw \(found)") }
    }

    func lists() async throws {
        var names = ["a/1", "a/2", "b/1", "b/10", "b/2", "c"]
        if traits.contains(.byteOrder) { names += ["a", "a-b", "a0", "B", "ü", "z"] }
        if traits.contains(.byteOrder) && !traits.contains(.anyName) { names.removeAll { $0 == "a" } }
        for name in names { try await put(key(name), [1, 2, 3]) }
        names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let root = key("")
        func listed(_ prefix: String, after: String? = nil, limit: Int = 1000) async throws -> [String] {
            let page = try await store.list(prefix: root + prefix, after: after.map { root + $0 }, limit: limit)
            return page.objects.map { String($0.key.dropFirst(root.count)) }
        }
        let everything = try await listed("")
        try expect(everything == names, "the list is \(everything)")
        for prefix in ["a", "a/", "b/", "b/1", "c", "d"] {
            let found = try await listed(prefix)
            try expect(found == names.filter { $0.hasPrefix(prefix) }, "\(prefix)* is listed as \(found)")
        }
        for after in ["a/1", "a/15", "b/", "b/1", "c", "zz"] {
            let found = try await listed("", after: after)
            let wanted = names.filter { after.utf8.lexicographicallyPrecedes($0.utf8) }
            try expect(found == wanted, "after \(after) is listed \(found)")
        }
        try expect(try await listed("b/", after: "a/1") == names.filter { $0.hasPrefix("b/") }, "before the prefix")
        try expect(try await listed("b/", after: "b/1") == ["b/10", "b/2"], "within the prefix")
        try expect(try await listed("b/", after: "c") == [], "behind the prefix")
        let object = try await store.list(prefix: root + "c", after: nil, limit: 1).objects[0]
        let head = try await store.head(object.key)
        try expect(
            object.size == 3 && object.tag == head?.tag, "the list says \(object), head \(String(describing: head))")
    }

    func pages() async throws {
        let names = (0..<25).map { key("n\($0 < 10 ? "0" : "")\($0)") }
        for name in names { try await put(name, [1]) }
        let root = key("")
        for limit in [1, 7, 24, 25, 26, 1000, 5000] {
            let found = try await all(root, limit: min(limit, 1000)).map(\.key)
            try expect(found == names, "pages of \(limit) give \(found.count) objects")
        }
        let exact = try await store.list(prefix: root, after: nil, limit: 25)
        try expect(exact.objects.count == 25 && !exact.isTruncated, "the last page says that there are more")
        let cut = try await store.list(prefix: root, after: nil, limit: 24)
        try expect(cut.objects.count == 24 && cut.isTruncated, "a page that was cut does not say so")
        // What was removed is no page's, and may be where a page begins.
        try await store.delete([names[3], names[24]])
        let rest = try await store.list(prefix: root, after: names[3], limit: 1000)
        try expect(rest.objects.map(\.key) == Array(names[4..<24]), "after a removed object are \(rest.objects.count)")
    }
}

import Foundation
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataObjectStore

/// Objects as files.
@Suite struct DirectoryObjectStoreTests {
    /// A directory that goes with the test.
    final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("strata-objects-\(UUID().uuidString)")
            .path

        deinit {
            try? FileManager.default.removeItem(atPath: path)
        }

        func open() throws -> DirectoryObjectStore { try DirectoryObjectStore(FilePath(path)) }
    }

    @discardableResult
    private static func put(
        _ store: any ObjectStore, _ key: String, _ text: String, if condition: PutCondition = .always
    ) async throws -> ObjectInfo {
        let bytes = Array(text.utf8)
        return try await store.put(key, bytes, digest: ObjectDigest(of: bytes), if: condition)
    }

    private static func text(
        _ store: any ObjectStore, _ key: String, _ range: Range<Int64>? = nil
    ) async throws -> String {
        String(decoding: try await store.get(key, range: range).bytes, as: UTF8.self)
    }

    /// What a shipper remembers of a directory was lost when it was started from elsewhere, or by a link.
    @Test func aDirectoryIsTheSameFromEverywhere() throws {
        let (folder, other) = (Folder(), Folder())
        let store = try folder.open()
        let link = folder.path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
        defer { try? FileManager.default.removeItem(atPath: link) }
        let up = String(repeating: "../", count: 64) + folder.path.dropFirst()
        for path in [link, folder.path + "/", folder.path + "/../" + (folder.path as NSString).lastPathComponent, up] {
            #expect(try DirectoryObjectStore(FilePath(path)).identity == store.identity, "\(path)")
        }
        #expect(try other.open().identity != store.identity)
        #expect(store.identity.hasPrefix("file:///"))
    }

    /// A file of somebody else's whose name only began like those of unfinished writes was removed after a day.
    @Test func leftoversOfWritesAloneAreRemoved() throws {
        let folder = Folder()
        _ = try folder.open()
        let (left, others) = (".new-0123456789abcdef", [".new-", ".new-bed", ".new-0123456789abcdef.bak"])
        let old = Date(timeIntervalSinceNow: -200_000)
        for name in [left] + others {
            let path = folder.path + "/" + name
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path)
        }
        _ = try folder.open()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(names).isSuperset(of: others) && !names.contains(left))
    }

    @Test func whatIsWrittenIsRead() async throws {
        let folder = Folder()
        let store = try folder.open()
        let info = try await Self.put(store, "log/a", "hello, world")
        #expect(info.size == 12 && info.digest == ObjectDigest(of: Array("hello, world".utf8)))
        #expect(try await Self.text(store, "log/a") == "hello, world")
        #expect(try await Self.text(store, "log/a", 7..<100) == "world")
        #expect(try await store.head("log/a") == info)
        #expect(try await store.head("log/b") == nil)
        await #expect(throws: ObjectStoreError.notFound(key: "log")) { try await store.get("log", range: nil) }
        await #expect(throws: ObjectStoreError.rangeNotSatisfiable(key: "log/a", size: 12)) {
            try await store.get("log/a", range: 12..<13)
        }
        try await store.delete(["log/a", "log/none"])
        #expect(try await store.head("log/a") == nil)
        // Folders go with their last object.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [".lock"])
        try await Self.put(store, "empty", "")
        #expect(try await Self.text(store, "empty") == "")
    }

    /// Objects went on arriving in a directory that was no bucket any more, and counted as shipped.
    @Test(arguments: ["moved", "removed", "replaced"])
    func aDirectoryThatIsElsewhereIsSaid(_ change: String) async throws {
        let folder = Folder()
        let store = try folder.open()
        try await Self.put(store, "log/a", "1")
        let aside = folder.path + "-aside"
        let files = FileManager.default
        defer { try? files.removeItem(atPath: aside) }
        if change == "removed" {
            try files.removeItem(atPath: folder.path)
        } else {
            try files.moveItem(atPath: folder.path, toPath: aside)
        }
        if change == "replaced" { try await Self.put(try folder.open(), "log/b", "2") }
        func expectUnavailable(_ body: () async throws -> Void) async {
            let error = await #expect(throws: ObjectStoreError.self) { try await body() }
            guard case .unavailable(_, let message) = error, message.contains("not at its path") else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        await expectUnavailable { try await Self.put(store, "log/c", "3") }
        await expectUnavailable { _ = try await store.get("log/a", range: nil) }
        await expectUnavailable { _ = try await store.list(prefix: "", after: nil, limit: 10) }
        await expectUnavailable { try await store.delete(["log/a"]) }
        guard change == "moved" else { return }
        try files.moveItem(atPath: aside, toPath: folder.path)
        #expect(try await Self.text(store, "log/a") == "1")
    }

    @Test func conditionsHold() async throws {
        let folder = Folder()
        let store = try folder.open()
        let first = try await Self.put(store, "head", "1", if: .absent)
        await #expect(throws: ObjectStoreError.preconditionFailed(key: "head")) {
            try await Self.put(store, "head", "2", if: .absent)
        }
        let second = try await Self.put(store, "head", "2", if: .matching(first.tag))
        #expect(second.tag != first.tag)
        await #expect(throws: ObjectStoreError.preconditionFailed(key: "head")) {
            try await Self.put(store, "head", "3", if: .matching(first.tag))
        }
        await #expect(throws: ObjectStoreError.preconditionFailed(key: "none")) {
            try await Self.put(store, "none", "3", if: .matching(first.tag))
        }
        #expect(try await Self.text(store, "head") == "2")
    }

    @Test func ofManyWritersOneWins() async throws {
        let folder = Folder()
        let stores = try (0..<8).map { _ in try folder.open() }
        for round in 0..<10 {
            let winners = await withTaskGroup(of: Bool.self) { group in
                for (number, store) in stores.enumerated() {
                    group.addTask { (try? await Self.put(store, "r\(round)", "\(number)", if: .absent)) != nil }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(winners == 1)
        }
        // Counting up by comparing and swapping loses nothing.
        try await Self.put(stores[0], "count", "0")
        await withTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask {
                    var done = 0
                    while done < 5 {
                        guard let found = try? await store.get("count", range: nil),
                            let number = Int(String(decoding: found.bytes, as: UTF8.self))
                        else { continue }
                        let isDone = try? await Self.put(store, "count", "\(number + 1)", if: .matching(found.info.tag))
                        if isDone != nil { done += 1 }
                    }
                }
            }
        }
        #expect(try await Self.text(stores[0], "count") == "40")
    }

    @Test(arguments: [
        "../outside", "a/../../outside", "/etc/passwd", "a//b", ".lock", ".new-1", "a/.", "..", ".", "-", "%41", "ä/ö",
        "a b",
        "tab\tand\nnewline", "trailing/", "C:\\x", String(repeating: "x", count: 1024),
        String(repeating: "ü", count: 512), String(repeating: "a/", count: 512).dropLast() + "",
    ])
    func keysStayInTheDirectory(key: String) async throws {
        let folder = Folder()
        let store = try folder.open()
        try await Self.put(store, key, "x")
        #expect(try await Self.text(store, key) == "x")
        #expect(try await store.list(prefix: "", after: nil, limit: 10).objects.map(\.key) == [key])
        let parent = (folder.path as NSString).deletingLastPathComponent
        #expect(!FileManager.default.fileExists(atPath: parent + "/outside"))
        try await store.delete([key])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [".lock"])
    }

    @Test func keysThatAreNoneAreRefused() async throws {
        let folder = Folder()
        let store = try folder.open()
        for key in ["", String(repeating: "x", count: 1025)] {
            await #expect(throws: ObjectStoreError.self) { try await Self.put(store, key, "x") }
        }
        try await Self.put(store, "a", "x")
        // An object is no folder.
        await #expect(throws: ObjectStoreError.self) { try await Self.put(store, "a/b", "x") }
        try await Self.put(store, "f/b", "x")
        await #expect(throws: ObjectStoreError.self) { try await Self.put(store, "f", "x") }
        #expect(try await store.list(prefix: "", after: nil, limit: 10).objects.map(\.key) == ["a", "f/b"])
    }

    @Test func linksAreNotFollowed() async throws {
        let folder = Folder()
        let store = try folder.open()
        try await Self.put(store, "real/a", "x")
        let outside = Folder()
        try FileManager.default.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: URL(fileURLWithPath: outside.path + "/a"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/folder", withDestinationPath: outside.path)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/real/link", withDestinationPath: outside.path + "/a")
        for key in ["folder/a", "real/link"] {
            await #expect(throws: ObjectStoreError.self) { try await store.get(key, range: nil) }
            await #expect(throws: ObjectStoreError.self) { try await Self.put(store, key, "y") }
            _ = try? await store.delete([key])
        }
        #expect(try String(contentsOfFile: outside.path + "/a", encoding: .utf8) == "secret")
        #expect(try await store.list(prefix: "", after: nil, limit: 10).objects.map(\.key) == ["real/a"])
    }

    @Test func listsAreInTheOrderOfTheirBytes() async throws {
        let folder = Folder()
        let store = try folder.open()
        let keys = ["a", "a-b", "a.b", "b/a", "b/c/d", "b/c-d", "b/c0", "c", "ä", "Z", "b/c/"]
        for key in keys { try await Self.put(store, key, key) }
        let sorted = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(try await store.list(prefix: "", after: nil, limit: 1000).objects.map(\.key) == sorted)
        for prefix in ["", "a", "b/", "b/c", "b/c/", "x"] {
            for after in [nil, "a", "b", "b/c", "b/c/", "b/c/d", "zz"] as [String?] {
                for limit in [1, 3, 100] {
                    let expected = sorted.filter { key in
                        key.hasPrefix(prefix) && (after.map { $0.utf8.lexicographicallyPrecedes(key.utf8) } ?? true)
                    }
                    let list = try await store.list(prefix: prefix, after: after, limit: limit)
                    #expect(list.objects.map(\.key) == Array(expected.prefix(limit)), "\(prefix) \(after ?? "-")")
                    #expect(list.isTruncated == (expected.count > limit))
                }
            }
        }
    }

    @Test func anUploadIsThereWholeOrNotAtAll() async throws {
        struct Source: ObjectSource {
            struct Failure: Error {}
            var size: Int64
            var failsAt: Int64

            func read(_ range: Range<Int64>) async throws -> [UInt8] {
                if range.contains(failsAt) { throw Failure() }
                return [UInt8](repeating: 7, count: Int(range.upperBound - range.lowerBound))
            }
        }
        let folder = Folder()
        let store = try folder.open()
        let bytes = [UInt8](repeating: 7, count: 20 << 20)
        let digest = ObjectDigest(of: bytes)
        await #expect(throws: ObjectStoreError.self) {
            try await store.upload("big", from: Source(size: 20 << 20, failsAt: 19 << 20), digest: digest, if: .absent)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        let info = try await store.upload(
            "big", from: Source(size: 20 << 20, failsAt: -1), digest: digest, if: .absent)
        #expect(info.size == 20 << 20)
        #expect(try await store.get("big", range: nil).info.digest == digest)
        await #expect(throws: ObjectStoreError.preconditionFailed(key: "big")) {
            try await store.upload("big", from: Source(size: 20 << 20, failsAt: -1), digest: digest, if: .absent)
        }
    }

    @Test func processesShareConditions() async throws {
        let folder = Folder()
        let store = try folder.open()
        try await Self.put(store, "a", "x")
        // Another process holds the lock for a while.
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c",
            """
            import fcntl, os, struct, sys, time
            f = open(sys.argv[1] + "/.lock", "r+")
            lock = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0)
            fcntl.fcntl(f, 37, lock)
            open(sys.argv[1] + "/.held", "w").close()
            time.sleep(0.5)
            """, folder.path,
        ]
        try process.run()
        try await wait(
            until: { !process.isRunning || FileManager.default.fileExists(atPath: folder.path + "/.held") }, "a lock")
        let began = ContinuousClock.now
        try await Self.put(store, "b", "x", if: .absent)
        let took = ContinuousClock.now - began
        process.waitUntilExit()
        // Where there is no Python there was nothing to wait for.
        if process.terminationStatus == 0 { #expect(took > .milliseconds(200)) }
        #expect(try await Self.text(store, "b") == "x")
    }

    @Test func whatIsNoDirectoryIsRefused() throws {
        let folder = Folder()
        try Data().write(to: URL(fileURLWithPath: folder.path))
        #expect(throws: ObjectStoreError.self) { try folder.open() }
        #expect(throws: ObjectStoreError.self) { try DirectoryObjectStore("/no/such/place") }
    }
}

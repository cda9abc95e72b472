import Crypto
import Foundation
import Strata
import StrataObjectStore
import StrataShip
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataEncryption
@testable import StrataS3

/// AES-256-GCM for buckets, and its keys.
struct EncryptionTests {
    private static let key = [UInt8](0..<32)

    private static func cipher(_ keys: [UInt32: [UInt8]] = [1: key]) throws -> AESGCMCipher {
        AESGCMCipher(try EncryptionKeys(keys))
    }

    /// Computed by another implementation (Python's cryptography): what has been written stays readable.
    @Test func theFormatIsFixed() throws {
        let salt = [UInt8](100..<124)
        let frames = try Self.cipher([7: Self.key]).frames(key: 7, salt: salt)
        func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
        #expect(hex(frames.keyCheck) == "42473e37e9004983")
        let sealed = try frames.seal(Array("frame".utf8)[...], number: 3, context: Array("context".utf8))
        #expect(hex(sealed) == "9e7137076ff5ee56937120e7b3b96503e8477e4d3d")
        #expect(try hex(frames.seal([], number: 0, context: [])) == "da6f0213a169d4dc247d70aa4638a1f9")
    }

    @Test func onlyWhatWasSealedIsOpened() throws {
        let frames = try Self.cipher().frames(key: 1, salt: [UInt8](repeating: 9, count: 24))
        let plain = pattern(70_000)
        let context: [UInt8] = [1, 2, 3]
        let sealed = try frames.seal(plain[...], number: 5, context: context)
        #expect(sealed.count == plain.count + 16)
        #expect(frames.open(sealed[...], number: 5, context: context) == plain)
        // As a slice of something longer.
        #expect(frames.open((sealed + sealed)[sealed.count...], number: 5, context: context) == plain)
        #expect(frames.open(sealed[...], number: 6, context: context) == nil)
        #expect(frames.open(sealed[...], number: 5, context: [1, 2]) == nil)
        #expect(frames.open(sealed.dropLast(), number: 5, context: context) == nil)
        #expect(frames.open(sealed.prefix(7), number: 5, context: context) == nil)
        for index in [0, 1, 35_000, sealed.count - 17, sealed.count - 16, sealed.count - 1] {
            var changed = sealed
            changed[index] ^= 0x80
            #expect(frames.open(changed[...], number: 5, context: context) == nil, "byte \(index)")
        }
        let others = [
            try Self.cipher().frames(key: 1, salt: [UInt8](repeating: 8, count: 24)),
            try Self.cipher([1: Self.key.reversed()]).frames(key: 1, salt: [UInt8](repeating: 9, count: 24)),
        ]
        for other in others { #expect(other.open(sealed[...], number: 5, context: context) == nil) }
        #expect(others[0].keyCheck == frames.keyCheck && others[1].keyCheck != frames.keyCheck)
    }

    @Test func keysAreReadFromText() throws {
        let digits = String(repeating: "0f", count: 32)
        let keys = try EncryptionKeys(text: "# two\n\n2 \(digits)\r\n  10\t\(digits.uppercased())  \n")
        #expect(keys.numbers == [2, 10] && keys.writing == 10)
        #expect(keys.keys[2] == [UInt8](repeating: 0x0f, count: 32))
        let shown = "\(keys) \(String(reflecting: keys))"
        #expect(!shown.contains("0f0f") && !shown.contains("15, 15"))
    }

    @Test(arguments: [
        ("", "no keys"), ("# none", "no keys"), ("0 SECRET", "line 1"), ("1", "line 1"), ("x SECRET", "line 1"),
        ("1 SECRET SECRET", "line 1"), ("\n1 abcd", "line 2"), ("1 SECRET0", "key 1 in line 1"),
        ("4294967296 SECRET", "line 1"), ("1 SECRET\n1 SECRET", "second key 1"), ("-1 SECRET", "line 1"),
    ])
    func whatAreNoKeysIsSaid(_ text: String, _ message: String) {
        let secret = String(repeating: "5e", count: 32)
        let error = #expect(throws: ObjectCipherError.self) {
            try EncryptionKeys(text: text.replacing("SECRET", with: secret))
        }
        #expect(error?.description.contains(message) == true && error?.description.contains("5e5e") == false)
    }

    @Test func keysAreReadFromFiles() throws {
        let file = try TemporaryFile("3 " + String(repeating: "ab", count: 32) + "\n")
        #expect(try EncryptionKeys(contentsOfFile: file.path).numbers == [3])
        let error = #expect(throws: ObjectCipherError.self) {
            try EncryptionKeys(contentsOfFile: file.path + "-missing")
        }
        #expect(error?.description.contains(file.path) == true)
        #expect(throws: ObjectCipherError.self) { try EncryptionKeys([1: [1, 2]]) }
        #expect(throws: ObjectCipherError.self) { try EncryptionKeys([:]) }
    }

    @Test func keysFromAClosureAreChecked() throws {
        let short = AESGCMCipher(
            writing: { () throws(ObjectCipherError) in 0 },
            key: { number throws(ObjectCipherError) in number == 1 ? [1] : nil })
        #expect(throws: ObjectCipherError.self) { try short.keyNumber }
        #expect(throws: ObjectCipherError.self) { try short.frames(key: 1, salt: []) }
        #expect(throws: ObjectCipherError.missingKey(2)) { try short.frames(key: 2, salt: []) }
    }

    private static func objects(_ kind: TestServer.Kind?) async throws -> any ObjectStore {
        guard let kind else { return SimulatedObjectStore() }
        return try await TestServer.shared(kind).store(prefix: "encrypted/" + UUID().uuidString)
    }

    /// Ships, follows and restores with real keys, through a server where there is one.
    @Test(arguments: TestServer.isThere(.seaweed) ? [nil, TestServer.Kind.seaweed] : [nil])
    func aStoreIsShippedFollowedAndRestored(_ kind: TestServer.Kind?) async throws {
        let folder = NSTemporaryDirectory() + "strata-encrypted-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let objects = try await Self.objects(kind)
        let path = folder + "/library"
        let writer = try FollowTests.container(NSPersistentStoreDescription(url: URL(fileURLWithPath: path)))
        try await FollowTests.add(1...50, writer)
        var options = ShipOptions()
        options.cipher = try Self.cipher()
        let shipper = LogShipper(storeAt: FilePath(path), to: objects, options: options)
        try await shipper.shipOnce()
        var follow = FollowOptions()
        follow.cipher = try Self.cipher([1: Self.key, 2: Self.key.reversed()])
        follow.shortestPoll = .milliseconds(20)
        let follower = try await BucketFollower.start(
            from: objects, cache: FilePath(folder + "/cache"), options: follow)
        let reader = try FollowTests.container(follower.storeDescription())
        #expect(try await FollowTests.count(reader) == 50)
        // Another key from now on.
        options.cipher = follow.cipher
        try await FollowTests.add(1...10, writer)
        let next = LogShipper(storeAt: FilePath(path), to: objects, options: options)
        try await next.shipOnce(withCheckpoint: true)
        let start = ContinuousClock.now
        while try await FollowTests.count(reader) < 60 {
            try #require(start.duration(to: .now) < .seconds(30), "\(follower.status)")
            try await Task.sleep(for: .milliseconds(20))
        }
        await follower.stop()
        for cipher in [nil, try Self.cipher(), try Self.cipher([2: Self.key])] {
            let error = await #expect(throws: ShipError.self) {
                try await LogRestorer(from: objects, cipher: cipher).restore(to: FilePath(folder + "/refused"))
            }
            #expect(error?.code == .key)
        }
        let plan = try await LogRestorer(from: objects, cipher: follow.cipher).restore(
            to: FilePath(folder + "/restored"))
        #expect(plan.transaction?.sequence == next.status.sequence)
        let restored = try FollowTests.container(
            NSPersistentStoreDescription(url: URL(fileURLWithPath: folder + "/restored")))
        #expect(try await FollowTests.count(restored) == 60)
        await (objects as? S3ObjectStore)?.shutdown()
    }

    /// What docs/shipping.md shows; `GuideDocumentTests` holds that it shows nothing else.
    private func ship(_ container: NSPersistentContainer, to bucket: any ObjectStore) throws -> ShippedStore {
        var options = ShipOptions()
        options.cipher = AESGCMCipher(try EncryptionKeys(contentsOfFile: "/etc/library.keys"))
        let shipped = ShippedStore(container, to: bucket, options: options)
        return shipped
    }
}

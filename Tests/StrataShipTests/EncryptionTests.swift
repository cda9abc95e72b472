import CStrataSupport
import Foundation
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// Buckets that are encrypted: what they tell, what they need, and what is found when somebody changes them.
@Suite struct EncryptionTests {
    private static func use<Result>(
        _ cipher: TestCipher?, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await TestCipher.$used.withValue(cipher) { try await body() }
    }

    private static func error(_ body: () async throws -> Void) async -> ShipError? {
        do {
            try await body()
            return nil
        } catch let error as ShipError {
            return error
        } catch {
            Issue.record(error)
            return nil
        }
    }

    /// A store whose log lies in the bucket in objects of one frame and of several.
    private static func shipped(
        _ cipher: TestCipher? = TestCipher()
    ) async throws -> (ShipMachine, SimulatedObjectStore) {
        let machine = try ShipMachine(seed: 51, segmentMaximumBytes: 400 << 10)
        let objects = SimulatedObjectStore()
        try await use(cipher) {
            let shipper = machine.shipper(objects) { $0.pieceMaximumBytes = 1 << 20 }
            try machine.store.setMetadata(Array("this is what nobody is to read".utf8))
            try machine.save(3, textBytes: 2_000)
            try await shipper.shipOnce()
            for _ in 0..<8 { try machine.save(3, textBytes: 30_000) }
            try machine.store.checkpoint()
            try machine.save()
            try await shipper.shipOnce(withCheckpoint: true)
        }
        return (machine, objects)
    }

    @Test func nothingOfTheStoreCanBeRead() async throws {
        for isEncrypted in [false, true] {
            let (machine, objects) = try await Self.shipped(isEncrypted ? TestCipher() : nil)
            let secrets = ["this is what nobody", "Thing"].map { Data($0.utf8) }
            let found = objects.contents.keys.filter { key in
                let bytes = Data(objects.bytes(of: key) ?? [])
                return secrets.contains { bytes.range(of: $0) != nil }
            }
            #expect(found.isEmpty == isEncrypted, "\(found)")
            #expect(objects.contents.keys.contains { $0.hasPrefix("chk/") })
            // The same bytes of log look different each time.
            let again = try await Self.shipped(isEncrypted ? TestCipher() : nil).1
            let key = try #require(objects.contents.keys.first { $0.hasPrefix("log/") })
            #expect((objects.bytes(of: key) == again.bytes(of: key)) != isEncrypted)
            try machine.close()
        }
    }

    @Test func everyTransactionIsRestoredAndFollowed() async throws {
        let (machine, objects) = try await Self.shipped()
        try await Self.use(TestCipher()) {
            let last = machine.store.snapshot.sequence
            for sequence in 1...last {
                #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
            }
            for wholeObjectBytes in [0, 2 << 20] {
                let following = try await Following(objects.client(), disk: try Following.disk()) {
                    $0.wholeObjectBytes = wholeObjectBytes
                    $0.fetchesAhead = wholeObjectBytes > 0
                }
                #expect(try await following.digest(at: last) == machine.digests[last])
                try await following.close()
            }
        }
    }

    @Test func keysThatAreMissingOrOthersAreNamed() async throws {
        let (machine, objects) = try await Self.shipped()
        let (plainMachine, plain) = try await Self.shipped(nil)
        let other = TestCipher(keys: [1: 7])
        let missing = TestCipher(keys: [2: 8], writing: 2)
        for (cipher, machine, objects, hint) in [
            (nil, machine, objects, "no keys were given"), (other, machine, objects, "another key 1"),
            (missing, machine, objects, "no key 1"), (TestCipher(), plainMachine, plain, "not encrypted"),
        ] {
            let before = objects.contents.keys
            await Self.use(cipher) {
                let errors = [
                    await Self.error { try await machine.shipper(objects).shipOnce() },
                    await Self.error { _ = try await ShipRestore.restore(objects) },
                    await Self.error { _ = try await ShipRestore.restore(objects, takesOver: true) },
                    await Self.error { _ = try await Following(objects.client(), disk: try Following.disk()) },
                    await Self.error {
                        _ = try await LogCollector(objects, retention: nil, cipher: cipher).collect()
                    },
                ]
                for error in errors {
                    #expect(
                        error?.code == .key && error?.description.contains(hint) == true, "\(hint): \(error as Any)")
                    #expect(error?.mayPass == false)
                }
            }
            #expect(objects.contents.keys == before)
        }
        // A ring without the key that it is to write with.
        let error = await Self.use(TestCipher(keys: [1: 0x5eed], writing: 3)) {
            await Self.error { try await machine.shipper(objects).shipOnce() }
        }
        #expect(error?.code == .key)
    }

    @Test func keysAreRotated() async throws {
        let (machine, objects) = try await Self.shipped()
        let rotated = TestCipher(keys: [1: 0x5eed, 2: 99], writing: 2)
        try await Self.use(rotated) {
            try machine.save()
            try await machine.shipper(objects).shipOnce()
            for sequence in 1...machine.store.snapshot.sequence {
                #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
            }
        }
        // The old one is needed as long as something is there that it was used for.
        let error = await Self.use(TestCipher(keys: [2: 99], writing: 2)) {
            await Self.error { _ = try await ShipRestore.restore(objects) }
        }
        #expect(error?.code == .key && error?.description.contains("key 1") == true)
        let numbers = try objects.contents.keys.filter { $0.hasPrefix("log/") || $0.hasPrefix("chk/") }.map { key in
            try ObjectHeader(objects.bytes(of: key) ?? [], key: key)
        }.filter { $0.kind != .fence }.map(\.keyNumber)
        #expect(Set(numbers) == [1, 2])
    }

    /// Puts a checksum over a header that was changed.
    private static func repair(_ bytes: inout [UInt8]?) {
        guard var changed = bytes, changed.count >= ObjectHeader.byteCount else { return }
        let sum = changed.withUnsafeBytes { strata_crc32c(0, $0.baseAddress, 124) }
        withUnsafeBytes(of: sum.littleEndian) { changed.replaceSubrange(124..<128, with: $0) }
        bytes = changed
    }

    /// Restores and follows, both ways to read: whatever was changed, nothing wrong comes out.
    private static func expectRefused(
        _ objects: SimulatedObjectStore, _ machine: ShipMachine, _ hint: String, mayEndEarlier: Bool = false
    ) async throws {
        let states = Set(machine.digests.values)
        do {
            let digest = try await ShipRestore.digest(objects, .newest)
            #expect(mayEndEarlier && states.contains(digest), "\(hint) was not noticed by a restore")
        } catch let error as ShipError {
            #expect([.damaged, .key, .missing, .notRestorable].contains(error.code), "\(hint): \(error)")
        }
        do {
            let following = try await Following(objects.client(), disk: try Following.disk()) {
                $0.wholeObjectBytes = 0
                $0.fetchesAhead = false
            }
            let digest = Result { try ShipSchema.digest(following.store) }
            try await following.close()
            // A follower may go by a checkpoint, and not need what was changed.
            #expect(states.contains(try digest.get()), "\(hint): a follower shows something wrong")
        } catch {
            #expect(error is ShipError || error is StoreError, "\(hint): \(error)")
        }
    }

    @Test func whateverIsChangedIsFound() async throws {
        let (machine, objects) = try await Self.shipped()
        try await Self.use(TestCipher()) { try await Self.changeObjects(objects, machine) }
        try machine.close()
    }

    private static func change(
        _ hint: String, _ key: String, of objects: SimulatedObjectStore, _ machine: ShipMachine,
        mayEndEarlier: Bool = false, _ body: (inout [UInt8]?) -> Void
    ) async throws {
        let fork = objects.fork()
        fork.tamper(key, body)
        try await expectRefused(fork, machine, hint, mayEndEarlier: mayEndEarlier)
    }

    private static func changeObjects(_ objects: SimulatedObjectStore, _ machine: ShipMachine) async throws {
        let keys = objects.contents.keys.filter { $0.hasPrefix("log/") }
        // Restores read segments that lie there whole, and not their pieces.
        let long = try #require(keys.first { $0.hasSuffix("whole") && (objects.bytes(of: $0)?.count ?? 0) > 200_000 })
        let others = keys.filter { $0 != long && (objects.bytes(of: $0)?.count ?? 0) > 1_000 }
        let other = try #require(others.first)
        let frame = FrameReader.frameBytes + FrameReader.tagBytes
        let start = FrameReader.start(isEncrypted: true)
        try await change("another object in its place", long, of: objects, machine) { $0 = objects.bytes(of: other) }
        try await change("two frames that have changed places", long, of: objects, machine) { bytes in
            guard let before = bytes else { return }
            bytes?.replaceSubrange(start..<start + frame, with: before[start + frame..<start + 2 * frame])
            bytes?.replaceSubrange(start + frame..<start + 2 * frame, with: before[start..<start + frame])
        }
        try await change("a frame that is missing", long, of: objects, machine) {
            $0?.removeSubrange(start + frame..<start + 2 * frame)
        }
        try await change("an end that is missing", long, of: objects, machine) { $0?.removeLast(frame) }
        try await change("a shorter object whose header says so", long, of: objects, machine) { bytes in
            guard let count = bytes?.count else { return }
            bytes?.removeLast(count - start - frame)
            withUnsafeBytes(of: UInt64(FrameReader.frameBytes).littleEndian) {
                bytes?.replaceSubrange(48..<56, with: $0)
            }
            Self.repair(&bytes)
        }
        // Each field of the header, its checksum put right.
        for offset in [10, 12, 16, 32, 36, 40, 48, 56, 64, 72, 80, 88, 92, 96, 100, 104] {
            // What says that a log ends or goes on elsewhere may hide what follows, as removing objects does.
            try await change("byte \(offset) of the header", long, of: objects, machine, mayEndEarlier: true) { bytes in
                bytes?[offset] ^= 1
                Self.repair(&bytes)
            }
        }
        for offset in [128, 140, 152, 159, start, start + 100, start + frame - 1, start + frame, start + 2 * frame + 9]
        {
            try await change("byte \(offset)", long, of: objects, machine) { $0?[offset] ^= 0x10 }
        }
        // An object that is not encrypted, as only somebody without the key would write it.
        let header = try ObjectHeader(objects.bytes(of: long) ?? [], key: long)
        let payload = try header.payload(of: objects.bytes(of: long) ?? [], key: long, cipher: TestCipher())
        let plain = ObjectHeader(
            kind: header.kind, storeUUID: header.storeUUID, epoch: header.epoch, position: header.position,
            previousSequence: header.previousSequence, sequence: header.sequence, previousTime: header.previousTime,
            time: header.time, checksum: header.checksum, nextSegment: header.nextSegment,
            validByteCount: header.validByteCount)
        let bytes = try plain.object(payload, key: long)
        try await change("an object that is not encrypted", long, of: objects, machine) { $0 = bytes }
        // A head of somebody's who has no key.
        var head = try ShipHead(objects.bytes(of: ShipKey.head) ?? [], TestCipher())
        head.epochs[0].name = "somebody else"
        let forged = try head.encoded(TestCipher(keys: [1: 3]))
        head.isEncrypted = false
        let open = try head.encoded()
        try await change("a head under another key", ShipKey.head, of: objects, machine) { $0 = forged }
        try await change("a head that says nothing is encrypted", ShipKey.head, of: objects, machine) { $0 = open }
    }

    @Test func sizesTellLengths() {
        let frame = FrameReader.frameBytes
        for isEncrypted in [false, true] {
            for count in [0, 1, 15, 16, 17, frame - 1, frame, frame + 1, 2 * frame - 16, 2 * frame, 5 * frame + 77] {
                let size = FrameReader.objectByteCount(count, isEncrypted: isEncrypted)
                #expect(FrameReader.byteCount(ofObject: size, isEncrypted: isEncrypted) == count)
            }
            // Sizes that no object has: ends within a tag.
            let start = FrameReader.start(isEncrypted: isEncrypted)
            for size in [start + 1, start + 15, start + frame + 16 + 1, start + frame + 16 + 16] {
                #expect(FrameReader.byteCount(ofObject: size, isEncrypted: isEncrypted) == nil, "\(size)")
            }
        }
    }
}

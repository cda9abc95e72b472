import Foundation
import StrataIO
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataObjectStore
@testable import StrataShip

/// What a restore finds, and what a take-over leaves.
extension ShipTroubleTests {
    @Test func aDamagedObjectIsNamed() async throws {
        for change in 0..<4 {
            let (_, objects) = try await Self.shipped()
            let key = try #require(objects.contents.keys.first { $0.hasPrefix("log/") })
            objects.tamper(key) { bytes in
                switch change {
                case 0: bytes?[300] ^= 1
                case 1: bytes?.removeLast(64)
                case 2: bytes?[20] ^= 1
                default: bytes = []
                }
            }
            do {
                _ = try await ShipRestore.restore(objects)
                Issue.record("change \(change) was not noticed")
            } catch let error as ShipError {
                #expect(error.code == .damaged && error.key == key, "\(change): \(error)")
            }
        }
    }

    @Test func anObjectThatIsGoneIsNoticed() async throws {
        let (machine, objects) = try await Self.shipped(30)
        // The segment that the log goes on in lies in several pieces.
        let shipper = machine.shipper(objects)
        for _ in 0..<4 {
            try machine.save(1, textBytes: 100)
            try await shipper.shipOnce()
        }
        let newest = machine.store.snapshot.sequence
        let bucket = ShipBucket(objects, TestCipher.used)
        let log = try #require(try await ShippedLog.read(bucket))
        let needed = log.segments.flatMap { $0.parts.map(\.key) }
        #expect(log.segments.last?.parts.count ?? 0 >= 3)
        for key in objects.contents.keys where key.hasPrefix("log/") {
            let fork = objects.fork()
            fork.tamper(key) { $0 = nil }
            guard needed.contains(key) else {
                // A fence, the end of a segment, or a piece that lies in the bucket in another object, too.
                var digest: ObjectDigest?
                let code = await Self.code { digest = try await ShipRestore.digest(fork, .newest) }
                #expect(code == nil ? digest == machine.digests[newest] : log.ends.contains(key), "\(key)")
                continue
            }
            guard key != needed.last else {
                // Nothing says that there was more: the log ends before it.
                #expect(try await ShipRestore.digest(fork, .newest) == machine.digests[newest - 1])
                continue
            }
            var digest: ObjectDigest?
            let code = await Self.code { digest = try await ShipRestore.digest(fork, .newest) }
            // Of a segment that lies in the bucket whole, the pieces are there, too.
            #expect(
                code == .missing || code == .notRestorable
                    || (key.hasSuffix("whole") && digest == machine.digests[newest]),
                "\(key): \(code?.description ?? "no error")")
        }
    }

    /// Whoever took the piece before the one that was removed for the last put a fence there, which the living shipper
    /// never met: both wrote.
    @Test func nobodyTakesOverWhereAPieceIsGone() async throws {
        let machine = try ShipMachine(seed: 38)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        for _ in 0..<4 {
            try machine.save(1, textBytes: 100)
            try await shipper.shipOnce()
        }
        let pieces = objects.contents.keys.filter { $0.hasPrefix("log/") }
        try #require(pieces.count == 4)
        objects.tamper(pieces[1]) { $0 = nil }
        let before = objects.contents.keys
        for takesOver in [false, true] {
            do {
                _ = try await ShipRestore.restore(objects, takesOver: takesOver)
                Issue.record("an old state was restored as the newest")
            } catch let error as ShipError {
                #expect(error.code == .missing && error.key == pieces[1], "\(error)")
            }
        }
        #expect(await Self.code { _ = try await ShipRestore.restore(objects, .transaction(4)) } == .missing)
        #expect(await Self.code { _ = try await ShipRestore.restore(objects, .time(.max)) } == .missing)
        #expect(await Self.code { try await machine.shipper(objects).shipOnce() } == .missing)
        #expect(objects.contents.keys == before)
        // What does not need it can be restored, and the one that ships goes on.
        #expect(try await ShipRestore.digest(objects, .transaction(1)) == machine.digests[1])
        try machine.save(1, textBytes: 100)
        try await shipper.shipOnce()
        #expect(shipper.status.sequence == 5)
    }

    /// Nothing named the last pieces: an older state was restored as the newest, followed and gone on from.
    @Test(arguments: [false, true]) func theLastPieceIsMissed(isSealed: Bool) async throws {
        let machine = try ShipMachine(seed: 43)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        for _ in 0..<4 {
            try machine.save(1, textBytes: isSealed ? 30_000 : 100)
            try await shipper.shipOnce()
        }
        // Without work nothing is said for a minute, and then once.
        let before = objects.counts
        for _ in 0..<3 { try await shipper.shipOnce() }
        #expect(objects.counts == before)
        machine.clock.move(seconds: 61)
        for _ in 0..<3 {
            try await shipper.shipOnce()
            machine.clock.move(seconds: 61)
        }
        #expect(objects.counts.total == before.total + 1)
        let log = try #require(try await ShippedLog.read(ShipBucket(objects, TestCipher.used)))
        let last = try #require(log.segments.last?.parts.last?.key)
        let following = try await Following(objects.client(), disk: try Following.disk())
        objects.tamper(last) { $0 = nil }
        let names = objects.contents.keys
        for takesOver in [false, true] {
            do {
                _ = try await ShipRestore.restore(objects, takesOver: takesOver)
                Issue.record("an old state was restored as the newest")
            } catch let error as ShipError {
                #expect(error.code == .missing && error.key == last, "\(error)")
            }
        }
        #expect(await Self.code { _ = try await ShipRestore.restore(objects, .transaction(4)) } == .missing)
        #expect(await Self.code { _ = try await Following(objects, disk: try Following.disk()) } == .missing)
        #expect(await Self.code { try await machine.shipper(objects).shipOnce() } == .missing)
        #expect(objects.contents.keys == names)
        #expect(try await ShipRestore.digest(objects, .transaction(1)) == machine.digests[1])
        try await following.close()
        try machine.close()
    }

    /// An epoch that began in the middle of a segment hid that the one before had lost its last piece: whoever started
    /// shipped on behind what nobody could restore.
    @Test(arguments: [false, true]) func theLastPieceBeforeAnEpochIsMissed(hasGoneOn: Bool) async throws {
        let machine = try ShipMachine(seed: 49)
        let objects = SimulatedObjectStore()
        let first = machine.shipper(objects)
        for _ in 0..<4 {
            try machine.save(1, textBytes: 100)
            try await first.shipOnce()
        }
        let second = machine.shipper(objects)
        try await second.shipOnce()
        let log = try #require(try await ShippedLog.read(ShipBucket(objects, TestCipher.used)))
        let last = try #require(log.segments.last?.parts.last?.key)
        #expect(log.head.begun.last?.start.position == log.end.position && log.end.position.offset > 0)
        if hasGoneOn {
            try machine.save(1, textBytes: 100)
            try await second.shipOnce()
        }
        objects.tamper(last) { $0 = nil }
        let names = objects.contents.keys
        for takesOver in [false, true] {
            let shipper = machine.shipper(objects) { $0.takesOver = takesOver }
            do {
                try await shipper.shipOnce()
                Issue.record("a shipper went on behind a piece that is gone")
            } catch {
                #expect(error.code == .missing && error.key == last, "\(error)")
            }
            #expect(await Self.code { _ = try await ShipRestore.restore(objects, takesOver: takesOver) } == .missing)
        }
        #expect(await Self.code { _ = try await Following(objects, disk: try Following.disk()) } == .missing)
        #expect(objects.contents.keys.filter { !$0.hasPrefix("probe/") } == names)
        #expect(try await ShipRestore.digest(objects, .transaction(3)) == machine.digests[3])
        try machine.close()
    }

    /// A shipper that ends says how far it has come. Whoever takes over in the past has less, and may.
    @Test func whatTheHeadSaysEndsWithItsEpoch() async throws {
        let (machine, objects) = try await Self.shipped(9)
        let head = try #require(try await ShippedLog.head(ShipBucket(objects, TestCipher.used))).head
        #expect(head.reached?.position == machine.store.logEnd)
        let taken = try await ShipRestore.restore(objects, .transaction(4), takesOver: true)
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[4])
        let other = try ShipMachine(restored: taken.fileSystem, from: machine)
        try other.save()
        try await other.shipper(objects).shipOnce(withCheckpoint: true)
        #expect(try await ShipRestore.digest(objects, .newest) == other.digests[5])
        try other.close()
        try machine.close()
    }

    @Test func anObjectOfAnotherStoreIsNoticed() async throws {
        let (_, objects) = try await Self.shipped()
        let (_, others) = try await Self.shipped(5, seed: 77)
        let key = try #require(objects.contents.keys.first { $0.hasPrefix("log/") })
        objects.tamper(key) { $0 = others.bytes(of: key) }
        #expect(await Self.code { _ = try await ShipRestore.restore(objects) } == .damaged)
    }

    @Test func aNewerFormatIsRefused() async throws {
        let (machine, objects) = try await Self.shipped()
        let bytes = try #require(objects.bytes(of: ShipKey.head))
        var head = try ShipHead(bytes)
        head.format = 2
        let newer = try head.encoded()
        objects.tamper(ShipKey.head) { $0 = newer }
        #expect(await Self.code { _ = try await ShipRestore.restore(objects) } == .unsupportedFormat)
        #expect(await Self.code { try await machine.shipper(objects).shipOnce() } == .unsupportedFormat)
        objects.tamper(ShipKey.head) { $0?[5] ^= 1 }
        #expect(await Self.code { _ = try await ShipRestore.restore(objects) } == .damaged)
    }

    @Test func nothingIsRestoredOverSomething() async throws {
        let (machine, objects) = try await Self.shipped()
        let digest = try ShipSchema.digest(machine.store)
        #expect(
            await Self.code {
                _ = try await LogRestorer(from: objects, cipher: TestCipher.used).restore(
                    to: ShipMachine.path, in: machine.fileSystem)
            } == .exists)
        #expect(try ShipSchema.digest(machine.store) == digest)
    }

    @Test func aFullDiskLeavesNothing() async throws {
        let (machine, objects) = try await Self.shipped(20)
        for call in stride(from: 1, to: 60, by: 7) {
            let fileSystem = SimulatedFileSystem()
            try fileSystem.createDirectory("/data")
            fileSystem.inject(.init(.fail(.noSpace), atCall: call, of: .write))
            do {
                _ = try await LogRestorer(from: objects, cipher: TestCipher.used).restore(
                    to: ShipMachine.path, in: fileSystem)
                #expect(try ShipRestore.digest(fileSystem) == machine.digests[20])
            } catch let error as ShipError {
                #expect(error.code == .local && error.description.contains("space"), "\(call): \(error)")
                #expect(try fileSystem.list("/data").filter { !$0.hasPrefix(".") } == [], "\(call)")
            }
        }
    }

    @Test func whatFollowsATakeOverInThePastCountsNoMore() async throws {
        let (machine, objects) = try await Self.shipped(40)
        let taken = try await ShipRestore.restore(objects, .transaction(17), takesOver: true)
        let other = try ShipMachine(restored: taken.fileSystem, from: machine)
        #expect(try ShipSchema.digest(other.store) == machine.digests[17])
        for _ in 0..<20 { try other.save(3, textBytes: 9_000) }
        try await other.shipper(objects).shipOnce(withCheckpoint: true)
        for sequence in UInt64(1)...37 {
            #expect(
                try await ShipRestore.digest(objects, .transaction(sequence)) == other.digests[sequence],
                "transaction \(sequence)")
        }
        #expect(await Self.code { _ = try await ShipRestore.restore(objects, .transaction(38)) } == .notRestorable)
    }

    /// The other shipper was stopped before it was known whether the store could be made; when it could not, saves on
    /// the old machine failed, and nobody knew why.
    @Test func aTakeOverThatFailsLeavesTheOtherShipperAloneOrSaysSo() async throws {
        var (left, told) = (0, 0)
        for call in 1..<60 {
            let (machine, objects) = try await Self.shipped()
            let shipper = machine.shipper(objects)
            try await shipper.shipOnce()
            let fileSystem = SimulatedFileSystem()
            try fileSystem.createDirectory("/data")
            fileSystem.inject(.init(.fail(.noSpace), atCall: call, of: .write))
            var options = RestoreOptions()
            options.takesOver = true
            var failure: ShipError?
            do {
                _ = try await LogRestorer(from: objects, cipher: TestCipher.used).restore(
                    to: ShipMachine.path, in: fileSystem, options: options)
            } catch let error as ShipError {
                failure = error
            }
            guard let failure else { continue }
            try machine.save()
            let isFenced = await Self.code { try await shipper.shipOnce() } == .fenced
            let says = failure.description.contains("start its shipper again")
            #expect(isFenced == says, "\(call): \(failure)")
            if isFenced { told += 1 } else { left += 1 }
        }
        #expect(left >= 2, "\(left) and \(told)")
    }

    private final class Cancelling: Sendable {
        let value = Mutex<Task<RestorePlan, any Error>?>(nil)
    }

    /// A task that was cancelled fenced the other shipper all the same.
    @Test func aTakeOverThatIsCancelledChangesNothing() async throws {
        let (machine, objects) = try await Self.shipped()
        let shipper = machine.shipper(objects)
        try await shipper.shipOnce()
        let before = objects.contents.keys
        let fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory("/data")
        let restorer = LogRestorer(from: objects, cipher: TestCipher.used)
        var options = RestoreOptions()
        options.takesOver = true
        let cancelling = Cancelling()
        options.progress = { _, _ in cancelling.value.withLock { $0 }?.cancel() }
        let ready = options
        let gate = AsyncStream<Void>.makeStream()
        let running = Task {
            for await _ in gate.stream {}
            return try await restorer.restore(to: ShipMachine.path, in: fileSystem, options: ready)
        }
        cancelling.value.withLock { $0 = running }
        gate.continuation.finish()
        await #expect(throws: (any Error).self) { try await running.value }
        #expect(objects.contents.keys == before)
        #expect(try fileSystem.list("/data").filter { !$0.hasPrefix(".") } == [])
        try machine.save()
        try await shipper.shipOnce()
        #expect(shipper.status.sequence == 6)
    }

    /// The pieces of the segment that the log goes on in were fetched one after the other, and more than once.
    @Test func piecesAreFetchedOnceAndTogether() async throws {
        let machine = try ShipMachine(seed: 48)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        for _ in 0..<20 {
            try machine.save(1, textBytes: 100)
            try await shipper.shipOnce()
        }
        let gate = GatheringObjectStore(base: objects.client())
        #expect(try await ShipRestore.digest(gate, .newest) == machine.digests[20])
        let (most, whole) = gate.seen.value.withLock { ($0.most, $0.whole) }
        #expect(most >= 2)
        #expect(whole.count == 20 && whole.values.allSatisfy { $0 == 1 }, "\(whole)")
    }

    @Test func timesThatGoBackDoNotHideWhatWasBefore() async throws {
        let machine = try ShipMachine(seed: 33)
        try machine.save()
        try machine.save()
        machine.clock.now.value -= 3_600_000_000_000
        try machine.save()
        let objects = SimulatedObjectStore()
        try await machine.shipper(objects).shipOnce()
        let time = try #require(machine.times[3])
        // The third has an earlier time than the first two; nothing before the first fits.
        #expect(
            await Self.code { _ = try await LogRestorer(from: objects, cipher: TestCipher.used).plan(.time(time)) }
                == .notRestorable)
        let plan = try await LogRestorer(from: objects, cipher: TestCipher.used).plan(
            .time(try #require(machine.times[2])))
        #expect(plan.transaction?.sequence == 3)
        #expect(
            try await LogRestorer(from: objects, cipher: TestCipher.used).plan(.time(try #require(machine.times[1])))
                .transaction?.sequence == 1)
    }
}

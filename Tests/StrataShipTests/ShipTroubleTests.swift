import Foundation
import StrataIO
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataObjectStore
@testable import StrataShip

/// Bad input and bad luck: each has an end that says what happened and what helps.
@Suite struct ShipTroubleTests {
    static func code(_ body: () async throws -> Void) async -> ShipError.Code? {
        do {
            try await body()
            return nil
        } catch let error as ShipError {
            return error.code
        } catch {
            Issue.record(error)
            return nil
        }
    }

    static func shipped(_ saves: Int = 5, seed: UInt64 = 21) async throws -> (ShipMachine, SimulatedObjectStore) {
        let machine = try ShipMachine(seed: seed)
        for _ in 0..<saves { try machine.save() }
        let objects = SimulatedObjectStore()
        try await machine.shipper(objects).shipOnce(withCheckpoint: true)
        return (machine, objects)
    }

    // MARK: Shippers

    @Test func twoShippersByMistakeDoNotWriteBoth() async throws {
        let machine = try ShipMachine(seed: 21)
        try machine.save()
        let objects = SimulatedObjectStore()
        let (first, second) = (machine.shipper(objects), machine.shipper(objects))
        try await first.shipOnce()
        try await second.shipOnce()
        try machine.save()
        #expect(await Self.code { try await first.shipOnce() } == .fenced)
        // It stays so.
        let before = objects.counts
        #expect(await Self.code { try await first.shipOnce() } == .fenced)
        #expect(objects.counts == before)
        try await second.shipOnce()
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[2])
    }

    @Test func aStoreWhoseMachineWasReplacedRefusesSaves() async throws {
        let machine = try ShipMachine(seed: 22)
        try machine.save()
        let objects = SimulatedObjectStore()
        var options = ShipOptions()
        options.slotMaximumBytes = 0
        let shipper = LogShipper(machine.store, in: machine.fileSystem, to: objects, options: options)
        try await shipper.shipOnce()
        let taken = try await ShipRestore.restore(objects, takesOver: true)
        try machine.save()
        #expect(await Self.code { try await shipper.shipOnce() } == .fenced)
        #expect(throws: StoreError.self) { try machine.save() }
        #expect(machine.store.snapshot.sequence == 2)
        let other = try ShipMachine(restored: taken.fileSystem, from: machine)
        try other.save()
        try await other.shipper(objects).shipOnce()
        #expect(try await ShipRestore.digest(objects, .newest) == other.digests[2])
    }

    /// A shipper in a process of its own tells the writer through the page that both share.
    @Test func aWriterWhoseMachineWasReplacedIsToldByAnotherProcess() async throws {
        var machine = try ShipMachine(seed: 22)
        try machine.save()
        let objects = SimulatedObjectStore()
        let others = OtherProcessFileSystem(machine.fileSystem)
        var options = ShipOptions()
        options.slotMaximumBytes = 0
        let shipper = LogShipper(storeAt: ShipMachine.path, in: others, to: objects, options: options)
        try await shipper.shipOnce()
        // Another shipper of the same store takes nothing away from the writer.
        let second = LogShipper(storeAt: ShipMachine.path, in: others, to: objects, options: options)
        try await second.shipOnce()
        try machine.save()
        #expect(await Self.code { try await shipper.shipOnce() } == .fenced)
        try machine.save()
        try await second.shipOnce()
        let taken = try await ShipRestore.restore(objects, takesOver: true)
        try machine.save()
        #expect(await Self.code { try await second.shipOnce() } == .fenced)
        let error = #expect(throws: StoreError.self) { try machine.save() }
        #expect(error?.code == .readOnly)
        #expect(throws: StoreError.self) { try machine.store.setMetadata([1]) }
        #expect(machine.store.snapshot.sequence == 4)
        #expect(try ShipSchema.digest(machine.store) == machine.digests[4])
        // It may have been a mistake: whoever opens the store again has decided that.
        #expect(throws: StoreError.self) { try machine.close() }
        try machine.reopen()
        #expect(try machine.save() == 5)
        try machine.close()
        machine = try ShipMachine(restored: taken.fileSystem, from: machine)
        try machine.save()
        try await machine.shipper(objects).shipOnce()
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[4])
        try machine.close()
    }

    @Test func aCopyOfAStoreDoesNotShipInItsPlace() async throws {
        let (machine, objects) = try await Self.shipped()
        let fork = try await ShipRestore.restore(objects)
        let other = try ShipMachine(restored: fork.fileSystem, from: machine)
        #expect(await Self.code { try await other.shipper(objects).shipOnce() } == .conflict)
        try machine.save()
        try await machine.shipper(objects).shipOnce()
        // Even told to, it does not if its log is another one by now.
        try other.save()
        #expect(await Self.code { try await other.shipper(objects) { $0.takesOver = true }.shipOnce() } == .conflict)
        try await other.shipper(SimulatedObjectStore()).shipOnce()
    }

    @Test func aBucketOfAnotherStoreIsRefused() async throws {
        let (_, objects) = try await Self.shipped()
        let other = try ShipMachine(seed: 99)
        try other.save()
        #expect(await Self.code { try await other.shipper(objects) { $0.takesOver = true }.shipOnce() } == .conflict)
    }

    @Test func aStoreThatLostItsEndIsRefused() async throws {
        let machine = try ShipMachine(seed: 23)
        let objects = SimulatedObjectStore()
        try machine.save()
        let lost = machine.fileSystem.fork()
        try machine.save()
        try await machine.shipper(objects).shipOnce()
        // The disk is as it was before the second save.
        let store = try LogStore.open(ShipMachine.path, in: lost, options: ShipSchema.options(), schema: nil)
        defer { try? store.close() }
        var options = ShipOptions()
        options.takesOver = true
        let shipper = LogShipper(storeAt: ShipMachine.path, in: lost, to: objects, options: options)
        #expect(await Self.code { try await shipper.shipOnce() } == .conflict)
    }

    @Test(arguments: [false, true]) func aBucketWithoutConditionsIsRefused(losesAnswers: Bool) async throws {
        let machine = try ShipMachine(seed: 24)
        try machine.save()
        let objects = CarelessObjectStore(losesAnswers: losesAnswers)
        #expect(await Self.code { try await machine.shipper(objects).shipOnce() } == .unsafeStore)
        #expect(objects.base.contents.keys == [])
        try await machine.shipper(objects) { $0.onlyWriter = true }.shipOnce()
        try machine.save()
        try await machine.shipper(objects) { $0.onlyWriter = true }.shipOnce()
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[2])
    }

    @Test func aBucketThatWasEmptiedIsNoticed() async throws {
        let machine = try ShipMachine(seed: 25)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        try machine.save()
        try await shipper.shipOnce()
        objects.empty()
        var code: ShipError.Code?
        for _ in 0..<70 where code == nil {
            try machine.save(1, textBytes: 10)
            code = await Self.code { try await shipper.shipOnce() }
        }
        #expect(code == .missing)
        // Only the head is gone: what is there is not mixed with another log.
        #expect(await Self.code { try await machine.shipper(objects).shipOnce() } == .missing)
        #expect(await Self.code { _ = try await ShipRestore.restore(objects) } == .missing)
    }

    @Test func credentialsThatExpireAreWaitedFor() async throws {
        let machine = try ShipMachine(seed: 26)
        let objects = SimulatedObjectStore()
        let client = objects.client()
        let shipper = machine.shipper(client)
        try machine.save()
        try await shipper.shipOnce()
        client.isExpired = true
        try machine.save()
        do {
            try await shipper.shipOnce()
            Issue.record("it was shipped without credentials")
        } catch {
            #expect(error.mayPass)
        }
        #expect(shipper.status.isFailing && shipper.status.unshippedBytes > 0)
        #expect(shipper.status.sequence == 1)
        client.isExpired = false
        try await shipper.shipOnce()
        #expect(!shipper.status.isFailing && shipper.status.unshippedBytes == 0 && shipper.status.sequence == 2)
    }

    @Test func aClockThatIsWrongChangesNothing() async throws {
        let (machine, objects) = try await Self.shipped()
        objects.clockOffset = 3600
        try machine.save()
        try await machine.shipper(objects).shipOnce()
        objects.clockOffset = -3600
        try machine.save()
        try await machine.shipper(objects).shipOnce()
        for sequence in UInt64(1)...7 {
            #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
        }
    }

    @Test func recordsThatAFailedFlushMovesAreShippedWhereTheyAre() async throws {
        let machine = try ShipMachine(seed: 36, durability: .os)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        for _ in 0..<3 { try machine.save() }
        // What the shipper flushes is durable; the writer does not know it.
        try await shipper.shipOnce()
        machine.fileSystem.inject(.init(.fail(.ioError), of: .syncData))
        try machine.save()
        try machine.store.sync()
        #expect(machine.store.logEnd.segment == 2)
        machine.fileSystem.removeFaults()
        try machine.save()
        try await shipper.shipOnce()
        for sequence in UInt64(1)...5 {
            #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
        }
        // The same when another shipper starts before the move is shipped.
        let next = machine.shipper(objects)
        try machine.save()
        try await next.shipOnce()
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[6])
    }

    @Test func aStoreThatWasPutBackAndWrittenOnIsRefused() async throws {
        let machine = try ShipMachine(seed: 37)
        let objects = SimulatedObjectStore()
        for _ in 0..<4 { try machine.save(3, textBytes: 9_000) }
        let before = machine.fileSystem.fork()
        // The two have the same numbers of transactions and of segments from here on.
        for _ in 0..<8 { try machine.save(3, textBytes: 9_000) }
        try machine.store.compact()
        try await machine.shipper(objects).shipOnce()
        let other = try ShipMachine(restored: before, from: machine)
        other.random = SeededGenerator(seed: 4)
        for _ in 0..<20 { try other.save(3, textBytes: 9_000) }
        let shipper = other.shipper(objects) { $0.takesOver = true }
        #expect(await Self.code { try await shipper.shipOnce() } == .conflict)
    }

    /// The bucket had more of the log than the store remembered. What differed lay in segments that compaction had
    /// retired, so nothing was compared: two histories were mixed.
    @Test func aStoreThatWasPutBackIsRefusedAlsoAfterCompaction() async throws {
        let machine = try ShipMachine(seed: 39)
        let objects = SimulatedObjectStore()
        for _ in 0..<4 { try machine.save(3, textBytes: 9_000) }
        try await machine.shipper(objects).shipOnce()
        let before = machine.fileSystem.fork()
        for _ in 0..<20 { try machine.save(3, textBytes: 9_000) }
        try await machine.shipper(objects).shipOnce()
        let other = try ShipMachine(restored: before, from: machine)
        other.random = SeededGenerator(seed: 5)
        for _ in 0..<60 { try other.save(3, textBytes: 9_000) }
        try other.store.compact()
        let names = objects.contents.keys
        for takesOver in [false, true] {
            let shipper = other.shipper(objects) { $0.takesOver = takesOver }
            #expect(await Self.code { try await shipper.shipOnce() } == .conflict)
        }
        #expect(objects.contents.keys.filter { !$0.hasPrefix("probe/") } == names)
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[24])
    }

    /// A store was put back within the segment that it was shipped from, and nothing of before was left to compare.
    @Test func aStoreOfWhichNothingIsLeftToCompareHasToBeTaken() async throws {
        let machine = try ShipMachine(seed: 40)
        let objects = SimulatedObjectStore()
        for _ in 0..<3 { try machine.save(3, textBytes: 9_000) }
        try await machine.shipper(objects).shipOnce()
        for _ in 0..<40 { try machine.save(3, textBytes: 9_000) }
        try machine.store.compact()
        try machine.store.compact()
        #expect(await Self.code { try await machine.shipper(objects).shipOnce() } == .conflict)
        try await machine.shipper(objects) { $0.takesOver = true }.shipOnce()
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[43])
    }

    /// The old shipper went on in a bucket whose head was another shipper's, because its own epoch had a higher number.
    @Test(arguments: [false, true]) func aHeadThatWasReplacedIsNoticed(isOfAnotherStore: Bool) async throws {
        let machine = try ShipMachine(seed: 41)
        let objects = SimulatedObjectStore()
        try machine.save()
        for _ in 0..<2 { try await machine.shipper(objects).shipOnce() }
        let shipper = machine.shipper(objects)
        try await shipper.shipOnce()
        #expect(shipper.status.epoch == 3)
        let fork = try await ShipRestore.restore(objects)
        let other =
            isOfAnotherStore
            ? try ShipMachine(seed: 42) : try ShipMachine(restored: fork.fileSystem, from: machine)
        try other.save()
        objects.empty()
        for _ in 0..<(isOfAnotherStore ? 4 : 1) { try await other.shipper(objects).shipOnce() }
        var code: ShipError.Code?
        for _ in 0..<70 where code == nil {
            try machine.save(1, textBytes: 10)
            code = await Self.code { try await shipper.shipOnce() }
        }
        #expect(code == .missing)
    }

    /// What a bucket was put back to.
    enum Earlier: CaseIterable {
        /// To before the shipper went on in the epoch of the one before it.
        case beforeItWentOn
        /// To before it took its epoch.
        case beforeItTookOver
        /// To before it said in the head how far the log had come.
        case beforeItWentFurther
    }

    /// A head that had been put back was taken for that of a shipper that had taken over, or for the newest one.
    @Test(arguments: Earlier.allCases) func aBucketThatWasPutBackIsSaidToBe(_ earlier: Earlier) async throws {
        let machine = try ShipMachine(seed: 43)
        let objects = SimulatedObjectStore()
        let first = machine.shipper(objects)
        try machine.save()
        try await first.shipOnce()
        if earlier == .beforeItWentOn { await first.handOver() }
        let shipper = machine.shipper(objects)
        if earlier == .beforeItWentFurther {
            for _ in 0..<70 {
                try machine.save(1, textBytes: 10)
                try await shipper.shipOnce()
            }
        }
        let before = objects.contents
        for _ in 0..<70 {
            try machine.save(1, textBytes: 10)
            try await shipper.shipOnce()
        }
        objects.contents = before
        var found: ShipError?
        for _ in 0..<70 where found == nil {
            try machine.save(1, textBytes: 10)
            do { try await shipper.shipOnce() } catch { found = error }
        }
        #expect(found?.code == .missing && found?.description.contains("put back to an earlier state") == true)
        // Nobody has replaced the store.
        try machine.save()
        try machine.close()
    }

    /// The file beside the store was not flushed: after a loss of power, the store's own shipper was refused as that of
    /// a copy.
    @Test func aStoreThatLostPowerGoesOnShipping() async throws {
        let (machine, objects) = try await Self.shipped()
        try machine.fileSystem.syncDirectory("/")
        for policy in SimulatedFileSystem.CrashPolicy.allCases {
            for seed in UInt64(0)..<5 {
                let image = machine.fileSystem.crashImage(policy: policy, seed: seed)
                let other = try ShipMachine(restored: image, from: machine)
                let bucket = objects.fork()
                try other.save()
                try await other.shipper(bucket).shipOnce()
                let names = try image.list("/data").sorted()
                #expect(names.count == 2 && names[0] == "store" && names[1].hasPrefix("store.strata-ship-"))
                try other.close()
            }
        }
    }

    /// A new log was begun without a word, and the states in the old one were thought to be there.
    @Test func aBucketThatIsEmptyAgainIsRefused() async throws {
        let (machine, objects) = try await Self.shipped()
        objects.empty()
        do {
            try await machine.shipper(objects).shipOnce()
            Issue.record("a new log was begun")
        } catch {
            #expect(error.code == .missing && error.description.contains("store.strata-ship"), "\(error)")
        }
        #expect(objects.contents.keys == [])
        try ShipSlot.remove(besideStoreAt: ShipMachine.path, in: machine.fileSystem)
        try await machine.shipper(objects).shipOnce()
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[5])
    }

    // MARK: Compaction

    @Test func aSlotKeepsWhatIsNotShippedFromCompaction() async throws {
        let machine = try ShipMachine(seed: 29)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects) { $0.slotMaximumBytes = 1 << 30 }
        for _ in 0..<10 { try machine.save(3, textBytes: 9_000) }
        try await shipper.shipOnce()
        let before = try #require(try machine.fileSystem.list(ShipMachine.path).last { $0.hasSuffix(".seg") })
        for _ in 0..<20 { try machine.save(3, textBytes: 9_000) }
        try machine.store.compact()
        let names = try machine.fileSystem.list(ShipMachine.path)
        #expect(names.contains(before) && !names.contains("00000001.seg"), "\(names)")
        try await shipper.shipOnce()
        #expect(shipper.status.gaps == 0)
        for sequence in UInt64(1)...30 {
            #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
        }
        // Now that it is shipped it goes.
        try machine.store.compact()
        #expect(try !machine.fileSystem.list(ShipMachine.path).contains(before))
    }

    /// After a crash of the machine, a store that had more log than compaction keeps for a shipper was refused for
    /// good. A restore of a time in a gap gave the last state before it, whatever was missing.
    @Test func behindALimitThereIsAGapThatARestoreKnowsOf() async throws {
        let machine = try ShipMachine(seed: 30)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects) { $0.slotMaximumBytes = 100_000 }
        for _ in 0..<10 { try machine.save(3, textBytes: 9_000) }
        try await shipper.shipOnce()
        for _ in 0..<40 { try machine.save(3, textBytes: 9_000) }
        try machine.store.compact()
        try machine.save()
        let last = machine.store.snapshot.sequence
        // Another shipper of the same store, which has not held the segments open. The segment in which the bucket ends
        // is there to be compared.
        let next = machine.shipper(objects)
        try await next.shipOnce()
        #expect(next.status.gaps > 0)
        #expect(next.status.lastProblem?.contains("compacted away") == true)
        var restored: [UInt64] = []
        for sequence in 1...last {
            let time = try #require(machine.times[sequence])
            for target in [RestoreTarget.transaction(sequence), .time(time)] {
                do {
                    let digest = try await ShipRestore.digest(objects, target)
                    #expect(digest == machine.digests[sequence], "\(target)")
                    restored.append(sequence)
                } catch let error as ShipError {
                    #expect(error.code == .notRestorable, "\(target): \(error)")
                }
            }
        }
        #expect(restored.contains(10) && restored.contains(last) && restored.count < Int(last))
    }

    /// A segment that had been shipped to its end, without a word of that in the slot, was taken for one that is gone.
    @Test func aBucketThatEndsWhereASegmentDoesIsGoneOnIn() async throws {
        let machine = try ShipMachine(seed: 104)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects) { $0.slotMaximumBytes = 100_000 }
        try machine.save()
        try await shipper.shipOnce()
        for _ in 0..<3 { try machine.save(3, textBytes: 9_000) }
        // It dies behind the end of the first segment, before the slot says so.
        machine.fileSystem.inject(.init(.fail(.ioError), of: .rename, repetition: .always))
        objects.fail { $0.kind == .put && $0.key == ShipKey.piece(1, 2, 0) ? .internalError : nil }
        await #expect(throws: ShipError.self) { try await shipper.shipOnce() }
        objects.fail(nil)
        machine.fileSystem.removeFaults()
        let slot = try #require(try ShipSlot.all(besideStoreAt: ShipMachine.path, in: machine.fileSystem).first)
        let ended = try #require(try await ShippedLog.read(ShipBucket(objects, TestCipher.used)))
        try #require(slot.segment == 1 && ended.end.position == LogPosition(segment: 2, offset: 0))
        for _ in 0..<40 { try machine.save(3, textBytes: 9_000) }
        try machine.store.compact()
        let names = try machine.fileSystem.list(ShipMachine.path)
        try #require(names.contains("00000001.seg") && !names.contains("00000002.seg"))
        let next = machine.shipper(objects)
        try await next.shipOnce()
        #expect(next.status.gaps > 0)
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[44])
        try machine.close()
    }

    /// Segments that a shipper had opened before compaction removed them were passed over without a word.
    @Test func whatIsRemovedWhileAShipperRunsIsShipped() async throws {
        let machine = try ShipMachine(seed: 105)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        try machine.save()
        try await shipper.shipOnce()
        for _ in 0..<30 { try machine.save(3, textBytes: 9_000) }
        let isCompacted = Mutex(false)
        objects.fail { [store = machine.store] request in
            guard request.kind == .put, request.key.hasPrefix("log/") else { return nil }
            isCompacted.withLock { isCompacted in
                guard !isCompacted else { return }
                isCompacted = true
                do { try store.compact() } catch { Issue.record(error) }
            }
            return nil
        }
        try await shipper.shipOnce()
        #expect(try !machine.fileSystem.list(ShipMachine.path).contains("00000003.seg"))
        #expect(shipper.status.gaps == 0)
        for sequence in UInt64(1)...31 {
            #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
        }
        try machine.close()
    }

    @Test func aStoreThatWasCompactedBeforeIsShipped() async throws {
        let machine = try ShipMachine(seed: 31)
        for _ in 0..<40 { try machine.save(3, textBytes: 9_000) }
        try machine.store.compact()
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        try await shipper.shipOnce(withCheckpoint: true)
        // What went before was never to be shipped.
        #expect(shipper.status.gaps == 0)
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[40])
        #expect(await Self.code { _ = try await ShipRestore.restore(objects, .transaction(1)) } == .notRestorable)
    }

    // MARK: Collecting

    @Test func whatNoStateOfTheWindowNeedsIsRemoved() async throws {
        let machine = try ShipMachine(seed: 34)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects) { $0.slotMaximumBytes = 1 << 30 }
        var retention = ShipRetention(age: .seconds(60))
        retention.grace = .seconds(20)
        let collector = LogCollector(objects, retention: retention, cipher: TestCipher.used) {
            [clock = machine.clock] in clock.now.value
        }
        var floor: UInt64 = 0
        var removed = 0
        for step in 0..<60 {
            try machine.save(3, textBytes: 9_000)
            if step % 10 == 9 { try machine.store.compact() }
            try await shipper.shipOnce(withCheckpoint: step % 15 == 0)
            guard step % 5 == 4 else { continue }
            // Every request of a collection may be its last.
            let whole = objects.fork()
            let undisturbed = try await LogCollector(whole, retention: retention, cipher: TestCipher.used) {
                [clock = machine.clock] in
                clock.now.value
            }.collect()
            for number in 1...max(1, whole.counts.total) where step % 20 == 19 && number % 3 == 0 {
                let fork = objects.fork()
                fork.fail { $0.number >= number ? .lostAnswer : nil }
                _ = try? await LogCollector(fork, retention: retention, cipher: TestCipher.used) {
                    [clock = machine.clock] in
                    clock.now.value
                }.collect()
                fork.fail(nil)
                let sequence = machine.store.snapshot.sequence
                #expect(try await ShipRestore.digest(fork, .newest) == machine.digests[sequence], "\(step)/\(number)")
            }
            let report = try await collector.collect()
            #expect(report == undisturbed)
            removed += report.objects
            floor = report.floor ?? floor
        }
        #expect(floor > 0 && removed > 0, "nothing was collected")
        let last = machine.store.snapshot.sequence
        for sequence in (floor + 1)...last {
            #expect(
                try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence],
                "transaction \(sequence)")
        }
        #expect(await Self.code { _ = try await ShipRestore.restore(objects, .transaction(1)) } == .notRestorable)
        // Whatever is kept is younger than what was asked for, or needed for that.
        _ = try await LogRestorer(from: objects, cipher: TestCipher.used).plan(
            .time(machine.clock.now.value - 60_000_000_000))
        // Fences are never removed, and shippers go on.
        try machine.save()
        try await machine.shipper(objects).shipOnce()
        #expect(await Self.code { try await shipper.shipOnce() } == .fenced)
    }

    @Test func aMissingPermissionToRemoveIsTold() async throws {
        let machine = try ShipMachine(seed: 35)
        let objects = SimulatedObjectStore()
        objects.fail { $0.kind == .delete ? .denied : nil }
        var retention = ShipRetention(age: .seconds(1))
        retention.grace = .zero
        let kept = retention
        let shipper = machine.shipper(objects) { options in
            options.retention = kept
            options.clock = { [clock = machine.clock] in
                clock.now.value += 50_000_000_000_000
                return clock.now.value
            }
        }
        for _ in 0..<6 {
            for _ in 0..<6 { try machine.save(3, textBytes: 9_000) }
            try await shipper.shipOnce()
            try machine.store.compact()
            objects.advance(seconds: 1_000_000)
        }
        #expect(shipper.status.lastProblem?.contains("nothing was collected") == true)
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[36])
    }
}

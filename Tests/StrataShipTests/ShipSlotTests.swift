import StrataIO
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// The files beside a store that say who ships it and how far.
@Suite struct ShipSlotTests {
    /// One file remembered only the last bucket: compaction took what the other one had not, and each start in the
    /// other one forgot how far it was.
    @Test func eachBucketHasItsOwn() async throws {
        let machine = try ShipMachine(seed: 95)
        let (always, nightly) = (SimulatedObjectStore(name: "always"), SimulatedObjectStore(name: "nightly"))
        func ship(_ objects: SimulatedObjectStore) async throws {
            let shipper = machine.shipper(objects) { $0.slotMaximumBytes = 1 << 30 }
            try await shipper.shipOnce(withCheckpoint: true)
            #expect(shipper.status.gaps == 0)
            await shipper.handOver()
        }
        try machine.save()
        try await ship(nightly)
        for _ in 0..<5 {
            for _ in 0..<10 {
                try machine.save(3, textBytes: 9_000)
                try await ship(always)
            }
            try machine.store.compact()
        }
        try await ship(nightly)
        for objects in [always, nightly] {
            let head = try #require(try await ShippedLog.head(ShipBucket(objects, TestCipher.used))).head
            #expect(head.epochs.count == 1)
            for sequence in UInt64(1)...51 {
                #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
            }
        }
        // Each is missed when it is empty, whichever came last.
        for objects in [always, nightly] {
            objects.empty()
            #expect(await ShipTroubleTests.code { try await ship(objects) } == .missing)
        }
        try machine.close()
    }

    /// A bucket that nothing is shipped to any more must not fill the disk, nor take from the others what they need.
    @Test func oneThatIsGivenUpTakesNothingFromTheOthers() async throws {
        let machine = try ShipMachine(seed: 96)
        let (used, left) = (SimulatedObjectStore(name: "used"), SimulatedObjectStore(name: "left"))
        try machine.save()
        try await machine.shipper(left) { $0.slotMaximumBytes = 100_000 }.shipOnce()
        let shipper = machine.shipper(used) { $0.slotMaximumBytes = 1 << 30 }
        for _ in 0..<20 { try machine.save(3, textBytes: 9_000) }
        try await shipper.shipOnce()
        let kept = try #require(try machine.fileSystem.list(ShipMachine.path).last { $0.hasSuffix(".seg") })
        for _ in 0..<20 { try machine.save(3, textBytes: 9_000) }
        try machine.store.compact()
        let names = try machine.fileSystem.list(ShipMachine.path)
        #expect(names.contains(kept) && !names.contains("00000001.seg"))
        try machine.close()
    }

    /// Nobody removed them.
    @Test func whatCrashesLeaveIsRemovedAtTheNextStart() async throws {
        let machine = try ShipMachine(seed: 97)
        let objects = SimulatedObjectStore()
        try machine.save()
        try await machine.shipper(objects).shipOnce()
        let fileSystem = machine.fileSystem
        let slot = try #require(ShipSlot.all(besideStoreAt: ShipMachine.path, in: fileSystem).first)
        let own = try #require(
            ShipSlot.path(besideStoreAt: ShipMachine.path, bucket: objects.description).lastComponent?.string)
        let others = [
            "store.strata-ship-", "store.strata-ship-notes.tmp", own + ".Not-ours.tmp", own + "..tmp", own + ".abc",
            "other" + own.dropFirst("store".count) + ".abc.tmp", own + ".tmp",
        ]
        for name in others {
            try fileSystem.open(FilePath("/data").appending(name), .createIfMissing).close()
        }
        for path in ["/", "/data"] { try fileSystem.syncDirectory(FilePath(path)) }
        let names = try fileSystem.list("/data").sorted()
        var crashes = 0
        for policy in SimulatedFileSystem.CrashPolicy.allCases {
            for call in [SimulatedFileSystem.Call.write, .sync, .rename, .syncDirectory] {
                let image = fileSystem.fork()
                // It can be neither finished nor removed: as if the process had died there.
                image.inject(.init(.fail(.ioError), of: call))
                image.inject(.init(.fail(.ioError), of: .unlink))
                try? slot.write(besideStoreAt: ShipMachine.path, in: image)
                image.removeFaults()
                let crashed = image.crashImage(policy: policy, seed: 3)
                if try crashed.list("/data").count > names.count { crashes += 1 }
                let other = try ShipMachine(restored: crashed, from: machine)
                try other.save()
                try await other.shipper(objects.fork()).shipOnce()
                #expect(try crashed.list("/data").sorted() == names, "\(policy), \(call)")
                try other.close()
            }
        }
        #expect(crashes > 0)
        try machine.close()
    }
}

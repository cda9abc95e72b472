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
        // Of the other one, only the segment in which it ends.
        #expect(names.contains(kept) && names.contains("00000001.seg") && !names.contains("00000002.seg"))
        try machine.close()
    }

    /// Nobody removed them; and then a user's copy of a slot (`….bak.tmp`) went with them.
    @Test func whatCrashesLeaveIsRemovedAtTheNextStart() async throws {
        let machine = try ShipMachine(seed: 97)
        let objects = SimulatedObjectStore()
        try machine.save()
        try await machine.shipper(objects).shipOnce()
        let fileSystem = machine.fileSystem
        let slot = try #require(try ShipSlot.all(besideStoreAt: ShipMachine.path, in: fileSystem).first)
        let own = try #require(
            ShipSlot.path(besideStoreAt: ShipMachine.path, bucket: objects.description).lastComponent?.string)
        let others = [
            "store.strata-ship-", "store.strata-ship-notes.tmp", own + ".Not-ours.tmp", own + "..tmp", own + ".abc",
            own + ".bak.tmp", own + ".0123456789abcdef.bak.tmp", own + ".0123456789ABCDEF.tmp",
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

    // MARK: Beginnings

    /// Compaction waited for a bucket that nothing was ever shipped to, because its address was mistyped.
    @Test func aBucketThatCannotBeShippedToHasNone() async throws {
        let machine = try ShipMachine(seed: 106)
        for _ in 0..<20 { try machine.save(3, textBytes: 9_000) }
        let (_, other) = try await ShipTroubleTests.shipped(seed: 107)
        let denied = SimulatedObjectStore(name: "denied")
        denied.fail { _ in .denied }
        for objects in [denied, other] {
            await #expect(throws: ShipError.self) {
                try await machine.shipper(objects) { $0.slotMaximumBytes = 1 << 30 }.shipOnce()
            }
        }
        #expect(try machine.fileSystem.list("/data") == ["store"])
        // One that a crash has left, before the head was written.
        let slot = ShipSlot(
            storeUUID: machine.store.storeUUID, line: "0", segment: 0, maximumBytes: 1 << 30, bucket: "crashed",
            hasShipped: false)
        try slot.write(besideStoreAt: ShipMachine.path, in: machine.fileSystem)
        try machine.store.compact()
        #expect(try !machine.fileSystem.list(ShipMachine.path).contains("00000001.seg"))
        try machine.close()
    }

    /// What a shipper needs to begin stays while it tries to reach the bucket.
    @Test func aShipperThatBeginsHoldsTheFirstSegments() async throws {
        let machine = try ShipMachine(seed: 108)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects) { $0.slotMaximumBytes = 1 << 30 }
        for _ in 0..<20 { try machine.save(3, textBytes: 9_000) }
        for kind in [SimulatedObjectStore.Fault.internalError, .lostAnswer] {
            objects.fail { $0.kind == .put ? kind : nil }
            do {
                try await shipper.shipOnce()
                Issue.record("it was shipped")
            } catch {
                #expect(error.mayPass, "\(error)")
            }
            try machine.rewriteAll()
            try machine.store.compact()
        }
        objects.fail(nil)
        #expect(try !machine.fileSystem.list(ShipMachine.path).contains("00000001.seg"))
        try await shipper.shipOnce()
        #expect(shipper.status.gaps == 0)
        for sequence in UInt64(1)...22 {
            #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
        }
        try machine.close()
    }

    /// A store that has lost its slot is like a copy of itself. It goes on in the bucket if it is told to, and can be
    /// compared.
    @Test(arguments: [false, true]) func aStoreThatLostItGoesOnIfItIsTold(isCompacted: Bool) async throws {
        let machine = try ShipMachine(seed: 109)
        let objects = SimulatedObjectStore()
        for _ in 0..<10 { try machine.save(3, textBytes: 9_000) }
        let old = machine.shipper(objects)
        try await old.shipOnce()
        let segment = machine.store.logEnd.segment
        try ShipSlot.remove(besideStoreAt: ShipMachine.path, in: machine.fileSystem)
        for _ in 0..<30 { try machine.save(3, textBytes: 9_000) }
        if isCompacted {
            try machine.rewriteAll()
            try machine.store.compact()
            try #require(!machine.fileSystem.list(ShipMachine.path).contains(ShipKey.hex(segment) + ".seg"))
        }
        let keys = objects.contents.keys
        #expect(await ShipTroubleTests.code { try await machine.shipper(objects).shipOnce() } == .conflict)
        let taking = machine.shipper(objects) { $0.takesOver = true }
        guard !isCompacted else {
            #expect(await ShipTroubleTests.code { try await taking.shipOnce() } == .conflict)
            #expect(objects.contents.keys.filter { !$0.hasPrefix("probe/") } == keys)
            #expect(try ShipSlot.all(besideStoreAt: ShipMachine.path, in: machine.fileSystem).isEmpty)
            return try machine.close()
        }
        try await taking.shipOnce()
        // Once: its slot is there again.
        try machine.save()
        try await machine.shipper(objects).shipOnce()
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[41])
        try machine.save()
        #expect(await ShipTroubleTests.code { try await old.shipOnce() } == .fenced)
        try? machine.close()
    }

    // MARK: Versions before

    /// Puts the file of the first version in the place of the slot.
    private static func putBack(_ machine: ShipMachine, _ objects: SimulatedObjectStore) throws -> ShipSlot {
        let fileSystem = machine.fileSystem
        let slot = try #require(
            try ShipSlot.read(besideStoreAt: ShipMachine.path, bucket: objects.description, in: fileSystem))
        let lines = [
            "strata-ship 1", String(slot.storeUUID.high, radix: 16), String(slot.storeUUID.low, radix: 16), slot.line,
            "\(slot.segment)", "\(slot.maximumBytes)", slot.bucket,
        ]
        let file = try fileSystem.open("/data/store.strata-ship", .createIfMissing)
        try Array((lines.joined(separator: "\n") + "\n").utf8).withBytes { bytes throws(Errno) in
            try file.writeAll([bytes], at: 0)
        }
        try file.close()
        try fileSystem.unlink(ShipSlot.path(besideStoreAt: ShipMachine.path, bucket: objects.description))
        return slot
    }

    /// The file of the first version had another name. After an upgrade, each store was refused as a copy, and what it
    /// had not shipped was compacted away.
    @Test func thatOfAVersionBeforeIsTakenOver() async throws {
        let machine = try ShipMachine(seed: 98)
        let (objects, other) = (SimulatedObjectStore(name: "first"), SimulatedObjectStore(name: "other"))
        func shipper(_ objects: SimulatedObjectStore) -> LogShipper {
            machine.shipper(objects) { $0.slotMaximumBytes = 1 << 30 }
        }
        for _ in 0..<10 { try machine.save(3, textBytes: 9_000) }
        try await shipper(objects).shipOnce()
        let slot = try Self.putBack(machine, objects)
        let kept = ShipKey.hex(slot.segment) + ".seg"
        for _ in 0..<20 { try machine.save(3, textBytes: 9_000) }
        try machine.store.compact()
        let names = try machine.fileSystem.list(ShipMachine.path)
        #expect(names.contains(kept) && !names.contains("00000001.seg"))
        // It is not that of another bucket.
        try await shipper(other).shipOnce()
        #expect(try machine.fileSystem.list("/data").contains("store.strata-ship"))
        let next = shipper(objects)
        try await next.shipOnce()
        #expect(next.status.gaps == 0)
        let own = try #require(
            ShipSlot.path(besideStoreAt: ShipMachine.path, bucket: objects.description).lastComponent?.string)
        let files = try machine.fileSystem.list("/data")
        #expect(files.contains(own) && !files.contains("store.strata-ship"))
        let found = try ShipSlot.read(
            besideStoreAt: ShipMachine.path, bucket: objects.description, in: machine.fileSystem)
        #expect(found?.line == slot.line && found?.hasShipped == true)
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[30])
        // A bucket that is emptied is missed.
        _ = try Self.putBack(machine, objects)
        objects.empty()
        #expect(await ShipTroubleTests.code { try await shipper(objects).shipOnce() } == .missing)
        try machine.close()
    }

    /// Both files are there after a crash between: the old one kept log for ever.
    @Test func thatOfAVersionBeforeGoesAlsoAfterACrash() async throws {
        let machine = try ShipMachine(seed: 99)
        let objects = SimulatedObjectStore()
        try machine.save()
        try await machine.shipper(objects).shipOnce()
        let slot = try Self.putBack(machine, objects)
        machine.fileSystem.inject(.init(.fail(.ioError), of: .unlink, pathSuffix: ".strata-ship"))
        try await machine.shipper(objects).shipOnce()
        #expect(machine.fileSystem.firedFaultCount == 1)
        #expect(try ShipSlot.all(besideStoreAt: ShipMachine.path, in: machine.fileSystem).count == 2)
        try await machine.shipper(objects).shipOnce()
        let found = try ShipSlot.all(besideStoreAt: ShipMachine.path, in: machine.fileSystem)
        #expect(found.map(\.line) == [slot.line])
        try machine.close()
    }

    // MARK: Buckets that describe themselves alike

    /// Two servers that had a bucket of the same name shared one file: the second one passed for the first after it had
    /// been emptied, and each took the other's word for how far the store had been shipped.
    @Test func eachServerHasItsOwn() async throws {
        let machine = try ShipMachine(seed: 102)
        let (first, second) = (SimulatedObjectStore(server: "first"), SimulatedObjectStore(server: "second"))
        #expect(first.description == second.description)
        func ship(_ objects: SimulatedObjectStore) async throws {
            let shipper = machine.shipper(objects) { $0.slotMaximumBytes = 1 << 30 }
            try await shipper.shipOnce()
            await shipper.handOver()
            #expect(shipper.status.gaps == 0 && shipper.status.epoch == 1)
        }
        for _ in 0..<3 {
            for _ in 0..<10 { try machine.save(3, textBytes: 9_000) }
            try await ship(first)
            try machine.store.compact()
            try await ship(second)
        }
        #expect(try ShipSlot.all(besideStoreAt: ShipMachine.path, in: machine.fileSystem).count == 2)
        for objects in [first, second] {
            #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[30])
        }
        try machine.close()
    }

    /// Puts the slot of a bucket where versions before had it: under the name made of the bucket's description.
    private static func describe(_ machine: ShipMachine, _ objects: SimulatedObjectStore) throws -> ShipSlot {
        var slot = try #require(
            try ShipSlot.read(besideStoreAt: ShipMachine.path, bucket: objects.identity, in: machine.fileSystem))
        try machine.fileSystem.unlink(ShipSlot.path(besideStoreAt: ShipMachine.path, bucket: objects.identity))
        slot.bucket = objects.description
        try slot.write(besideStoreAt: ShipMachine.path, in: machine.fileSystem)
        return slot
    }

    /// The name that versions before gave a slot says nothing of the server: only the bucket that it is of takes it
    /// over, whichever is shipped to first.
    @Test func aSlotOfItsDescriptionIsTakenOverByItsBucketAlone() async throws {
        let machine = try ShipMachine(seed: 103)
        let fileSystem = machine.fileSystem
        let (first, second) = (SimulatedObjectStore(server: "first"), SimulatedObjectStore(server: "second"))
        for objects in [second, first] {
            try machine.save()
            try await machine.shipper(objects).shipOnce()
        }
        try fileSystem.unlink(ShipSlot.path(besideStoreAt: ShipMachine.path, bucket: second.identity))
        let slot = try Self.describe(machine, first)
        // It has the same store's log, and so could be its own; its head says that it is not.
        #expect(await ShipTroubleTests.code { try await machine.shipper(second).shipOnce() } == .conflict)
        #expect(
            try ShipSlot.read(besideStoreAt: ShipMachine.path, bucket: first.description, in: fileSystem) == slot)
        // An empty one could be that which it is of.
        let third = SimulatedObjectStore(server: "third")
        #expect(await ShipTroubleTests.code { try await machine.shipper(third).shipOnce() } == .missing)
        try machine.save()
        try await machine.shipper(first).shipOnce()
        let found = try ShipSlot.all(besideStoreAt: ShipMachine.path, in: fileSystem).filter { $0.line == slot.line }
        #expect(found.map(\.bucket) == [first.identity])
        #expect(try await ShipRestore.digest(first, .newest) == machine.digests[3])
        try await machine.shipper(third).shipOnce()
        // A crash between left both.
        var both = slot
        both.bucket = first.description
        try both.write(besideStoreAt: ShipMachine.path, in: fileSystem)
        try await machine.shipper(first).shipOnce()
        #expect(try ShipSlot.read(besideStoreAt: ShipMachine.path, bucket: first.description, in: fileSystem) == nil)
        try machine.close()
    }

    // MARK: What cannot be read

    /// A slot that could not be read counted as none: compaction took what was not shipped, and the shipper wrote
    /// another in its place, with which the store was a copy.
    @Test func oneThatCannotBeReadIsLeftAsItIs() async throws {
        for call in [SimulatedFileSystem.Call.open, .read, .list] {
            let machine = try ShipMachine(seed: 101)
            let objects = SimulatedObjectStore()
            func shipper() -> LogShipper { machine.shipper(objects) { $0.slotMaximumBytes = 1 << 30 } }
            for _ in 0..<10 { try machine.save(3, textBytes: 9_000) }
            try await shipper().shipOnce()
            for _ in 0..<20 { try machine.save(3, textBytes: 9_000) }
            let path = ShipSlot.path(besideStoreAt: ShipMachine.path, bucket: objects.description)
            let suffix = call == .list ? "/data" : path.lastComponent?.string
            let before = try ShipSlot.all(besideStoreAt: ShipMachine.path, in: machine.fileSystem)
            machine.fileSystem.inject(.init(.fail(.ioError), of: call, pathSuffix: suffix, repetition: .always))
            let segments = try machine.fileSystem.list(ShipMachine.path).filter { $0.hasSuffix(".seg") }
            try machine.store.compact()
            #expect(try Set(machine.fileSystem.list(ShipMachine.path)).isSuperset(of: segments), "\(call)")
            if call != .list {
                do {
                    try await shipper().shipOnce()
                    Issue.record("\(call)")
                } catch {
                    #expect(error.code == .local && error.mayPass, "\(error)")
                }
            }
            machine.fileSystem.removeFaults()
            #expect(try ShipSlot.all(besideStoreAt: ShipMachine.path, in: machine.fileSystem) == before)
            let next = shipper()
            try await next.shipOnce()
            #expect(next.status.gaps == 0)
            try machine.store.compact()
            #expect(try !Set(machine.fileSystem.list(ShipMachine.path)).isSuperset(of: segments), "\(call)")
            // One that says something else is left, too.
            let file = try machine.fileSystem.open(path, .readWrite)
            try file.truncate(to: 20)
            #expect(await ShipTroubleTests.code { try await shipper().shipOnce() } == .local)
            #expect(try file.byteCount() == 20)
            try machine.close()
        }
    }
}

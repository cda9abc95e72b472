import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Damages a small store in one place after the other, one in 23 of all places in `make test` and all in a soak: what
/// is read afterwards is what was written, or an error says where the damage is.
@Suite(.sweep) struct CorruptionSweepTests {
    typealias Corruption = SimulatedFileSystem.Corruption

    /// A store of a few segments with everything in it, closed in order or left by a killed process.
    private static func sample(closed: Bool) throws -> (fileSystem: SimulatedFileSystem, model: StoreModel) {
        let fileSystem = SimulatedFileSystem()
        var options = StoreWorkload.options()
        options.preallocationMinimumBytes = 4096
        let workload = StoreWorkload(seed: 7, fileSystem: fileSystem, options: options)
        try workload.run(steps: 10)
        // Whatever the last step was, there are commits behind the newest checkpoint.
        for _ in 0..<2 { try workload.commit() }
        if closed { try workload.close() }
        return (fileSystem.fork(), workload.model)
    }

    /// How far two places lie apart that are damaged, and where the first one lies, another one in each run. No
    /// multiple of the size of a field: a run meets all bytes of fields.
    private static let step = Effort.factor > 1 ? 1 : Effort.isSample ? 23 : 3
    private static let first = Int(Effort.seed % UInt64(step))

    private struct Tally {
        var cases = 0
        var refusedToOpen = 0
        var readErrors = 0
        var harmless = 0
        var cut = 0
    }

    private func examine(
        _ base: SimulatedFileSystem, _ model: StoreModel, _ path: FilePath, _ corruption: Corruption, mayCut: Bool,
        _ tally: inout Tally
    ) throws {
        tally.cases += 1
        let fileSystem = base.fork()
        try fileSystem.corrupt(path, corruption)
        let hint = "\(path) \(corruption)"
        do {
            let store = try StoreWorkload.open(fileSystem, StoreWorkload.options())
            if Int(store.snapshot.sequence) < model.states.count - 1 {
                // Cutting is right only where nothing says that the bytes were durable: the newest commit of a store
                // that was not closed.
                #expect(mayCut, "\(hint): acknowledged commits were cut off silently")
                tally.cut += 1
            }
            try model.check(store, hint)
            try model.checkHistory(store, hint)
            tally.harmless += 1
        } catch let error as StoreError {
            #expect(
                error.code == .corruption || error.code == .unsupportedFormat, "\(hint): wrong kind of error: \(error)")
            if error.message.isEmpty { Issue.record("\(hint): no message") }
            tally.readErrors += 1
        }
    }

    private func report(_ what: String, _ tally: Tally) {
        print(
            "corruption sweep, \(what), places from \(Self.first) by \(Self.step): \(tally.cases) cases, \(tally.harmless) read as written (\(tally.cut) after cutting the newest "
                + "commit), \(tally.readErrors) clear errors")
    }

    @Test(arguments: [true, false]) func everyByteFlipped(closed: Bool) throws {
        let (base, model) = try Self.sample(closed: closed)
        var tally = Tally()
        for path in base.filePaths where path.lastComponent?.string != "LOCK" {
            let contents = try base.contents(of: path)
            // Long stretches of equal bytes (text, reserved space) are sampled; everything else is tried in full.
            var offset = Self.first
            while offset < contents.count {
                try examine(base, model, path, .flipByte(offset: offset), mayCut: !closed, &tally)
                let isDull =
                    offset + 64 < contents.count
                    && contents[offset..<offset + 64].allSatisfy { $0 == contents[offset] }
                offset += isDull ? 61 : Self.step
            }
        }
        report("every byte flipped, \(closed ? "closed" : "killed")", tally)
        #expect(tally.readErrors > 0)
    }

    @Test(arguments: [true, false]) func everySectorZeroedSwappedDuplicated(closed: Bool) throws {
        let (base, model) = try Self.sample(closed: closed)
        var tally = Tally()
        for path in base.filePaths where path.lastComponent?.string != "LOCK" {
            let sectors = try base.contents(of: path).count / 512
            for sector in 0..<sectors {
                let start = sector * 512
                try examine(base, model, path, .zero(start..<start + 512), mayCut: !closed, &tally)
                for other in Set([sector + 1, sector + 3, sectors - 1 - sector]) where other < sectors && other > sector
                {
                    try examine(base, model, path, .swap(start, other * 512, byteCount: 512), mayCut: !closed, &tally)
                    try examine(
                        base, model, path, .duplicate(start..<start + 512, at: other * 512), mayCut: !closed, &tally)
                }
            }
        }
        report("sectors, \(closed ? "closed" : "killed")", tally)
    }

    @Test(arguments: [true, false]) func everyTruncation(closed: Bool) throws {
        let (base, model) = try Self.sample(closed: closed)
        var tally = Tally()
        for path in base.filePaths where path.lastComponent?.string != "LOCK" {
            let byteCount = try base.contents(of: path).count
            for length in stride(from: Self.first, to: byteCount, by: byteCount > 20_000 ? 7 * Self.step : Self.step) {
                try examine(base, model, path, .truncate(byteCount: length), mayCut: !closed, &tally)
            }
        }
        report("truncations, \(closed ? "closed" : "killed")", tally)
    }
}

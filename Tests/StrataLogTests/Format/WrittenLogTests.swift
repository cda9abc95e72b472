import Foundation
import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// The files that each version of the format wrote, in `Written`: today's program reads them, and writes the same.
@Suite struct WrittenLogTests {
    /// The file is a resource, and in the sources when it is written.
    private static func folder(_ version: Int, in root: URL? = Bundle.module.resourceURL) throws -> URL {
        try #require(root).appendingPathComponent("Written/format-\(version)")
    }

    /// Every version that there is a folder of.
    private static let kept: [Int] = {
        guard let root = Bundle.module.resourceURL?.appendingPathComponent("Written"),
            let names = try? FileManager.default.contentsOfDirectory(atPath: root.path)
        else { return [] }
        return names.compactMap { Int($0.dropFirst("format-".count)) }.sorted()
    }()

    /// The log, its newest checkpoint and the manifest; the rest is made again.
    private static func names(_ fileSystem: SimulatedFileSystem) throws -> [String] {
        let names = try fileSystem.list(WrittenLog.path)
        let checkpoints = names.filter { $0.hasSuffix(".chk") }
        return names.filter { $0.hasSuffix(".seg") || $0 == "MANIFEST" } + checkpoints.suffix(1)
    }

    /// A file system with what was kept.
    private static func load(_ version: Int, withCheckpoints: Bool = true) throws -> SimulatedFileSystem {
        let fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory(WrittenLog.path)
        let folder = try folder(version)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where withCheckpoints || !name.hasSuffix(".chk") {
            let file = try fileSystem.open(WrittenLog.path.appending(name), .create)
            let bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
            _ = try bytes.withUnsafeBytes { try file.write([$0], at: 0) }
            try file.sync()
            try file.close()
        }
        try fileSystem.syncDirectory(WrittenLog.path)
        return fileSystem
    }

    /// Writes the folders of versions that have none: `STRATA_WRITE_STORES=1 swift test --filter WrittenLogTests`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["STRATA_WRITE_STORES"] != nil))
    func writesWhatIsNotThereYet() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        for version in WrittenLog.versions {
            let folder = try Self.folder(version, in: sources)
            guard !FileManager.default.fileExists(atPath: folder.path) else { continue }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let fileSystem = try WrittenLog.write(version)
            for name in try Self.names(fileSystem) {
                let bytes = try fileSystem.contents(of: WrittenLog.path.appending(name))
                try Data(bytes).write(to: folder.appendingPathComponent(name))
            }
        }
    }

    @Test func everyVersionThatIsWrittenIsKept() {
        #expect(Set(Self.kept).isSuperset(of: WrittenLog.versions), "write the folder that is missing: docs/testing.md")
        #expect(WrittenLog.versions.last == Int(SegmentHeader.migrationVersion))
    }

    /// Whoever changes bytes on disk without noticing learns of it here.
    @Test(
        .enabled(if: WrittenLog.hasSameLZ4, "this machine's LZ4 compresses differently"),
        arguments: WrittenLog.versions)
    func theSameContentIsTheSameBytes(_ version: Int) throws {
        let (kept, fileSystem) = (try Self.load(version), try WrittenLog.write(version))
        #expect(try Self.names(kept) == Self.names(fileSystem))
        for name in try Self.names(kept) {
            let path = WrittenLog.path.appending(name)
            let (before, now) = (try kept.contents(of: path), try fileSystem.contents(of: path))
            let differing = zip(before, now).enumerated().first { $1.0 != $1.1 }?.offset
            let isSame = before == now
            #expect(
                isSame,
                """
                \(name) of format \(version) differs from byte \(differing ?? min(before.count, now.count)) on: if \
                this is wanted, raise the format's version and keep the old folder
                """)
        }
    }

    /// The newest states of both, their histories, and what `verify` says; with the checkpoint and from the log alone.
    @Test(arguments: kept, [true, false]) func whatWasWrittenIsRead(_ version: Int, withCheckpoints: Bool) throws {
        let kept = try Self.load(version, withCheckpoints: withCheckpoints)
        var options = WrittenLog.options()
        options.access = .readOnly
        let reader = try LogStore.open(WrittenLog.path, in: kept, options: options, schema: nil)
        #expect((reader.recovery.replayedTransactions == 0) == withCheckpoints)
        let today = try LogStore.open(
            WrittenLog.path, in: try WrittenLog.write(version), options: options, schema: nil)
        let (found, wanted) = (try StoredContents(reader), try StoredContents(today))
        #expect(found.rows == wanted.rows)
        #expect(found.history == wanted.history)
        #expect(found.members == wanted.members)
        // Without its checkpoint a reader has no ordered index: only a writer builds one.
        #expect(found.index == (withCheckpoints ? wanted.index : []))
        #expect(wanted.index.count == 19)
        #expect(reader.metadata == today.metadata)
        #expect(reader.schemas.map(\.schema) == today.schemas.map(\.schema))
        #expect(found.rows.count > 40 && found.history.count > 5 && found.members.count > 10)
        let report = try reader.verify()
        #expect(report.isSound, "\(report.problems + report.damagedCaches)")
        try reader.close()
        try today.close()
    }

    @Test(arguments: kept) func theLogGoesOn(_ version: Int) throws {
        let kept = try Self.load(version)
        var store = try LogStore.open(WrittenLog.path, in: kept, options: WrittenLog.options(), schema: nil)
        let before = try StoredContents(store)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: 2)
        let key = try store.allocateKeys(root: 2, count: 1)
        writer.beginInsert(key: key)
        writer.set(0, "added")
        writer.endRow()
        _ = try store.commit(transaction)
        try store.compact()
        try store.close()
        store = try LogStore.open(WrittenLog.path, in: kept, options: WrittenLog.options(), schema: nil)
        let after = try StoredContents(store)
        var rows = after.rows
        let added = ObjectRef(entity: 2, key: key)
        #expect(rows.removeValue(forKey: added)?.first == .bytes(Array("added".utf8)))
        #expect(rows == before.rows && after.members.filter { $0 != added } == before.members)
        #expect(Array(after.history.dropLast()) == before.history)
        let report = try store.verify()
        #expect(report.isSound, "\(report.problems + report.damagedCaches)")
        try store.close()
    }
}

/// What a log holds, as values.
private struct StoredContents {
    /// Large values as their bytes.
    private(set) var rows: [ObjectRef: [FormatValue]] = [:]
    /// A text for each transaction.
    private(set) var history: [String] = []
    /// Of teams.
    private(set) var members: [ObjectRef] = []
    /// Objects in the order of the ordered indexes.
    private(set) var index: [ObjectRef] = []

    init(_ store: LogStore) throws {
        let snapshot = store.snapshot
        for entity in store.schema.entities where entity.rootID == entity.id {
            var found: [(ref: ObjectRef, row: [FormatValue])] = []
            try snapshot.forEachRun(root: entity.id) { run throws(StoreError) in
                let block = try store.block(at: run.location)
                for number in 0..<run.count {
                    let row = Row(block: block, index: run.location.row + number)
                    found.append((row.ref, try Self.values(row, store)))
                }
                return true
            }
            for (ref, row) in found { rows[ref] = row }
        }
        for team in rows.keys.filter({ $0.entity == 2 }).sorted() {
            members += [team] + (try snapshot.referrers(postings: 1, to: team))
        }
        for ordered in snapshot.orderedIndexes where ordered.isReady {
            var refs: [ObjectRef] = []
            _ = try ordered.forEach(in: .all) {
                refs.append($0)
                return true
            }
            index += refs
        }
        var reader = try store.history(after: 0)
        while let transaction = try reader.next() { history.append(try Self.text(transaction)) }
    }

    private static func values(_ row: Row, _ store: LogStore) throws(StoreError) -> [FormatValue] {
        var values: [FormatValue] = []
        for slot in 0..<row.block.slotCount {
            let stored = value(try row.block.column(slot), row.index)
            if case .external(let large) = stored {
                values.append(.bytes(try store.read(large)))
            } else {
                values.append(stored)
            }
        }
        // A row of an earlier schema ends before slots that came later.
        let missing = (store.schema.entity(row.ref.entity)?.slots.count ?? 0) - values.count
        return values + [FormatValue](repeating: .null, count: max(missing, 0))
    }

    private static func text(_ transaction: HistoryTransaction) throws -> String {
        let groups = try transaction.groups.map { group in
            let preserved = try group.tombstones.map { block in
                try (0..<block.slotCount).map { slot in
                    let column = try block.column(slot)
                    return "\((0..<block.rowCount).map { value(column, $0) })"
                }
            }
            return "\(group.entity) \(group.kind) \(group.keys) \(group.changed.slots) "
                + "\(group.replacedSequences) \(preserved)"
        }
        return "\(transaction.sequence) \(transaction.timestampNanoseconds) \(transaction.author ?? "-") "
            + "\(transaction.contextName ?? "-") \(groups)"
    }
}

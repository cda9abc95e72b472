import Foundation
import StrataIO
import StrataLog
import StrataSupport
import Synchronization
import SystemPackage

/// Fills a new store row by row, with keys that are given, past contexts and objects.
///
/// The store is made beside its place and moved there when it is complete and on the device: until then nothing is
/// there, also after a crash. Used by one thread at a time.
package final class StoreBuilder {
    /// What a new store is to be, beside its rows.
    package struct Settings {
        /// The store's UUID, which URIs begin with; nil for one of its own.
        package var uuid: UUID?
        /// The user's metadata.
        package var metadata: [String: Any] = [:]
        /// Property-list values that are kept with the store and not shown, by name.
        package var hiddenMetadata: [String: Any] = [:]
        /// As for opening a store. ``StoreHost/option`` counts.
        package var options: [AnyHashable: Any]?

        package init() {}
    }

    /// Where the properties lie.
    package let layouts: RowLayouts
    private let log: LogStore
    private let clock: Clock
    private var transaction: WriteTransaction
    /// By entity number.
    private var writers: [EntityWriter?] = []
    private var rowsInTransaction = 0
    /// By number of the root entity.
    private var keys: [UInt16: KeySet] = [:]
    private var greatestKeys: [UInt16: UInt64] = [:]
    private var historyStart: UInt64?
    private var author: String?
    private var contextName: String?
    /// The programs that wrote what the history shows.
    private var programs: [HistoryState.Writer] = []

    /// A transaction must not grow without bounds; nobody sees the store before all of it is there.
    private static let rowsPerTransaction = 100_000

    private init(_ log: LogStore, _ layouts: RowLayouts, _ clock: Clock) {
        self.log = log
        self.layouts = layouts
        self.clock = clock
        transaction = log.makeTransaction()
    }

    /// Makes a store. Durable when it returns.
    ///
    /// - Parameter fill: inserts the rows.
    /// - Throws: `CocoaError` when something is there already, or the disk refuses; what `fill` throws. Nothing is
    ///   there
    ///   then.
    package static func build(
        at url: URL, _ shapes: ModelShapes, _ settings: Settings, fill: (StoreBuilder) throws -> Void
    ) throws {
        let path = FilePath(url.path)
        let host = StoreHost.of(settings.options)
        let fileSystem = host.fileSystem
        do {
            guard try fileSystem.linkAttributes(path) == nil else {
                throw DescribedError(
                    .fileWriteFileExists,
                    userInfo: [
                        NSLocalizedDescriptionKey:
                            "\(url.path) is there already: a new store takes the place of nothing.",
                        NSFilePathErrorKey: url.path,
                    ])
            }
            let stored = try StoredModel(shapes, holding: Set(shapes.byName.keys), previous: nil)
            let clock = Clock()
            var options = LogOptions()
            options.durability = .os
            options.compaction.isAutomatic = false
            options.newStoreUUID = settings.uuid.map { uuid in
                let words = uuid.words
                return StoreUUID(high: words.0.bigEndian, low: words.1.bigEndian)
            }
            options.clock = { clock.now() }
            host.adjust(&options)
            try StoreDirectory(path, fileSystem).replace { place in
                let log = try LogStore.open(
                    place, in: fileSystem, options: options, schema: try stored.schema(shapes))
                do {
                    let builder = StoreBuilder(log, RowLayouts(shapes, StoreMap(shapes, stored)), clock)
                    try fill(builder)
                    try builder.finish(settings)
                } catch {
                    try? log.close()
                    throw error
                }
                try log.close()
            }
        } catch let error as StoreError {
            throw StoreFailure.opening(error, url.path)
        } catch let error as Errno {
            throw StoreFailure.opening(StoreError(.io, "the store cannot be made", errno: error), url.path)
        }
    }

    /// Begins a row of an entity or of links, which the caller fills and ends.
    ///
    /// - Throws: `CocoaError` for a key that no row can have or that another row of the root entity has, and when the
    ///   disk refuses.
    package func beginRow(entity: UInt16, root: UInt16, key: UInt64) throws -> EntityWriter {
        guard key > 0, key < ObjectRef.maximumKey else {
            let name = log.schema.entity(entity)?.name ?? ""
            throw DescribedError(
                .persistentStoreSave,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "no object of \(name) can have the primary key \(key): they are from 1 to "
                        + "\(ObjectRef.maximumKey - 1)."
                ])
        }
        if rowsInTransaction >= Self.rowsPerTransaction { try commit() }
        rowsInTransaction += 1
        guard keys[root, default: KeySet()].insert(key) else {
            throw DescribedError(
                .persistentStoreSave,
                userInfo: [NSLocalizedDescriptionKey: "Two objects of one root entity have the primary key \(key)."])
        }
        if key > greatestKeys[root, default: 0] { greatestKeys[root] = key }
        let writer = self.writer(entity)
        writer.beginInsert(key: key)
        return writer
    }

    private func writer(_ entity: UInt16) -> EntityWriter {
        let index = Int(entity)
        while writers.count <= index { writers.append(nil) }
        if let writer = writers[index] { return writer }
        let writer = transaction.writer(for: entity)
        writers[index] = writer
        return writer
    }

    /// The reference to an object of an entity.
    package static func reference(entity: UInt16, key: UInt64) -> ObjectRef { ObjectRef(entity: entity, key: key) }

    /// Keeps a key, and those below it, from being given to a new object, though no row has it.
    package func reserve(_ key: UInt64, root: UInt16) {
        greatestKeys[root] = max(greatestKeys[root] ?? 0, min(key, ObjectRef.maximumKey - 1))
    }

    // MARK: Transactions

    /// Commits what has been written so far.
    private func commit() throws {
        for (root, key) in greatestKeys { log.reserveKeys(root: root, through: key) }
        greatestKeys = [:]
        _ = try log.commit(transaction)
        transaction = log.makeTransaction()
        transaction.author = author
        transaction.contextName = contextName
        writers = []
        rowsInTransaction = 0
    }

    /// What was written so far is what the store begins with: its history shows what comes after.
    package func beginHistory() throws {
        try commit()
        historyStart = log.snapshot.sequence + 1
    }

    /// Ends the transaction before, if any, and begins one that the history shows. A very large one becomes several
    /// with the same author and time.
    ///
    /// - Parameters:
    ///   - date: when the history says that it was committed.
    ///   - process: the program that it says has committed it; empty if that is not known.
    ///   - bundle: as above, the program's identifier.
    package func beginTransaction(
        author: String?, contextName: String?, date: Date, process: String = "", bundle: String = ""
    ) throws {
        (self.author, self.contextName) = (author, contextName)
        try commit()
        clock.set(date)
        let program = HistoryState.Writer(first: log.snapshot.sequence + 1, process: process, bundle: bundle)
        if programs.last?.process == process, programs.last?.bundle == bundle { return }
        programs.append(program)
        if programs.count > HistoryState.maximumWriters { programs.removeFirst() }
    }

    /// Writes an object's row once more, so that the history shows a change. The values stay.
    ///
    /// - Returns: false when there is no such object.
    package func touch(_ ref: ObjectRef, changed: SlotSet) throws -> Bool {
        guard let row = try log.snapshot.row(ref) else { return false }
        let writer = self.writer(ref.entity)
        try writer.beginUpdate(key: ref.key, replacing: row.version, changed: changed)
        for slot in 0..<row.block.slotCount { try writer.copy(slot, from: row, slot: slot) }
        writer.endRow()
        return true
    }

    /// Deletes an object that an earlier transaction inserted.
    ///
    /// - Returns: false when there is no such object.
    package func delete(_ ref: ObjectRef) throws -> Bool {
        guard let row = try log.snapshot.row(ref) else { return false }
        try transaction.delete(ref, replacing: row.version)
        return true
    }

    private func finish(_ settings: Settings) throws {
        if historyStart == nil { try beginHistory() } else { try commit() }
        clock.set(nil)
        try StoreMetadata.write(settings.metadata, to: log)
        try StoreMetadata.update(log) { entries in
            for (name, value) in settings.hiddenMetadata { entries[StoreMetadata.privatePrefix + name] = value }
            return !settings.hiddenMetadata.isEmpty
        }
        try HistoryState.update(log) { state in
            state.start = historyStart ?? 1
            state.writers = programs
            return state.start > 1 || !programs.isEmpty
        }
    }

    /// The time for the history: the machine's, unless another one has been set.
    private final class Clock: Sendable {
        private let nanoseconds = Atomic<Int64>(0)
        private let wall = LogOptions().clock

        func set(_ date: Date?) {
            let seconds = date?.timeIntervalSince1970 ?? 0
            // Nothing before 1970 or after 2200 was committed by anybody.
            nanoseconds.store(
                seconds > 0 && seconds < 7_258_118_400 ? Int64(seconds * 1e9) : 0, ordering: .relaxed)
        }

        func now() -> Int64 {
            let set = nanoseconds.load(ordering: .relaxed)
            return set == 0 ? wall() : set
        }
    }
}

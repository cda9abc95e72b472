import Foundation
import StrataIO
import StrataTestKit
import SystemPackage

@testable import StrataLog

/// A log with everything that the format has, the same in every run; its files as each version of the format wrote them
/// lie in `Written`.
///
/// What is written here must stay as it is: the kept files hold it. A new version of the format gets a new step at the
/// end of ``write(_:)``, or the same steps.
struct WrittenLog {
    /// The versions of the format that today's program writes: 1 until there is a migration, then 2.
    static let versions = [1, 2]
    static let path: FilePath = "/store"

    private static let everything: UInt16 = 1
    private static let team: UInt16 = 2
    private static let person: UInt16 = 3
    private static let manager: UInt16 = 4
    private static let note: UInt16 = 5

    static func options() -> LogOptions {
        var options = LogOptions()
        options.preallocationMinimumBytes = 4_096
        options.checkpointsInBackground = false
        options.compaction.isAutomatic = false
        options.newStoreUUID = StoreUUID(high: 0x0123_4567_89AB_4DEF, low: 0x8EDC_BA98_7654_3210)
        options.clock = { 1_700_000_000_000_000_000 }
        return options
    }

    // MARK: Schemas

    /// A schema: the first, one with a slot and an entity more, and a migration.
    private static func schema(_ version: Int) -> Schema {
        func lifted(_ slot: SlotLayout, from source: Int?, fill: [UInt8]? = nil) -> SlotLayout {
            var slot = slot
            if version == 3 { slot.lift = SlotLift(source: source, fill: fill) }
            return slot
        }
        let name = SlotLayout(.string, preservedInHistory: true)
        let teamOf = SlotLayout(.reference, postingsID: 1)
        let kinds = ValueKind.allCases.enumerated().map { lifted(SlotLayout($1), from: $0) }
        var teams = [lifted(SlotLayout(.string), from: 0)]
        if version == 2 { teams.append(SlotLayout(.int32)) }
        if version == 3 {
            teams.append(lifted(SlotLayout(.double), from: nil, fill: [0, 0, 0, 0, 0, 0, 4, 0x40]))
        }
        // The migration puts the name behind the age, which it fills in where there is none.
        let people =
            version < 3
            ? [name, SlotLayout(.int16), teamOf, SlotLayout(.data)]
            : [
                lifted(SlotLayout(.int16), from: 1, fill: [7, 0]), lifted(name, from: 0), lifted(teamOf, from: 2),
                lifted(SlotLayout(.data), from: 3),
            ]
        var entities = [
            EntityLayout(id: everything, rootID: everything, name: "Everything", slots: kinds),
            EntityLayout(id: team, rootID: team, name: "Team", slots: teams),
            EntityLayout(id: person, rootID: person, name: "Person", slots: people),
            EntityLayout(
                id: manager, rootID: person, name: "Manager", slots: people + [lifted(SlotLayout(.double), from: 4)]),
        ]
        if version == 2 { entities.append(EntityLayout(id: note, rootID: note, name: "Note", slots: [name])) }
        return Schema(entities: entities, model: Array("model \(version)".utf8), isMigration: version == 3)
    }

    /// By age, then by name downwards.
    private static func index(_ version: Int) -> OrderedIndexDefinition {
        OrderedIndexDefinition(
            root: person, entities: [person, manager],
            elements: [
                .init(slot: version < 3 ? 1 : 0, kind: .int16),
                .init(slot: version < 3 ? 0 : 1, kind: .string, isDescending: true),
            ])
    }

    // MARK: Contents

    /// One byte again and again: as short as LZ4 gets, so that the files stay small.
    private static let largeValue = [UInt8](repeating: 0x2A, count: 70_000)

    /// Whether this machine's LZ4 makes the same bytes of the one value that is compressed: other versions of the
    /// library may not, and the files differ then.
    static let hasSameLZ4: Bool = {
        var packed = [UInt8](repeating: 0, count: 1_000)
        let count = largeValue.withUnsafeBytes { source in
            packed.withUnsafeMutableBytes { target in
                LZ4.compress(source.baseAddress!, count: source.count, into: target.baseAddress!, capacity: 1_000)
            }
        }
        return packed.prefix(count ?? 0).withUnsafeBytes { checksum($0) } == 0xB0F9_FD65
    }()

    /// Writes the log as far as a version of the format goes, and closes it.
    static func write(_ version: Int) throws -> SimulatedFileSystem {
        let fileSystem = SimulatedFileSystem()
        var store = try LogStore.open(path, in: fileSystem, options: options(), schema: schema(1))
        try store.maintain([index(1)])
        try writeFirst(WrittenLog(store: store))
        guard version > 1 else { return fileSystem }
        store = try LogStore.open(path, in: fileSystem, options: options(), schema: schema(3))
        try store.maintain([index(3)])
        try writeMigrated(WrittenLog(store: store))
        return fileSystem
    }

    /// Two schemas, two segments; a third one is compacted away, with changes and deletions in its history.
    private static func writeFirst(_ log: WrittenLog) throws {
        let store = log.store
        try store.setMetadata(Array("metadata".utf8))
        try log.commit("first", context: "main") { transaction in
            for number in 0..<30 { try log.insertEverything(number, transaction) }
            for name in ["red", "blue"] { try log.insertTeam(name, transaction) }
            for number in 1...20 {
                try log.insertPerson("person \(number)", Int16(20 + number % 5), transaction, team: number % 3)
            }
            for number in 1...3 { try log.insertPerson("manager \(number)", nil, transaction, team: 1, bonus: 0.5) }
        }
        try log.commit("second") { transaction in
            try log.updatePerson(1, "person one", 99, transaction, team: 2, data: largeValue)
            for key in [2, 3, 22] as [UInt64] { try log.delete(key == 22 ? manager : person, key, transaction) }
        }
        try log.commit(nil, context: "third") { transaction in
            try log.delete(everything, 24, transaction)
            try log.updatePerson(4, "person four", nil, transaction, team: 0)
        }
        try store.compact()
        try store.setMetadata(Array("metadata after compaction".utf8))
        try log.commit { try log.updatePerson(5, "", 25, $0, team: 1) }
        try store.register(schema(2))
        try log.commit("adds") { transaction in
            try log.insertTeam("green", transaction, number: -1)
            for text in ["a", "b", "c"] { try log.insertNote(text, transaction) }
        }
        try store.leaveSegment { _ in true }
        try log.commit("deletes") { transaction in
            try log.delete(note, 2, transaction)
            try log.delete(person, 7, transaction)
        }
        try store.close()
    }

    /// A migration, behind which a segment of format 2 begins.
    private static func writeMigrated(_ log: WrittenLog) throws {
        try log.commit("migrated") { transaction in
            try log.updatePerson(8, "person eight", 88, transaction, team: 2)
            try log.insertTeam("white", transaction, level: 1.25)
        }
        try log.store.leaveSegment { _ in true }
        try log.commit("last", context: "end") { transaction in
            try log.insertPerson("newest", 30, transaction, team: 3)
            try log.delete(person, 9, transaction)
        }
        try log.store.close()
    }

    // MARK: Rows

    private let store: LogStore

    private func commit(
        _ author: String? = nil, context: String? = nil, _ fill: (WriteTransaction) throws -> Void
    ) throws {
        let transaction = store.makeTransaction()
        transaction.author = author
        transaction.contextName = context
        try fill(transaction)
        _ = try store.commit(transaction)
    }

    private func key(_ root: UInt16) throws -> UInt64 { try store.allocateKeys(root: root, count: 1) }

    private static func ref(team number: Int) -> ObjectRef { ObjectRef(entity: team, key: UInt64(number)) }

    /// A value in each slot but every seventh. So many rows lie in columns, none of which LZ4 makes shorter.
    private func insertEverything(_ number: Int, _ transaction: WriteTransaction) throws {
        let writer = transaction.writer(for: Self.everything)
        var random = SeededGenerator(seed: UInt64(number))
        writer.beginInsert(key: try key(Self.everything))
        for (slot, kind) in ValueKind.allCases.enumerated() where (number + slot) % 7 != 0 {
            switch kind {
            case .bool: writer.set(slot, number % 3 == 0)
            case .int16: writer.set(slot, Int16(number * 100 - 1_000))
            case .int32: writer.set(slot, Int32(number * 70_000))
            case .int64: writer.set(slot, Int64(number - 12) << 40)
            case .float: writer.set(slot, Float(number) / 4)
            case .double: writer.set(slot, 0.1 * Double(number))
            case .date: writer.set(slot, Double(number) * 86_400 - 1e9)
            case .reference: writer.set(slot, Self.ref(team: 1 + number % 2))
            case .uuid: writer.set(slot, uuid: (random.next(), random.next()))
            case .string: writer.set(slot, number == 1 ? "" : "name \(number)")
            case .uri: Array("x:/\(number)".utf8).withUnsafeBytes { writer.set(slot, bytes: $0) }
            case .decimal, .data, .transformable:
                [UInt8(slot), UInt8(number)].withUnsafeBytes { writer.set(slot, bytes: $0) }
            }
        }
        writer.endRow()
    }

    private func insertTeam(
        _ name: String, _ transaction: WriteTransaction, number: Int32? = nil, level: Double? = nil
    ) throws {
        let writer = transaction.writer(for: Self.team)
        writer.beginInsert(key: try key(Self.team))
        writer.set(0, name)
        if let number { writer.set(1, number) }
        if let level { writer.set(1, level) }
        writer.endRow()
    }

    private func insertNote(_ text: String, _ transaction: WriteTransaction) throws {
        let writer = transaction.writer(for: Self.note)
        writer.beginInsert(key: try key(Self.note))
        writer.set(0, text)
        writer.endRow()
    }

    private func insertPerson(
        _ name: String, _ age: Int16?, _ transaction: WriteTransaction, team: Int, bonus: Double? = nil
    ) throws {
        let writer = transaction.writer(for: bonus == nil ? Self.person : Self.manager)
        writer.beginInsert(key: try key(Self.person))
        setPerson(name, age, writer, team: team)
        if let bonus { writer.set(4, bonus) }
        writer.endRow()
    }

    private func updatePerson(
        _ key: UInt64, _ name: String, _ age: Int16?, _ transaction: WriteTransaction, team: Int, data: [UInt8]? = nil
    ) throws {
        let writer = transaction.writer(for: Self.person)
        let version = try version(ObjectRef(entity: Self.person, key: key))
        try writer.beginUpdate(key: key, replacing: version, changed: SlotSet(data == nil ? [0, 1, 2] : [0, 1, 2, 3]))
        setPerson(name, age, writer, team: team)
        data?.withUnsafeBytes { writer.set(3, bytes: $0) }
        writer.endRow()
    }

    private func setPerson(_ name: String, _ age: Int16?, _ writer: EntityWriter, team: Int) {
        let isMigrated = store.schemaVersion == 3
        writer.set(isMigrated ? 1 : 0, name)
        if let age { writer.set(isMigrated ? 0 : 1, age) }
        if team > 0 { writer.set(2, Self.ref(team: team)) }
    }

    private func delete(_ entity: UInt16, _ key: UInt64, _ transaction: WriteTransaction) throws {
        let ref = ObjectRef(entity: entity, key: key)
        try transaction.delete(ref, replacing: try version(ref))
    }

    private func version(_ ref: ObjectRef) throws -> RowVersion {
        guard let row = try store.snapshot.row(ref) else {
            throw StoreError(.invalidArgument, "there is no object \(ref)")
        }
        return row.version
    }
}

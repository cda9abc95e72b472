import CoreData
import Foundation
import StrataTestKit
import Testing

@testable import StrataTransfer

/// Core Data files of which bytes have changed or are missing. An import is refused and says where, or makes a store
/// with what SQLite shows of the file; it neither stops the program nor goes on for long.
@Suite struct DamagedImportTests {
    /// - `STRATA_SEED`: the first seed, to repeat a failure.
    /// - `STRATA_SOAK`: how many times the usual number of files.
    private static let first: UInt64 =
        ProcessInfo.processInfo.environment["STRATA_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
    private static let factor = ProcessInfo.processInfo.environment["STRATA_SOAK"].flatMap { Int($0) } ?? 1
    private static let pageBytes = 4_096
    private let scratch: Scratch
    private let whole: [UInt8]
    private var file: URL { scratch.url("Library.sqlite") }
    private var store: URL { scratch.url("new") }

    init() throws {
        scratch = try Scratch()
        try Company.makeStore(scratch.url("origin"))
        try CoreDataExporter(scratch.url("origin")).run(to: scratch.url("whole.sqlite"))
        let database = try SQLiteFile.creating(scratch.url("whole.sqlite"))
        // Large values would be most of the file, and all changes be in them.
        try database.run("UPDATE ZPERSON SET ZPHOTO = X'0102' WHERE ZPHOTO IS NOT NULL")
        try database.run("VACUUM")
        whole = [UInt8](try Data(contentsOf: scratch.url("whole.sqlite")))
        try FileManager.default.removeItem(at: scratch.url("origin"))
    }

    @Test func aDamagedFileIsRefusedOrComesInAsItIs() throws {
        var taken = 0
        let count = 40 * Self.factor
        for seed in (0..<UInt64(count)).map({ Self.first &+ $0 }) {
            var random = SeededGenerator(seed: seed)
            var bytes = whole
            let what = Self.damage(&bytes, &random)
            try Data(bytes).write(to: file)
            if try look("STRATA_SEED=\(seed), \(what)") { taken += 1 }
        }
        #expect(taken > 0 && taken < count, "STRATA_SEED=\(Self.first)")
    }

    /// Values of other types, keys that lead elsewhere: what no checksum and no b-tree tells.
    @Test func aValueOfAnotherKindIsRefusedOrComesInAsItIs() throws {
        let whole = scratch.url("whole.sqlite")
        var columns: [(table: String, column: String)] = []
        let names = try SQLiteFile.reading(whole).prepare(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' "
                + "AND m.name NOT LIKE 'sqlite%' ORDER BY 1, 2")
        while try names.step() { columns.append((names.shown(0), names.shown(1))) }
        let values = [
            "NULL", "0", "1", "-1", "3", "1.5", "9e999", "-9223372036854775808", "9223372036854775807",
            "281474976710655", "281474976710656", "32768", "'text'", "''", "X''", "X'00'", "X'0141'", "X'0241'",
            "CAST(X'FF' AS TEXT)",
            "zeroblob(16)", "'NaN'", "'1e400'",
        ]
        var taken = 0
        let count = 40 * Self.factor
        for seed in (0..<UInt64(count)).map({ Self.first &+ $0 }) {
            var random = SeededGenerator(seed: seed)
            let place = columns[Int.random(in: 0..<columns.count, using: &random)]
            let value = values[Int.random(in: 0..<values.count, using: &random)]
            try Data(self.whole).write(to: file)
            let sql =
                "UPDATE \(place.table) SET \(place.column) = \(value) WHERE rowid = "
                + "(SELECT rowid FROM \(place.table) LIMIT 1 OFFSET \(Int.random(in: 0..<3, using: &random)))"
            do {
                try SQLiteFile.creating(file).run(sql)
            } catch { continue }
            if try look("STRATA_SEED=\(seed), \(sql)") { taken += 1 }
        }
        #expect(taken > 0 && taken < count, "STRATA_SEED=\(Self.first)")
    }

    /// - Returns: what was done to the file.
    private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) -> String {
        func place(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
        let pages = bytes.count / pageBytes
        switch place(0..<10) {
        case 0:
            let count = place(0..<bytes.count)
            bytes.removeSubrange(count...)
            return "cut to \(count) bytes"
        case 1:
            let (from, to) = (place(0..<pages), place(0..<pages))
            bytes.replaceSubrange(
                to * pageBytes..<(to + 1) * pageBytes, with: bytes[from * pageBytes..<(from + 1) * pageBytes])
            return "page \(from) in the place of \(to)"
        case 2:
            let (start, count) = (place(0..<bytes.count - 64), place(1..<64))
            for index in start..<start + count { bytes[index] = UInt8.random(in: 0...255, using: &random) }
            return "\(count) bytes at \(start)"
        default:
            // Most of a page is empty; what is changed in the first one is the header or the schema.
            let range = place(0..<3) == 0 ? 0..<pageBytes : 0..<bytes.count
            var places: [Int] = []
            while places.count < 1 + (place(0..<3) == 0 ? 4 : 0) {
                let index = place(range)
                guard bytes[index] != 0 || place(0..<8) == 0 else { continue }
                bytes[index] ^= 1 << UInt8(place(0..<8))
                places.append(index)
            }
            return "bits at \(places)"
        }
    }

    /// - Returns: whether the file was taken.
    private func look(_ what: String) throws -> Bool {
        let begin = ContinuousClock.now
        defer {
            try? FileManager.default.removeItem(at: store)
            #expect(ContinuousClock.now - begin < .seconds(60), "\(what)")
        }
        do {
            try CoreDataImporter(file).run(to: store, model: Company.model())
        } catch let error as TransferError {
            #expect("\(error)".contains("Library.sqlite"), "\(what): \(error)")
            #expect(!FileManager.default.fileExists(atPath: store.path), "\(what)")
            return false
        } catch {
            Issue.record("\(what): \(error)")
            return false
        }
        do {
            try copyRows()
            let comparison = FileComparison(
                file: scratch.url("rows.sqlite"), store: store, columns: ["Clerk.level": "ZLEVEL1"])
            let differences = try comparison.run().differences
            #expect(differences.isEmpty, "\(what): \(differences.prefix(3))")
        } catch {
            Issue.record("\(what): it was taken, but \(error)")
        }
        return true
    }
    /// Writes what the tables of the file have into another one. Where a file is damaged, what SQLite finds through an
    /// index is not what it finds in the table.
    private func copyRows() throws {
        let copy = scratch.url("rows.sqlite")
        try? FileManager.default.removeItem(at: copy)
        let database = try SQLiteFile.creating(copy)
        try database.run("ATTACH '\(file.path)' AS d")
        let names = try database.prepare(
            "SELECT m.name, c.name FROM d.sqlite_master m, pragma_table_info(m.name, 'd') c "
                + "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, c.cid")
        var tables: [String: [String]] = [:]
        while try names.step() { tables[names.shown(0), default: []].append(names.shown(1)) }
        for (table, columns) in tables {
            // Names in small letters are the same to SQLite.
            let list = columns.map { "\(SQLiteFile.quoted($0)) AS \(SQLiteFile.quoted($0.uppercased()))" }
            // Without a condition SQLite would copy the indexes, too.
            try database.run(
                "CREATE TABLE main.\(SQLiteFile.quoted(table.uppercased())) AS SELECT \(list.joined(separator: ", ")) "
                    + "FROM d.\(SQLiteFile.quoted(table)) NOT INDEXED WHERE TRUE")
        }
        try database.run("DETACH d")
    }
}

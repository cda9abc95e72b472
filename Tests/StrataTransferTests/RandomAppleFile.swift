import Foundation
import StrataTestKit

@testable import StrataTransfer

/// A file as Core Data writes it, of a random model with random rows, and what is in it.
///
/// It has Core Data's names on its own: it shares no code with the importer but the calls of SQLite.
struct RandomAppleFile {
    /// A value as SQLite stores it.
    enum Stored {
        case integer(Int64)
        case real(Double)
        case text(String)
        case blob([UInt8])
    }

    private struct Row {
        let entity: Int
        let key: Int64
        var columns: [String: Stored] = [:]
    }

    private struct Join {
        let table: String
        let columns: [String]
        var rows: [[Int64]] = []
    }

    let model: RandomAppleModel
    static let uuid = "753753D3-A961-4901-AB05-8CC48B1D3853"
    /// By the end of an object's URI, its properties as texts; of a composite the elements by their paths.
    private(set) var expected: [String: [String: String]] = [:]
    private var rows: [Row] = []
    private var joins: [Join] = []
    /// By entity, in the order of ``RandomAppleModel/entities``.
    private var numbers: [Int64] = []
    private var tables: [Int: String] = [:]
    /// By entity and property the column.
    private var columns: [Int: [String: String]] = [:]
    /// By root the columns with their types.
    private var declared: [Int: [(name: String, type: String)]] = [:]
    private var joinColumns: Set<String> = []

    init(_ model: RandomAppleModel, _ random: inout SeededGenerator) {
        self.model = model
        nameEverything()
        makeRows(&random)
        for index in model.entities.indices {
            for relationship in model.entities[index].relationships where isFirst(index, relationship) {
                if relationship.isTransient { continue }
                fill(index, relationship, &random)
            }
        }
    }

    /// Of two relationships that are each other's inverse, the one that is not to-many, or either.
    private func isFirst(_ index: Int, _ relationship: RandomAppleModel.Relationship) -> Bool {
        let back = other(relationship)
        if back.isToMany != relationship.isToMany { return back.isToMany }
        return (index, relationship.name) <= (relationship.destination, relationship.inverse)
    }

    private func other(_ relationship: RandomAppleModel.Relationship) -> RandomAppleModel.Relationship {
        model.entities[relationship.destination].relationships.first { $0.name == relationship.inverse } ?? relationship
    }

    // MARK: Names

    private mutating func nameEverything() {
        var order: [Int] = []
        func visit(_ index: Int) {
            order.append(index)
            for child in sorted(model.children(of: index)) { visit(child) }
        }
        func sorted(_ list: [Int]) -> [Int] {
            list.sorted {
                let (a, b) = (model.entities[$0].name, model.entities[$1].name)
                return (a.lowercased(), a) < (b.lowercased(), b)
            }
        }
        for root in sorted(model.entities.indices.filter { model.entities[$0].parent == nil }) { visit(root) }
        numbers = model.entities.indices.map { Int64((order.firstIndex(of: $0) ?? 0) + 1) }
        var tableNames: Set<String> = []
        var taken: [Int: Set<String>] = [:]
        for index in order {
            let entity = model.entities[index]
            let root = model.root(index)
            if root == index { tables[index] = Self.free("Z" + entity.name.uppercased(), &tableNames) }
            var own = entity.parent.flatMap { columns[$0] } ?? [:]
            func add(_ path: String, _ name: String, _ type: String) {
                let column = Self.free("Z" + name.uppercased(), &taken[root, default: []])
                own[path] = column
                declared[root, default: []].append((column, type))
            }
            func add(_ attribute: RandomAppleModel.Attribute, _ path: String) {
                guard attribute.type == RandomAppleModel.composite else {
                    return add(path, attribute.name, Self.columnType(attribute.type))
                }
                for element in attribute.elements.sorted(by: { $0.name < $1.name }) {
                    add(element, path + "." + element.name)
                }
            }
            for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) where !attribute.isTransient {
                add(attribute, attribute.name)
            }
            for relationship in entity.relationships.sorted(by: { $0.name < $1.name })
            where !relationship.isToMany && !relationship.isTransient {
                add(relationship.name, relationship.name, "INTEGER")
                let column = own[relationship.name] ?? ""
                if model.family(relationship.destination).count > 1 {
                    let number = numbers[relationship.destination]
                    declared[root, default: []].append(("Z\(number)_\(column.dropFirst())", "INTEGER"))
                }
                let back = other(relationship)
                if back.isToMany, back.isOrdered {
                    declared[root, default: []].append(("Z_FOK_\(column.dropFirst())", "INTEGER"))
                }
            }
            columns[index] = own
        }
    }

    private static func free(_ base: String, _ taken: inout Set<String>) -> String {
        if taken.insert(base).inserted { return base }
        var number = 1
        while !taken.insert("\(base)\(number)").inserted { number += 1 }
        return "\(base)\(number)"
    }

    private static func columnType(_ type: Int64) -> String {
        switch type {
        case 100, 200, 300, 800: "INTEGER"
        case 400: "DECIMAL"
        case 500, 600: "FLOAT"
        case 700, 1200: "VARCHAR"
        case 900: "TIMESTAMP"
        default: "BLOB"
        }
    }

    // MARK: Rows

    private func end(_ row: Int) -> String { "\(model.entities[rows[row].entity].name)/p\(rows[row].key)" }

    private mutating func note(_ row: Int, _ name: String, _ text: String) {
        let end = end(row)
        expected[end]?[name] = text
    }

    private mutating func makeRows(_ random: inout SeededGenerator) {
        var keys: [Int: Int64] = [:]
        for index in model.entities.indices where !model.entities[index].isAbstract {
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                keys[model.root(index), default: 0] += Int64.random(in: 1...3, using: &random)
                rows.append(Row(entity: index, key: keys[model.root(index)] ?? 0))
                let row = rows.count - 1
                let end = end(row)
                expected[end] = [:]
                for ancestor in model.line(index) {
                    for attribute in model.entities[ancestor].attributes {
                        fill(row, attribute, attribute.name, attribute.isTransient, &random)
                    }
                }
            }
        }
    }

    private mutating func fill(
        _ row: Int, _ attribute: RandomAppleModel.Attribute, _ path: String, _ isTransient: Bool,
        _ random: inout SeededGenerator
    ) {
        if attribute.type == RandomAppleModel.composite {
            for element in attribute.elements { fill(row, element, path + "." + element.name, isTransient, &random) }
            return
        }
        guard !isTransient, Int.random(in: 0..<4, using: &random) > 0 else { return }
        let (stored, text) = Self.value(attribute.type, &random)
        let column = columns[rows[row].entity]?[path] ?? ""
        rows[row].columns[column] = stored
        note(row, path, text)
    }

    private static func value(_ type: Int64, _ random: inout SeededGenerator) -> (Stored, String) {
        switch type {
        case 100: return integer(Int64(Int16.random(in: .min ... .max, using: &random)))
        case 200: return integer(Int64(Int32.random(in: .min ... .max, using: &random)))
        case 300:
            return integer(
                [.min, .max, 0, .random(in: .min ... .max, using: &random)].randomElement(using: &random) ?? 0)
        case 800: return integer(Int64.random(in: 0...1, using: &random))
        case 400:
            let number = Decimal(Int.random(in: -99_999...99_999, using: &random)) / 100
            return (.text("\(number)"), "\(number)")
        case 500, 900:
            let number = Double.random(in: -1e9...1e9, using: &random)
            return (.real(number), "\(number)")
        case 600:
            let number = Float.random(in: -1e9...1e9, using: &random)
            return (.real(Double(number)), "\(number)")
        case 700:
            let text =
                ["", "ö\u{0308}", "a'b\"c", "\u{FEFF}x", "\u{0}n", "🙂", "12", "e\u{301}"].randomElement(using: &random)
                ?? ""
            return (.text(text), text)
        case 1200:
            let text = "https://example.org/\(Int.random(in: 0...9, using: &random))?a=b%20c"
            return (.text(text), text)
        case 1100:
            let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            return (.blob(bytes), uuid.uuidString)
        default:
            let bytes = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            return (.blob(bytes), Data(bytes).base64EncodedString())
        }
    }

    private static func integer(_ number: Int64) -> (Stored, String) { (.integer(number), "\(number)") }

    // MARK: Relationships

    private func instances(_ entity: Int) -> [Int] {
        let family = Set(model.family(entity))
        return rows.indices.filter { family.contains(rows[$0].entity) }
    }

    private mutating func fill(
        _ owner: Int, _ relationship: RandomAppleModel.Relationship, _ random: inout SeededGenerator
    ) {
        let back = other(relationship)
        if relationship.isToMany { return link(owner, relationship, back, &random) }
        var free = instances(relationship.destination).shuffled(using: &random)
        var members: [Int: [(place: Int64, end: String)]] = [:]
        for row in instances(owner) {
            guard Bool.random(using: &random) else { continue }
            // Where it is to-one at both ends, each is led to by one at most.
            let target =
                back.isToMany ? instances(relationship.destination).randomElement(using: &random) : free.popLast()
            guard let target else { continue }
            point(row, relationship, target)
            let place = Int64.random(in: 1...1_000_000, using: &random)
            if !back.isToMany {
                if relationship.name == relationship.inverse, owner == relationship.destination { continue }
                point(target, back, row)
            } else if back.isOrdered {
                let column = columns[rows[row].entity]?[relationship.name] ?? ""
                rows[row].columns["Z_FOK_\(column.dropFirst())"] = .integer(place)
            }
            members[target, default: []].append((place, end(row)))
        }
        guard back.isToMany else { return }
        for (target, list) in members { expect(target, back, list) }
    }

    private mutating func point(_ row: Int, _ relationship: RandomAppleModel.Relationship, _ target: Int) {
        let column = columns[rows[row].entity]?[relationship.name] ?? ""
        rows[row].columns[column] = .integer(rows[target].key)
        if model.family(relationship.destination).count > 1 {
            let number = numbers[relationship.destination]
            rows[row].columns["Z\(number)_\(column.dropFirst())"] = .integer(numbers[rows[target].entity])
        }
        note(row, relationship.name, end(target))
    }

    private mutating func expect(
        _ row: Int, _ relationship: RandomAppleModel.Relationship, _ list: [(place: Int64, end: String)]
    ) {
        let sorted = relationship.isOrdered ? list.sorted { $0.place < $1.place } : list.sorted { $0.end < $1.end }
        note(row, relationship.name, sorted.map(\.end).joined(separator: " "))
    }

    private mutating func link(
        _ owner: Int, _ relationship: RandomAppleModel.Relationship, _ back: RandomAppleModel.Relationship,
        _ random: inout SeededGenerator
    ) {
        let isReflexive = owner == relationship.destination && relationship.name == relationship.inverse
        let (first, second) = (numbers[owner], numbers[relationship.destination])
        let member = Self.free("Z_\(second)\(relationship.name.uppercased())", &joinColumns)
        let own = isReflexive ? "REFLEXIVE" : Self.free("Z_\(first)\(back.name.uppercased())", &joinColumns)
        let names = Set(joins.map(\.table))
        let candidates = ["Z_\(first)\(relationship.name.uppercased())", "Z_\(second)\(back.name.uppercased())"]
        var taken = names
        let table = Self.free(candidates.randomElement(using: &random) ?? "", &taken)
        var join = Join(
            table: table,
            columns: [own, member] + (relationship.isOrdered ? ["Z_FOK_\(member.dropFirst(2))"] : [])
                + (back.isOrdered && !isReflexive ? ["Z_FOK_\(own.dropFirst(2))"] : []))
        var there: [Int: [(place: Int64, end: String)]] = [:]
        var here: [Int: [(place: Int64, end: String)]] = [:]
        for row in instances(owner) {
            for target in instances(relationship.destination) where Int.random(in: 0..<3, using: &random) == 0 {
                if isReflexive, row > target { continue }
                let places = (
                    Int64.random(in: 1...1_000_000, using: &random), Int64.random(in: 1...1_000_000, using: &random)
                )
                join.rows.append(
                    [rows[row].key, rows[target].key] + (relationship.isOrdered ? [places.0] : [])
                        + (back.isOrdered && !isReflexive ? [places.1] : []))
                there[row, default: []].append((places.0, end(target)))
                if isReflexive {
                    if row == target { continue }
                    join.rows.append([rows[target].key, rows[row].key])
                    there[target, default: []].append((places.1, end(row)))
                } else {
                    here[target, default: []].append((places.1, end(row)))
                }
            }
        }
        for (row, list) in there { expect(row, relationship, list) }
        for (row, list) in here { expect(row, back, list) }
        joins.append(join)
    }

    // MARK: The file

    func write(to url: URL, uncompressed model: ([UInt8]) -> [UInt8]) throws {
        let database = try SQLiteFile.creating(url)
        try database.run("PRAGMA synchronous = OFF")
        try database.run("BEGIN")
        try writeBookkeeping(database, model(self.model.archive))
        let quoted = SQLiteFile.quoted
        for (root, table) in tables.sorted(by: { $0.key < $1.key }) {
            let list = (declared[root] ?? []).map { ", \(quoted($0.name)) \($0.type)" }.joined()
            try database.run(
                "CREATE TABLE \(quoted(table)) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER\(list) )")
        }
        for join in joins {
            let list = join.columns.map { "\(quoted($0)) INTEGER" }.joined(separator: ", ")
            let keys = join.columns.prefix(2).map(quoted).joined(separator: ", ")
            try database.run("CREATE TABLE \(quoted(join.table)) ( \(list), PRIMARY KEY (\(keys)) )")
            for row in join.rows {
                try database.run(
                    "INSERT INTO \(quoted(join.table)) VALUES (\(row.map(String.init).joined(separator: ", ")))")
            }
        }
        for row in rows {
            let names = row.columns.keys.sorted()
            let list = (["Z_PK", "Z_ENT", "Z_OPT"] + names).map(quoted).joined(separator: ", ")
            let marks = names.map { _ in ", ?" }.joined()
            let table = quoted(tables[self.model.root(row.entity)] ?? "")
            let statement = try database.prepare(
                "INSERT INTO \(table) (\(list)) VALUES (\(row.key), \(numbers[row.entity]), 1\(marks))")
            for (index, name) in names.enumerated() { try Self.bind(row.columns[name], statement, index) }
            try statement.execute()
        }
        try database.run("COMMIT")
    }

    private static func bind(_ value: Stored?, _ statement: SQLiteStatement, _ index: Int) throws {
        switch value {
        case .integer(let value): statement.bind(index, value)
        case .real(let value): statement.bind(index, value)
        case .text(let value): try statement.bind(index, value)
        case .blob(let value): try value.withUnsafeBytes { try statement.bind(index, blob: $0) }
        case nil: statement.bindNull(index)
        }
    }

    private func writeBookkeeping(_ database: SQLiteFile, _ cache: [UInt8]) throws {
        try database.run(
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
        try database.run("CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
        try database.run("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
        try database.run("INSERT INTO Z_METADATA VALUES (1, '\(Self.uuid)', NULL)")
        for (index, entity) in model.entities.enumerated() {
            let parent = entity.parent.map { numbers[$0] } ?? 0
            let greatest = rows.filter { model.root($0.entity) == index }.map(\.key).max() ?? 0
            let statement = try database.prepare("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, ?)")
            statement.bind(0, numbers[index])
            try statement.bind(1, entity.name)
            statement.bind(2, parent)
            statement.bind(3, entity.parent == nil ? greatest : 0)
            try statement.execute()
        }
        let statement = try database.prepare("INSERT INTO Z_MODELCACHE VALUES (?)")
        try cache.withUnsafeBytes { try statement.bind(0, blob: $0) }
        try statement.execute()
    }
}

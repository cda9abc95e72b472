import Foundation
import Strata
import StrataLog

/// Writes the rows of one root entity and what inherits from it into their table.
struct TableExporter {
    let schema: ExportSchema
    let table: ExportSchema.Table
    let database: SQLiteFile

    /// - Parameter each: called after each row.
    func run(_ reader: StoreReader, each: () -> Void) throws {
        let names = ["Z_PK", "Z_ENT", "Z_OPT"] + table.columns.map(\.name)
        let list = names.map { SQLiteFile.quoted($0) }.joined(separator: ", ")
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        let statement = try database.prepare(
            "INSERT INTO \(SQLiteFile.quoted(table.name)) (\(list)) VALUES (\(marks))")
        let byNumber = Dictionary(table.family.map { ($0.number, $0) }, uniquingKeysWith: { one, _ in one })
        let entityNumbers = Dictionary(
            schema.numbers.ordered.map { ($0.number, schema.numbers.number($0.name)) },
            uniquingKeysWith: { one, _ in one })
        try reader.forEachRow(root: table.root.root) { row in
            guard let rows = byNumber[row.entity], let columns = table.columnsBySlot[rows.name] else { return }
            for column in table.columns.indices { statement.bindNull(3 + column) }
            statement.bind(0, Int64(row.key))
            statement.bind(1, schema.numbers.number(rows.name))
            statement.bind(2, Int64(1))
            for (slot, info) in rows.slots.enumerated() {
                guard let place = columns[slot] else { continue }
                if info.kind == .toOne {
                    guard let target = try row.reference(slot) else { continue }
                    statement.bind(3 + place.value, Int64(target.key))
                    if let column = place.entity { statement.bind(3 + column, entityNumbers[target.entity] ?? 0) }
                } else {
                    try bind(info, slot, row, statement, 3 + place.value)
                }
            }
            try statement.execute()
            each()
        }
    }

    private func bind(
        _ info: RowLayouts.Slot, _ slot: Int, _ row: StoredRow, _ statement: SQLiteStatement, _ parameter: Int
    ) throws {
        switch info.kind {
        case .bool:
            if let value = try row.bool(slot) { statement.bind(parameter, Int64(value ? 1 : 0)) }
        case .int16, .int32, .int64, .position:
            if let value = try row.integer(slot) { statement.bind(parameter, value) }
        case .float:
            if let value = try row.float(slot) { statement.bind(parameter, Double(value)) }
        case .double, .date:
            if let value = try row.double(slot) { statement.bind(parameter, value) }
        case .decimal:
            _ = try row.withBytes(slot) { try statement.bind(parameter, "\(StoredDecimal.value($0))") }
        case .uuid:
            if let value = try row.uuid(slot) {
                try withUnsafeBytes(of: value.uuid) { try statement.bind(parameter, blob: $0) }
            }
        case .string, .uri:
            _ = try row.withBytes(slot) { try statement.bind(parameter, text: $0) }
        case .data, .transformable:
            _ = try row.withBytes(slot) { bytes in
                guard info.attribute?.allowsExternalBinaryDataStorage == true else {
                    return try statement.bind(parameter, blob: bytes)
                }
                // The mark of a value that lies in the file itself.
                try ([1] + Array(bytes)).withUnsafeBytes { try statement.bind(parameter, blob: $0) }
            }
        case .toOne: break
        }
    }
}

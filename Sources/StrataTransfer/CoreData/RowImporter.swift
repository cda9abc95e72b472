import Foundation
import Strata
import StrataLog

/// Writes rows of a file's tables into a store.
struct RowImporter {
    let file: CoreDataFile
    let plan: ImportPlan
    let builder: StoreBuilder

    /// Writes all rows that a statement has, whose columns are those of the plan.
    ///
    /// - Parameter each: called after each row.
    func insert(_ statement: SQLiteStatement, each: () throws -> Void) throws {
        var lastNumber: Int64 = -1
        var entity: ImportPlan.EntityPlan?
        while try statement.step() {
            let key = statement.integer(0)
            let number = statement.integer(1)
            if number != lastNumber { (lastNumber, entity) = (number, plan.entities[number]) }
            guard let entity else {
                throw problem(key, "it says that its entity is \(number), which has no rows in this table")
            }
            guard key > 0, key < 1 << 48 else { throw problem(key, "its key is out of range") }
            let writer = try begin(entity, key)
            for step in entity.steps where !statement.isNull(step.column) {
                try set(step, statement, writer, key)
            }
            writer.endRow()
            try each()
        }
    }

    private func begin(_ entity: ImportPlan.EntityPlan, _ key: Int64) throws -> EntityWriter {
        do {
            return try builder.beginRow(entity: entity.number, root: entity.root, key: UInt64(key))
        } catch let error as CocoaError where error.code == .persistentStoreSave {
            throw problem(key, error.localizedDescription)
        }
    }

    private func problem(_ key: Int64, _ what: String) -> TransferError {
        TransferError("\(file.url.path): \(plan.table), row \(key): \(what)")
    }

    private func set(_ step: ImportPlan.Step, _ statement: SQLiteStatement, _ writer: EntityWriter, _ key: Int64) throws
    {
        switch step.kind {
        case .bool: writer.set(step.slot, statement.integer(step.column) != 0)
        case .int16: writer.set(step.slot, try integer(Int16.self, step, statement, key))
        case .int32: writer.set(step.slot, try integer(Int32.self, step, statement, key))
        case .int64: writer.set(step.slot, statement.integer(step.column))
        case .float: writer.set(step.slot, Float(statement.double(step.column)))
        case .double, .date: writer.set(step.slot, statement.double(step.column))
        case .string, .uri: writer.set(step.slot, bytes: statement.text(step.column))
        case .uuid:
            let bytes = statement.blob(step.column)
            guard bytes.count == 16 else { throw problem(key, "\(step.name) is no UUID of 16 bytes") }
            writer.set(
                step.slot,
                uuid: (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        case .decimal:
            // The column makes a number of the text where it can; SQLite writes such a one with 15 digits only.
            let isReal = statement.type(step.column) == .real
            let text = isReal ? "\(statement.double(step.column))" : statement.string(step.column)
            guard let number = Decimal(string: text) else { throw problem(key, "\(step.name) is no number") }
            StoredDecimal.bytes(number).withUnsafeBytes { writer.set(step.slot, bytes: $0) }
        case .data, .transformable: try setBytes(step, statement, writer, key)
        case .toOne: try setTarget(step, statement, writer, key)
        case .position: writer.set(step.slot, OrderKeys.position(statement.integer(step.column)))
        }
    }

    private func integer<Number: FixedWidthInteger>(
        _: Number.Type, _ step: ImportPlan.Step, _ statement: SQLiteStatement, _ key: Int64
    ) throws -> Number {
        let value = statement.integer(step.column)
        guard let number = Number(exactly: value) else {
            throw problem(key, "\(step.name) takes more than \(Number.bitWidth) bits")
        }
        return number
    }

    private func setTarget(
        _ step: ImportPlan.Step, _ statement: SQLiteStatement, _ writer: EntityWriter, _ key: Int64
    ) throws {
        let target = statement.integer(step.column)
        // Zero stands for nothing in files of old.
        if target == 0 { return }
        guard target > 0, target < 1 << 48 else { throw problem(key, "\(step.name) leads to the key \(target)") }
        var entity = step.target
        if step.entityColumn >= 0 {
            // No such object: Core Data's own faults for it fail, too.
            if statement.isNull(step.entityColumn) { return }
            let number = statement.integer(step.entityColumn)
            guard let known = step.targets[number] else {
                throw problem(key, "\(step.name) leads to the entity \(number), which it cannot")
            }
            entity = known
        }
        writer.set(step.slot, StoreBuilder.reference(entity: entity, key: UInt64(target)))
    }

    private func setBytes(
        _ step: ImportPlan.Step, _ statement: SQLiteStatement, _ writer: EntityWriter, _ key: Int64
    ) throws {
        let bytes = statement.blob(step.column)
        guard step.mayBeExternal, let first = bytes.first else {
            writer.set(step.slot, bytes: bytes)
            return
        }
        switch first {
        case 1: writer.set(step.slot, bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
        case 2:
            let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            // The name is a UUID: it can lead nowhere else.
            guard UUID(uuidString: name) != nil else { throw problem(key, "\(step.name) names no file of its own") }
            let origin = file.externalDirectory.appendingPathComponent(name)
            guard let data = try? Data(contentsOf: origin) else {
                throw problem(key, "the value of \(step.name) is missing: \(origin.path)")
            }
            data.withUnsafeBytes { writer.set(step.slot, bytes: $0) }
        default: throw problem(key, "the value of \(step.name) begins with the unknown mark \(first)")
        }
    }
}

/// Places in an order. Core Data's lie closer together than Strata's, which leave room for others in between.
enum OrderKeys {
    private static let factor: Int64 = 1 << 12

    static func position(_ key: Int64) -> Int64 {
        let (product, overflows) = key.multipliedReportingOverflow(by: factor)
        return overflows ? key : product
    }
}

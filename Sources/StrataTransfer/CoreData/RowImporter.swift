import Foundation
import Strata
import StrataLog

/// Writes rows of a file's tables into a store.
struct RowImporter {
    let file: CoreDataFile
    let plan: ImportPlan
    let builder: StoreBuilder
    let account: ImportAccount

    /// Writes all rows that a statement has, whose columns are those of the plan.
    ///
    /// - Parameter each: called after each row.
    func insert(_ statement: SQLiteStatement, each: () throws -> Void) throws {
        var lastNumber: Int64 = -1
        var entity: ImportPlan.EntityPlan?
        while try statement.step() {
            guard let key = statement.integer(0), let number = statement.integer(1) else {
                throw problem(statement.integer(0) ?? 0, "Z_PK or Z_ENT is no integer")
            }
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
        case .bool:
            let value = try integer(Int64.self, step, statement, key)
            // Core Data keeps the number that was set, and every other than 0 is true.
            writer.set(step.slot, value != 0)
        case .int16: writer.set(step.slot, try integer(Int16.self, step, statement, key))
        case .int32: writer.set(step.slot, try integer(Int32.self, step, statement, key))
        case .int64: writer.set(step.slot, try integer(Int64.self, step, statement, key))
        case .float:
            let value = try real(step, statement, key)
            // A value that was set as a double has more digits than a float, but none has more room.
            guard Float(value).isFinite || !value.isFinite else { throw problem(key, "\(step.name) is no float") }
            writer.set(step.slot, Float(value))
        case .double, .date: writer.set(step.slot, try real(step, statement, key))
        case .string: writer.set(step.slot, bytes: try text(step, statement, key))
        case .uri:
            let bytes = try text(step, statement, key)
            guard URL(string: String(decoding: bytes, as: UTF8.self)) != nil else {
                throw problem(key, "\(step.name) is no URI")
            }
            writer.set(step.slot, bytes: bytes)
        case .uuid:
            guard let bytes = statement.blob(step.column), bytes.count == 16 else {
                throw problem(key, "\(step.name) is no UUID of 16 bytes")
            }
            writer.set(
                step.slot,
                uuid: (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        case .decimal:
            guard let number = decimal(step, statement) else { throw problem(key, "\(step.name) is no decimal number") }
            StoredDecimal.bytes(number).withUnsafeBytes { writer.set(step.slot, bytes: $0) }
        case .data, .transformable: try setBytes(step, statement, writer, key)
        case .toOne: try setTarget(step, statement, writer, key)
        case .position: writer.set(step.slot, OrderKeys.position(try integer(Int64.self, step, statement, key)))
        }
    }

    private func integer<Number: FixedWidthInteger>(
        _: Number.Type, _ step: ImportPlan.Step, _ statement: SQLiteStatement, _ key: Int64
    ) throws -> Number {
        guard let value = statement.integer(step.column) else { throw problem(key, "\(step.name) is no integer") }
        guard let number = Number(exactly: value) else {
            throw problem(key, "\(step.name) takes more than \(Number.bitWidth) bits")
        }
        return number
    }

    private func real(_ step: ImportPlan.Step, _ statement: SQLiteStatement, _ key: Int64) throws -> Double {
        guard let value = statement.double(step.column) else { throw problem(key, "\(step.name) is no number") }
        return value
    }

    private func text(
        _ step: ImportPlan.Step, _ statement: SQLiteStatement, _ key: Int64
    ) throws -> UnsafeRawBufferPointer {
        guard let bytes = statement.text(step.column) else { throw problem(key, "\(step.name) is no text in UTF-8") }
        return bytes
    }

    /// The column makes a number of a text where it can; SQLite writes such a one with 15 digits only.
    private func decimal(_ step: ImportPlan.Step, _ statement: SQLiteStatement) -> Decimal? {
        switch statement.type(step.column) {
        case .integer: statement.integer(step.column).map { Decimal($0) }
        case .real: statement.double(step.column).flatMap { NumberText("\($0)")?.decimal }
        case .text: statement.string(step.column).flatMap { $0 == "NaN" ? .nan : NumberText($0)?.decimal }
        default: nil
        }
    }

    private func setTarget(
        _ step: ImportPlan.Step, _ statement: SQLiteStatement, _ writer: EntityWriter, _ key: Int64
    ) throws {
        let target = try integer(Int64.self, step, statement, key)
        // Zero stands for nothing in files of old.
        if target == 0 { return }
        guard target > 0, target < 1 << 48 else { throw problem(key, "\(step.name) leads to the key \(target)") }
        if statement.isNull(step.entityColumn) {
            return try account.omit(
                "\(plan.table).\(step.name): references to objects that are not there",
                example: "row \(key), which leads to \(target)")
        }
        let number = statement.integer(step.entityColumn)
        guard let number, let entity = step.targets[number] else {
            throw problem(key, "\(step.name) leads to the entity \(number ?? 0), which it cannot")
        }
        // A file that says it wrongly was changed by something else than Core Data.
        if step.statedColumn >= 0, !statement.isNull(step.statedColumn), statement.integer(step.statedColumn) != number
        {
            throw problem(key, "\(step.name) says another entity than the object has that it leads to")
        }
        writer.set(step.slot, StoreBuilder.reference(entity: entity, key: UInt64(target)))
    }

    private func setBytes(
        _ step: ImportPlan.Step, _ statement: SQLiteStatement, _ writer: EntityWriter, _ key: Int64
    ) throws {
        guard let bytes = statement.blob(step.column) else { throw problem(key, "\(step.name) is no data") }
        guard step.mayBeExternal, let first = bytes.first else {
            writer.set(step.slot, bytes: bytes)
            return
        }
        switch first {
        case 1: writer.set(step.slot, bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
        case 2:
            let name = String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
            // The name is a UUID: it can lead nowhere else.
            guard bytes.last == 0, UUID(uuidString: name) != nil else {
                throw problem(key, "\(step.name) names no file of its own")
            }
            guard let values = file.externalValues else {
                throw problem(key, "the value of \(step.name) is missing: there is no \(ExternalValues.name)")
            }
            do {
                try values.value(name).withUnsafeBytes { writer.set(step.slot, bytes: $0) }
            } catch let error as TransferError {
                throw problem(key, "the value of \(step.name) cannot be read: \(error)")
            }
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

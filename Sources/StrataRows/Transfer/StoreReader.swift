import Foundation
import StrataIO
import StrataLog
import SystemPackage

/// Reads all rows of a store as they were when it was opened, past contexts and objects; also beside a program that has
/// the store open. Used by one thread at a time.
package final class StoreReader {
    /// The model that the store keeps.
    package let model: NSManagedObjectModel
    /// Where the properties lie.
    package let layouts: RowLayouts
    package let log: LogStore
    package let map: StoreMap
    package let snapshot: Snapshot
    package let path: String

    /// - Throws: `CocoaError` when there is no store or it cannot be read.
    ///
    /// - Parameter shapes: those of the model that the store keeps.
    package init(_ url: URL, _ shapes: ModelShapes) throws {
        path = url.path
        model = shapes.model
        var options = LogOptions()
        options.access = .readOnly
        options.createsIfMissing = false
        do {
            log = try LogStore.open(FilePath(url.path), in: PosixFileSystem(), options: options, schema: nil)
            try StoreMetadata.check(log.metadata)
        } catch {
            throw StoreFailure.opening(error, url.path)
        }
        snapshot = log.snapshot
        map = StoreMap(shapes, try StoredModel(bytes: log.schema.model))
        layouts = RowLayouts(shapes, map)
    }

    deinit { try? log.close() }

    /// The UUID that URIs begin with.
    package var uuid: String { StoreLineage(log).uuid }

    /// The metadata that the user sees.
    package var metadata: [String: Any] { StoreMetadata.read(log, type: NSSQLiteStoreType) }

    /// What ``StoreBuilder/Settings/hiddenMetadata`` kept under a name.
    package func hiddenMetadata(_ name: String) -> [String: Any]? {
        StoreMetadata.entries(log)[StoreMetadata.privatePrefix + name] as? [String: Any]
    }

    /// By root entity the greatest key that was ever given out; without entities that never had an object.
    package var greatestKeys: [String: UInt64] {
        var keys: [String: UInt64] = [:]
        for rows in layouts.rows where rows.number == rows.root {
            let last = log.nextKey(root: rows.root) - 1
            if last > 0 { keys[rows.name] = last }
        }
        return keys
    }

    /// How many rows there are of a root entity and what inherits from it, or of links.
    package func count(root: UInt16) throws -> Int {
        var count = 0
        try snapshot.forEachRun(root: root) { run in
            count += run.count
            return true
        }
        return count
    }

    /// One row; nil when there is none.
    package func row(_ ref: ObjectRef) throws -> StoredRow? {
        do throws(StoreError) {
            return try snapshot.row(ref).map { StoredRow(block: $0.block, row: $0.index, log: log) }
        } catch {
            throw StoreFailure.opening(error, path)
        }
    }

    /// Hands out the rows of a root entity and of what inherits from it, or of links, by ascending key.
    ///
    /// - Throws: what `body` throws; `CocoaError` when something cannot be read.
    package func forEachRow(root: UInt16, _ body: (StoredRow) throws -> Void) throws {
        var failure: (any Error)?
        do {
            try snapshot.forEachRun(root: root) { run throws(StoreError) in
                let block = try log.block(at: run.location)
                try block.verify()
                for index in 0..<run.count {
                    do {
                        try body(StoredRow(block: block, row: run.location.row + index, log: log))
                    } catch {
                        failure = error
                        return false
                    }
                }
                return true
            }
        } catch {
            throw StoreFailure.opening(error, path)
        }
        if let failure { throw failure }
    }
}

/// One row of a store.
package struct StoredRow {
    fileprivate let block: Block
    fileprivate let row: Int
    fileprivate let log: LogStore

    package var entity: UInt16 { block.entity }
    package var key: UInt64 { block.key(row) }
    package var ref: ObjectRef { block.ref(row) }

    /// The slot's column, and the row's index in it; nil for null.
    private func column(_ slot: Int) throws -> ColumnView? {
        guard slot < block.slotCount else { return nil }
        let column = try block.column(slot)
        return column.isNull(row) ? nil : column
    }

    package func bool(_ slot: Int) throws -> Bool? { try column(slot)?.bool(row) }

    package func float(_ slot: Int) throws -> Float? { try column(slot)?.float(row) }

    package func double(_ slot: Int) throws -> Double? { try column(slot)?.double(row) }

    package func reference(_ slot: Int) throws -> ObjectRef? { try column(slot)?.reference(row) }

    package func uuid(_ slot: Int) throws -> UUID? { try column(slot).map { UUID._read($0, row) } }

    /// Of integers of any width.
    package func integer(_ slot: Int) throws -> Int64? {
        guard let column = try column(slot) else { return nil }
        switch column.width {
        case 2: return Int64(column.int16(row))
        case 4: return Int64(column.int32(row))
        default: return column.int64(row)
        }
    }

    /// The bytes of a text, decimal, URI, transformable or binary value; nil for null.
    package func withBytes<R>(_ slot: Int, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
        guard let column = try column(slot) else { return nil }
        guard column.isExternal(row) else { return try body(column.bytes(row)) }
        return try log.read(column.external(row)).withUnsafeBytes { try body($0) }
    }

    package func string(_ slot: Int) throws -> String? {
        try withBytes(slot) { StoredText.string($0) }
    }
}

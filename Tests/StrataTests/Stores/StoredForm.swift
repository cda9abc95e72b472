import Foundation
import StrataIO
import StrataTestKit
import SystemPackage

@testable import Strata
@testable import StrataLog

/// How a store lies in its files, as far as two runs of one program have to agree.
struct StoredForm {
    /// Of each segment its number, its format and the number before; of each record its kind, transaction and time.
    private(set) var records: [String] = []
    /// The stored bytes of each object's values, large ones whole; nil for null. Archives are left out.
    private(set) var rows: [ObjectRef: [[UInt8]?]] = [:]
    /// Every model that the store has had.
    private(set) var models: [StoredModel] = []
    private(set) var metadataKeys: [String] = []

    /// - Parameter contents: of a store's file.
    init(_ names: [String], contents: (String) throws -> [UInt8]) throws {
        let fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory(WrittenStore.path.removingLastComponent())
        try fileSystem.createDirectory(WrittenStore.path)
        for name in names.sorted() {
            let bytes = try contents(name)
            if name.hasSuffix(".seg") { records += Self.records(bytes) }
            let file = try fileSystem.open(WrittenStore.path.appending(name), .create)
            _ = try bytes.withUnsafeBytes { try file.write([$0], at: 0) }
            try file.close()
        }
        var options = LogOptions()
        options.access = .readOnly
        let log = try LogStore.open(WrittenStore.path, in: fileSystem, options: options, schema: nil)
        for entity in log.schema.entities where entity.rootID == entity.id {
            var found: [(ref: ObjectRef, values: [[UInt8]?])] = []
            try log.snapshot.forEachRun(root: entity.id) { run throws(StoreError) in
                let block = try log.block(at: run.location)
                for number in 0..<run.count {
                    let row = Row(block: block, index: run.location.row + number)
                    found.append((row.ref, try Self.values(row, log)))
                }
                return true
            }
            for (ref, values) in found { rows[ref] = values }
        }
        models = try log.schemas.map { try StoredModel(bytes: $0.schema.model) }
        metadataKeys = Self.keys(StoreMetadata.entries(log))
        try log.close()
    }

    /// As docs/file-format.md has them: where a record is, how long, and what is said of it.
    private static func records(_ segment: [UInt8]) -> [String] {
        func number(_ offset: Int, _ byteCount: Int) -> Int {
            segment[offset..<offset + byteCount].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        var lines = ["segment \(number(32, 4)) of format \(number(8, 2)) behind \(number(36, 4))"]
        var offset = 64
        while offset + 64 <= segment.count, segment[offset..<offset + 4].elementsEqual(Array("STRC".utf8)) {
            lines.append("kind \(segment[offset + 4]), \(number(offset + 8, 8)) at \(number(offset + 16, 8))")
            offset += number(offset + 24, 4)
        }
        return lines
    }

    private static func values(_ row: Row, _ log: LogStore) throws(StoreError) -> [[UInt8]?] {
        var values: [[UInt8]?] = []
        for slot in 0..<row.block.slotCount {
            let column = try row.block.column(slot)
            if column.isNull(row.index) || column.kind == .transformable {
                values.append(nil)
            } else if column.kind.fixedWidth > 0 {
                let width = column.kind.fixedWidth
                let bytes = UnsafeRawBufferPointer(start: column.values + row.index * width, count: width)
                values.append([UInt8](bytes))
            } else if column.isExternal(row.index) {
                values.append(try log.read(column.external(row.index)))
            } else {
                values.append([UInt8](column.bytes(row.index)))
            }
        }
        return values
    }

    /// Keys of dictionaries in dictionaries, too.
    private static func keys(_ entries: [String: Any]) -> [String] {
        entries.flatMap { key, value in
            [key] + keys(value as? [String: Any] ?? [:]).map { "\(key).\($0)" }
        }.sorted()
    }
}

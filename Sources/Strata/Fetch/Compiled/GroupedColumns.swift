import Foundation
import StrataLog

/// The groups of some rows with their aggregates, computed block by block.
struct GroupedColumns {
    private let grouping: ColumnGrouping
    private var table: GroupTable
    /// For each group column its strings.
    private var strings: [ByteStringSet]
    private var texts: [[String]]
    private var aggregates: [ColumnAggregate]

    init(_ grouping: ColumnGrouping) {
        self.grouping = grouping
        table = GroupTable(width: grouping.groups.count)
        strings = grouping.groups.map { _ in ByteStringSet() }
        texts = grouping.groups.map { _ in [] }
        aggregates = grouping.functions.map { ColumnAggregate($0) }
    }

    var count: Int { table.count }

    // MARK: Rows

    /// Takes in the matches of a chunk.
    ///
    /// - Throws: `NotCompiled` for values that the interpreter has to group.
    mutating func add(_ chunk: ScannedChunk) throws {
        var rows: [Int32] = []
        for (index, block) in chunk.blocks.enumerated() {
            rows.removeAll(keepingCapacity: true)
            chunk.forEachRow(inBlock: index) { rows.append(Int32($0)) }
            if rows.isEmpty { continue }
            let groups = try groups(of: rows, block)
            for aggregate in aggregates.indices {
                aggregates[aggregate].resize(table.count)
                try aggregates[aggregate].add(block, rows, groups)
            }
        }
    }

    private mutating func groups(of rows: [Int32], _ block: Block) throws -> [Int32] {
        var groups = [Int32](repeating: 0, count: rows.count)
        let columns = try grouping.groups.map { try block.column($0.slot) }
        if columns.isEmpty {
            _ = table.find(UnsafeBufferPointer(start: nil, count: 0), nulls: 0)
            return groups
        }
        if columns.contains(where: { $0.externals != nil }) { throw NotCompiled() }
        var key = [UInt64](repeating: 0, count: columns.count)
        for (position, row) in rows.enumerated() {
            var nulls: UInt64 = 0
            for (index, column) in columns.enumerated() {
                if let code = try code(column, Int(row), index) {
                    key[index] = code
                } else {
                    key[index] = 0
                    nulls |= 1 << UInt64(index)
                }
            }
            if columns.count == 1, nulls == 0 {
                groups[position] = Int32(table.group(key[0]))
            } else {
                groups[position] = Int32(key.withUnsafeBufferPointer { table.find($0, nulls: nulls) })
            }
        }
        return groups
    }

    /// The code of a value in a group column; nil for null.
    @inline(__always)
    private mutating func code(_ column: ColumnView, _ row: Int, _ index: Int) throws -> UInt64? {
        if column.isNull(row) { return nil }
        switch grouping.groups[index].info.kind {
        case .bool: return column.bool(row) ? 1 : 0
        case .int16: return UInt64(bitPattern: Int64(column.int16(row)))
        case .int32: return UInt64(bitPattern: Int64(column.int32(row)))
        case .int64: return UInt64(bitPattern: column.int64(row))
        case .float: return try Self.code(Double(column.float(row)))
        case .double, .date: return try Self.code(column.double(row))
        case .toOne:
            let ref = column.reference(row)
            return ref.isNull ? nil : ref.rawValue
        default:
            let number = strings[index].insert(column.bytes(row))
            if number == texts[index].count { texts[index].append(column.string(row)) }
            return UInt64(number)
        }
    }

    /// Zeros of both signs are one group and what is no number is one each: the interpreter knows how to show them.
    private static func code(_ value: Double) throws -> UInt64 {
        if value.isNaN || value == 0 && value.sign == .minus { throw NotCompiled() }
        return value.bitPattern
    }

    // MARK: Merging

    /// Takes in what a later chunk found.
    mutating func merge(_ other: GroupedColumns) throws {
        for theirs in 0..<other.table.count {
            var key = Array(other.table.codes(of: theirs))
            let nulls = other.table.nulls[theirs]
            for (index, column) in grouping.groups.enumerated()
            where column.info.kind == .string && nulls >> UInt64(index) & 1 == 0 {
                var text = other.texts[index][Int(key[index])]
                let number = text.withUTF8 { strings[index].insert(UnsafeRawBufferPointer($0)) }
                if number == texts[index].count { texts[index].append(text) }
                key[index] = UInt64(number)
            }
            let group = key.withUnsafeBufferPointer { table.find($0, nulls: nulls) }
            for index in aggregates.indices {
                aggregates[index].resize(table.count)
                try aggregates[index].merge(other.aggregates[index], theirs, into: group)
            }
        }
    }

    // MARK: Results

    /// What a group's rows agree in, and its aggregates.
    func group(_ number: Int, _ scope: RowScope) throws -> (keys: [Any?], states: [AggregateState]) {
        var keys: [Any?] = []
        let codes = Array(table.codes(of: number))
        for (index, column) in grouping.groups.enumerated() {
            let isNull = table.nulls[number] >> UInt64(index) & 1 != 0
            let value = isNull ? nil : try value(codes[index], column.info.kind, texts[index], scope)
            keys.append(
                column.info.kind == .toOne ? value : ResultConversion.convert(value, to: .undefinedAttributeType))
        }
        return (keys, aggregates.map { $0.state(number) })
    }

    private func value(_ code: UInt64, _ kind: SlotKind, _ texts: [String], _ scope: RowScope) throws -> Any {
        switch kind {
        case .bool: return NSNumber(value: code != 0)
        case .int16: return NSNumber(value: Int16(truncatingIfNeeded: code))
        case .int32: return NSNumber(value: Int32(truncatingIfNeeded: code))
        case .int64: return NSNumber(value: Int64(bitPattern: code))
        case .float: return NSNumber(value: Float(Double(bitPattern: code)))
        case .date: return Date(timeIntervalSinceReferenceDate: Double(bitPattern: code))
        case .string: return texts[Int(code)]
        case .toOne:
            // Those whose object is gone belong to the group without one.
            guard let row = try scope.snapshot.row(ObjectRef(rawValue: code)),
                let shape = scope.handle.map.shape(row.block.entity)
            else { throw NotCompiled() }
            return NSManagedObjectID(ref: row.ref, identity: scope.handle.identity, shape: shape)
        default: return NSNumber(value: Double(bitPattern: code))
        }
    }
}

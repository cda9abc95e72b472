import Foundation
import StrataLog
import StrataRuntime

/// The groups of some rows with their aggregates, computed block by block.
package struct GroupedColumns {
    private let grouping: ColumnGrouping
    /// Of the group columns. By itself, since to look at a column of `grouping` for each row counts references.
    private let kinds: [SlotKind]
    private var table: GroupTable
    /// For each group the least key of its rows, and the last part that had one; empty where nobody asks.
    package private(set) var firstKeys: [UInt64] = []
    private var lastParts: [Int32] = []
    private var partCount: Int32 = 0
    /// For each group column its values, where they are told apart by bytes.
    private var strings: [ByteStringSet]
    /// Of a single group column of strings; nil before it is needed.
    private var shortTexts: ShortTextGroups?
    /// Functions that add up the same have one together.
    private var aggregates: [ColumnAggregate] = []
    /// For each function its aggregate.
    private var aggregateIndexes: [Int] = []

    package init(_ grouping: ColumnGrouping) {
        self.grouping = grouping
        kinds = grouping.groups.map(\.kind)
        table = GroupTable(width: grouping.groups.count)
        strings = grouping.groups.map { _ in ByteStringSet() }
        for function in grouping.functions {
            let aggregate = ColumnAggregate(function)
            if let known = aggregates.firstIndex(where: { $0.addsUpAs(aggregate) }) {
                aggregateIndexes.append(known)
            } else {
                aggregateIndexes.append(aggregates.count)
                aggregates.append(aggregate)
            }
        }
    }

    package var count: Int { table.count }

    // MARK: Rows

    /// Takes in the matches of a row group.
    ///
    /// - Throws: `NotCompiled` for values that the interpreter has to aggregate.
    package mutating func add(_ rowGroup: ScannedRowGroup) throws {
        var rows: [Int32] = []
        var groups: [Int32] = []
        for (index, part) in rowGroup.parts.enumerated() {
            let count = rowGroup.count(inPart: index)
            if count == 0 { continue }
            rows.removeAll(keepingCapacity: true)
            rows.reserveCapacity(count)
            rowGroup.forEachRow(inPart: index) { rows.append(Int32($0)) }
            if groups.count < count { groups = [Int32](repeating: 0, count: count) }
            try groups.withUnsafeMutableBufferPointer { groups in
                try rows.withUnsafeBufferPointer { rows in
                    let groups = UnsafeMutableBufferPointer(rebasing: groups[..<count])
                    let keys = try grouping.groups.map { try rowGroup.column($0.expression, ofPart: index) }
                    try withExtendedLifetime(keys) { try find(groups, of: rows, keys.map(\.view)) }
                    if grouping.isOrderedByKey { recordKeys(part, rows, UnsafeBufferPointer(groups)) }
                    for aggregate in aggregates.indices {
                        aggregates[aggregate].resize(table.count)
                        let column = try aggregates[aggregate].column.map { expression in
                            // Values that lie out of line are counted where they are, unless they are looked at.
                            if let slot = expression.plainSlot, !aggregates[aggregate].readsBytes {
                                return ComputedColumn(try part.column(slot))
                            }
                            return try rowGroup.column(expression, ofPart: index)
                        }
                        try withExtendedLifetime(column) {
                            try aggregates[aggregate].add(column?.view, rows, UnsafeBufferPointer(groups))
                        }
                    }
                }
            }
        }
    }

    private mutating func recordKeys(
        _ part: ScanPart, _ rows: UnsafeBufferPointer<Int32>, _ groups: UnsafeBufferPointer<Int32>
    ) {
        partCount += 1
        addKeys(count: table.count)
        if case .block(let block) = part {
            // Rows lie in a block as they were written.
            for (position, group) in groups.enumerated() {
                firstKeys[Int(group)] = min(firstKeys[Int(group)], block.key(Int(rows[position])))
            }
            return
        }
        for (position, group) in groups.enumerated() where lastParts[Int(group)] != partCount {
            lastParts[Int(group)] = partCount
            firstKeys[Int(group)] = min(firstKeys[Int(group)], part.key(Int(rows[position])))
        }
    }

    private mutating func addKeys(count: Int) {
        let more = count - firstKeys.count
        guard more > 0 else { return }
        firstKeys.append(contentsOf: repeatElement(UInt64.max, count: more))
        lastParts.append(contentsOf: repeatElement(0, count: more))
    }

    /// Finds the group of each row.
    private mutating func find(
        _ groups: UnsafeMutableBufferPointer<Int32>, of rows: UnsafeBufferPointer<Int32>, _ columns: [ColumnView]
    ) throws {
        if columns.isEmpty {
            _ = table.find(UnsafeBufferPointer(start: nil, count: 0), nulls: 0)
            groups.update(repeating: 0)
            return
        }
        if columns.count == 1, columns[0].nulls == nil {
            if kinds[0] == .string { return try findTexts(groups, of: rows, columns[0]) }
            if findDirectly(groups, of: rows, columns[0]) { return }
        }
        var key = [UInt64](repeating: 0, count: columns.count)
        for (position, row) in rows.enumerated() {
            try EvaluationWork.pace(position)
            var nulls: UInt64 = 0
            for (index, column) in columns.enumerated() {
                if let code = code(column, Int(row), index) {
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
    }

    /// As above, by one column of integers or references without null: the value is the code. False for other columns.
    private mutating func findDirectly(
        _ groups: UnsafeMutableBufferPointer<Int32>, of rows: UnsafeBufferPointer<Int32>, _ column: ColumnView
    ) -> Bool {
        func codes<T: BitwiseCopyable>(_ table: inout GroupTable, _: T.Type, _ code: (T) -> UInt64) -> Bool {
            precondition(Int(column.width) == MemoryLayout<T>.size, "the slot has another kind")
            let values = column.values.assumingMemoryBound(to: T.self)
            table.groups(rows.count, into: groups) { code(values[Int(rows[$0])]) }
            return true
        }
        switch kinds[0] {
        case .bool: return codes(&table, UInt8.self) { $0 != 0 ? 1 : 0 }
        case .int16: return codes(&table, Int16.self) { UInt64(bitPattern: Int64($0)) }
        case .int32: return codes(&table, Int32.self) { UInt64(bitPattern: Int64($0)) }
        case .int64: return codes(&table, Int64.self) { UInt64(bitPattern: $0) }
        case .toOne:
            // A reference to nothing is null.
            let values = column.values.assumingMemoryBound(to: UInt64.self)
            var hasNothing = false
            for row in rows { hasNothing = hasNothing || ObjectRef(rawValue: values[Int(row)]).isNull }
            return hasNothing ? false : codes(&table, UInt64.self) { $0 }
        default: return false
        }
    }

    /// As above, by one column of strings without null.
    private mutating func findTexts(
        _ groups: UnsafeMutableBufferPointer<Int32>, of rows: UnsafeBufferPointer<Int32>, _ column: ColumnView
    ) throws {
        // Taken out and put back: it asks for the rest of `self` while it looks.
        var shortTexts = self.shortTexts.take() ?? ShortTextGroups()
        defer { self.shortTexts = shortTexts }
        for (position, row) in rows.enumerated() {
            try EvaluationWork.pace(position)
            let text = column.bytes(Int(row))
            groups[position] = shortTexts.group(of: text) {
                Int32(table.group(UInt64(strings[0].insert(text))))
            }
        }
    }

    /// The code of a value in a group column; nil for null.
    @inline(__always)
    private mutating func code(_ column: ColumnView, _ row: Int, _ index: Int) -> UInt64? {
        if column.isNull(row) { return nil }
        switch kinds[index] {
        case .bool: return column.bool(row) ? 1 : 0
        case .int16: return UInt64(bitPattern: Int64(column.int16(row)))
        case .int32: return UInt64(bitPattern: Int64(column.int32(row)))
        case .int64: return UInt64(bitPattern: column.int64(row))
        case .float: return Self.code(Double(column.float(row)))
        case .double, .date: return Self.code(column.double(row))
        case .toOne:
            let ref = column.reference(row)
            return ref.isNull ? nil : ref.rawValue
        case .uuid:
            return withUnsafeBytes(of: column.uuid(row)) { UInt64(strings[index].insert($0)) }
        case .decimal:
            return UInt64(ColumnDecimal.withCanonicalBytes(column.bytes(row)) { strings[index].insert($0) })
        case .string, .data, .uri, .transformable: return UInt64(strings[index].insert(column.bytes(row)))
        }
    }

    /// Zeros of both signs are one value, and so is all that is no number.
    @inline(__always)
    package static func code(_ value: Double) -> UInt64 { value.isNaN ? Double.nan.bitPattern : (value + 0).bitPattern }

    // MARK: Merging

    /// Takes in what a later row group found.
    package mutating func merge(_ other: GroupedColumns) throws {
        if count == 0 {
            self = other
            return
        }
        var groups: [Int] = []
        groups.reserveCapacity(other.table.count)
        for theirs in 0..<other.table.count {
            try EvaluationWork.pace(theirs)
            var key = Array(other.table.codes(of: theirs))
            let nulls = other.table.nulls[theirs]
            for (index, column) in grouping.groups.enumerated()
            where column.kind.isGroupedByBytes && nulls >> UInt64(index) & 1 == 0 {
                key[index] = other.strings[index].withString(Int(key[index])) { UInt64(strings[index].insert($0)) }
            }
            groups.append(key.withUnsafeBufferPointer { table.find($0, nulls: nulls) })
        }
        if grouping.isOrderedByKey {
            addKeys(count: table.count)
            for (theirs, group) in groups.enumerated() {
                firstKeys[group] = min(firstKeys[group], other.firstKeys[theirs])
            }
        }
        for index in aggregates.indices {
            aggregates[index].resize(table.count)
            try aggregates[index].merge(other.aggregates[index], groups)
        }
    }

    // MARK: Order

    /// The groups in the order of what they are grouped by, as SQLite gives them: null first, then what is no number.
    ///
    /// - Throws: why the request should stop.
    package func ordered(_ pace: inout TurnPace) throws -> [Int] {
        guard !grouping.groups.isEmpty else { return Array(0..<count) }
        // Mostly the first column tells: its codes lie beside the numbers.
        var (nulls, others) = ([Int](), [(code: UInt64, group: Int)]())
        others.reserveCapacity(count)
        for group in 0..<count {
            if let code = sortCode(group, 0) { others.append((code, group)) } else { nulls.append(group) }
        }
        try others.sort { left, right in
            try pace.step()
            return left.code != right.code ? left.code < right.code : precedes(left.group, right.group, from: 0)
        }
        try nulls.sort { left, right in
            try pace.step()
            return precedes(left, right, from: 1)
        }
        return nulls + others.map(\.group)
    }

    /// Whether a group comes before another by its columns from one on.
    private func precedes(_ left: Int, _ right: Int, from first: Int) -> Bool {
        for column in first..<kinds.count {
            switch (sortCode(left, column), sortCode(right, column)) {
            case (nil, nil): continue
            case (nil, _): return true
            case (_, nil): return false
            case (let a?, let b?):
                if a != b { return a < b }
                let order = exactOrder(left, right, column)
                if order != 0 { return order < 0 }
            }
        }
        return false
    }

    private func isNull(_ group: Int, _ column: Int) -> Bool { table.nulls[group] >> UInt64(column) & 1 != 0 }

    private func code(_ group: Int, _ column: Int) -> UInt64 {
        let codes = table.codes(of: group)
        return codes[codes.startIndex + column]
    }

    /// A number in whose order the values are; values with the same number may differ, if they are told apart by bytes.
    /// Nil for null.
    private func sortCode(_ group: Int, _ column: Int) -> UInt64? {
        if isNull(group, column) { return nil }
        let code = code(group, column)
        switch kinds[column] {
        case .bool: return code
        case .int16, .int32, .int64: return code ^ 1 << 63
        case .float, .double, .date:
            if Double(bitPattern: code).isNaN { return 0 }
            return code >> 63 == 0 ? code | 1 << 63 : ~code
        case .toOne: return ObjectRef(rawValue: code).key
        case .decimal: return strings[column].withString(Int(code)) { ColumnDecimal($0)?.code ?? 0 }
        case .uuid, .string, .data, .uri, .transformable:
            return strings[column].withString(Int(code)) { bytes in
                var first: UInt64 = 0
                for index in 0..<8 { first = first << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0) }
                return first
            }
        }
    }

    /// The order of two values whose codes are the same.
    private func exactOrder(_ left: Int, _ right: Int, _ column: Int) -> Int {
        guard kinds[column].isGroupedByBytes else { return 0 }
        let strings = strings[column]
        return strings.withString(Int(code(left, column))) { left in
            strings.withString(Int(code(right, column))) { right in
                guard kinds[column] == .decimal, let a = ColumnDecimal(left), let b = ColumnDecimal(right) else {
                    return StringMatching.order(left, right)
                }
                return ColumnDecimal.order(a, b)
            }
        }
    }

    // MARK: Results

    /// What a group's rows agree in, and its aggregates.
    package func group(_ number: Int, _ scope: RowScope) throws -> (keys: [Any?], states: [AggregateState]) {
        var keys: [Any?] = []
        let codes = Array(table.codes(of: number))
        for (index, column) in grouping.groups.enumerated() {
            let isNull = table.nulls[number] >> UInt64(index) & 1 != 0
            let value = isNull ? nil : try value(codes[index], column.kind, strings[index], scope)
            keys.append(column.type.map { ResultConversion.convert(value, to: $0) } ?? value)
        }
        return (keys, grouping.functions.indices.map { state($0, of: number) })
    }

    /// A function over a group.
    package func state(_ index: Int, of group: Int) -> AggregateState {
        aggregates[aggregateIndexes[index]].state(group, of: grouping.functions[index].function)
    }

    /// A value that dictionaries show of a group.
    package enum Shown {
        case key(Int)
        /// Brought to a type; undefined for what it is.
        case aggregate(Int, NSAttributeType)
    }

    /// What a dictionary shows of a group; nil for null.
    package func object(_ shown: Shown, of group: Int, _ scope: RowScope) throws -> AnyObject? {
        switch shown {
        case .aggregate(let index, let type):
            return aggregates[aggregateIndexes[index]].object(group, of: grouping.functions[index].function, as: type)
        case .key(let column):
            if isNull(group, column) { return nil }
            let (code, type) = (code(group, column), grouping.groups[column].type)
            if let type {
                let value = try value(code, kinds[column], strings[column], scope)
                return ResultConversion.convert(value, to: type).map { $0 as AnyObject }
            }
            switch kinds[column] {
            case .date: return NSDate(timeIntervalSinceReferenceDate: Double(bitPattern: code))
            case .string: return strings[column].withString(Int(code)) { String._decode($0) } as NSString
            case let kind:
                return try Self.number(code, kind) ?? value(code, kind, strings[column], scope) as AnyObject
            }
        }
    }

    private static func number(_ code: UInt64, _ kind: SlotKind) -> NSNumber? {
        switch kind {
        case .bool: NSNumber(value: code != 0)
        case .int16: NSNumber(value: Int16(truncatingIfNeeded: code))
        case .int32: NSNumber(value: Int32(truncatingIfNeeded: code))
        case .int64: NSNumber(value: Int64(bitPattern: code))
        case .float: NSNumber(value: Float(Double(bitPattern: code)))
        case .double: NSNumber(value: Double(bitPattern: code))
        default: nil
        }
    }

    private func value(_ code: UInt64, _ kind: SlotKind, _ strings: ByteStringSet, _ scope: RowScope) throws -> Any {
        if let number = Self.number(code, kind) { return number }
        switch kind {
        case .date: return Date(timeIntervalSinceReferenceDate: Double(bitPattern: code))
        case .string: return strings.withString(Int(code)) { String._decode($0) }
        case .data: return strings.withString(Int(code)) { Data._decode($0) }
        case .uri: return strings.withString(Int(code)) { URL._decode($0) }
        case .uuid:
            return strings.withString(Int(code)) { bytes in
                let words = (
                    bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                )
                return UUID(uuid: ByteTuples.bytes(words))
            }
        case .decimal:
            return strings.withString(Int(code)) { NSDecimalNumber(decimal: DecimalCoding.decode($0)) }
        case .toOne:
            // Those whose object is gone belong to the group without one.
            guard let row = try scope.rows.row(ObjectRef(rawValue: code)),
                let shape = scope.handle.map.shape(row.block.entity)
            else { throw NotCompiled() }
            return NSManagedObjectID(ref: row.ref, identity: scope.handle.identity, shape: shape)
        case .transformable, .bool, .int16, .int32, .int64, .float, .double: throw NotCompiled()
        }
    }
}

extension SlotKind {
    /// Whether groups number the values' bytes.
    fileprivate var isGroupedByBytes: Bool {
        switch self {
        case .uuid, .string, .data, .decimal, .uri, .transformable: true
        case .bool, .int16, .int32, .int64, .float, .double, .date, .toOne: false
        }
    }
}

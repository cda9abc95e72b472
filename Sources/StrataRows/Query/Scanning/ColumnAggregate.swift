import Foundation
import StrataLog

/// One function over one column, for all groups.
struct ColumnAggregate {
    private let function: Aggregate.Function
    /// Nil for the rows themselves.
    let column: RowExpression?
    /// How values are added up, compared or told apart.
    private enum Domain {
        case none, integers, reals, decimals, bytes
    }
    private let domain: Domain
    /// By group: values that are not null, and their sum or extreme.
    private var counts: [Int] = []
    private var integers: [Int64] = []
    /// What sums of integers have besides, of groups whose sum has overflowed.
    private var excess: [Int: Int128] = [:]
    private var reals: [Double] = []
    private var decimals: [ColumnDecimal] = []
    private var bytes: [[UInt8]] = []
    /// All values, for functions that need them; empty for others.
    private var lists: [[Any]] = []
    /// Nil where a value counts each time.
    private var distinct: DistinctValues?

    init(_ function: ColumnGrouping.Function) {
        self.function = function.function
        column = function.column
        distinct = function.isDistinct ? DistinctValues() : nil
        domain =
            switch function.column?.kind {
            case nil: .none
            case _ where function.function == .count && !function.isDistinct: .none
            case .bool?, .int16?, .int32?, .int64?: .integers
            case .decimal?: .decimals
            case .float?, .double?, .date?: .reals
            default: .bytes
            }
    }

    /// Whether it looks at values that may lie out of line.
    var readsBytes: Bool { domain == .bytes || domain == .decimals }

    /// Makes room for new groups.
    mutating func resize(_ count: Int) {
        while counts.count < count {
            counts.append(0)
            switch domain {
            case .none: break
            case .integers: integers.append(0)
            case .reals: reals.append(0)
            case .decimals: decimals.append(.zero)
            case .bytes: bytes.append([])
            }
            if function.needsAllValues { lists.append([]) }
        }
    }

    /// Takes in rows.
    ///
    /// - Parameter view: the values of ``column``; nil for the rows themselves.
    /// - Throws: `NotCompiled` when a sum of decimals is rounded, or one or an extreme of them meets what is no number.
    mutating func add(
        _ view: ColumnView?, _ rows: UnsafeBufferPointer<Int32>, _ groups: UnsafeBufferPointer<Int32>
    ) throws {
        guard let view, let column else {
            for group in groups { counts[Int(group)] += 1 }
            return
        }
        if case .none = domain {
            for (row, group) in zip(rows, groups) where !view.isNull(Int(row)) { counts[Int(group)] += 1 }
            return
        }
        switch column.kind {
        case .decimal: try addDecimals(view, rows, groups)
        case .bool: addIntegers(view, rows, groups) { view.bool($0) ? 1 : 0 }
        case .int16: addIntegers(view, rows, groups) { Int64(view.int16($0)) }
        case .int32: addIntegers(view, rows, groups) { Int64(view.int32($0)) }
        case .int64: addIntegers(view, rows, groups) { view.int64($0) }
        case .float: addReals(view, rows, groups) { Double(view.float($0)) }
        case .double, .date: addReals(view, rows, groups) { view.double($0) }
        case .uuid:
            addBytes(view, rows, groups) { row, body in withUnsafeBytes(of: view.uuid(row), body) }
        default: addBytes(view, rows, groups) { row, body in body(view.bytes(row)) }
        }
    }

    // MARK: Integers

    @inline(__always)
    private mutating func addIntegers(
        _ view: ColumnView, _ rows: UnsafeBufferPointer<Int32>, _ groups: UnsafeBufferPointer<Int32>,
        _ load: (Int) -> Int64
    ) {
        for index in 0..<rows.count {
            let row = Int(rows[index])
            if view.isNull(row) { continue }
            let (value, group) = (load(row), Int(groups[index]))
            if distinct?.insert(UInt64(bitPattern: value), group: group) == false { continue }
            add(value, count: 1, to: group)
        }
    }

    @inline(__always)
    private mutating func add(_ value: Int64, count: Int, to group: Int) {
        let isFirst = counts[group] == 0
        counts[group] += count
        switch function {
        case .min: if isFirst || value < integers[group] { integers[group] = value }
        case .max: if isFirst || value > integers[group] { integers[group] = value }
        case .sum, .average:
            let (sum, overflow) = integers[group].addingReportingOverflow(value)
            if overflow {
                excess[group, default: 0] += Int128(integers[group])
                integers[group] = value
            } else {
                integers[group] = sum
            }
        case .count: break
        case .median, .mode, .standardDeviation: lists[group].append(boxed(value))
        }
    }

    // MARK: Reals

    @inline(__always)
    private mutating func addReals(
        _ view: ColumnView, _ rows: UnsafeBufferPointer<Int32>, _ groups: UnsafeBufferPointer<Int32>,
        _ load: (Int) -> Double
    ) {
        if function.addsUp, distinct == nil, view.nulls == nil {
            counts.withUnsafeMutableBufferPointer { counts in
                reals.withUnsafeMutableBufferPointer { reals in
                    for index in 0..<rows.count {
                        let group = Int(groups[index])
                        counts[group] &+= 1
                        reals[group] += load(Int(rows[index]))
                    }
                }
            }
            return
        }
        for index in 0..<rows.count {
            let row = Int(rows[index])
            if view.isNull(row) { continue }
            let group = Int(groups[index])
            var value = load(row)
            if distinct != nil {
                let code = GroupedColumns.code(value)
                if distinct?.insert(code, group: group) == false { continue }
                value = Double(bitPattern: code)
            }
            add(value, count: 1, to: group)
        }
    }

    @inline(__always)
    private mutating func add(_ value: Double, count: Int, to group: Int) {
        let isFirst = counts[group] == 0
        counts[group] += count
        switch function {
        case .min, .max:
            let best = reals[group]
            if isFirst || (function == .min ? Self.precedes(value, best) : Self.precedes(best, value)) {
                // Zeros of both signs are one value.
                reals[group] = value + 0
            }
        case .sum, .average: reals[group] += value
        case .count: break
        case .median, .mode, .standardDeviation: lists[group].append(boxed(value))
        }
    }

    /// What is no number comes before all numbers.
    @inline(__always)
    private static func precedes(_ left: Double, _ right: Double) -> Bool {
        left < right || left.isNaN && !right.isNaN
    }

    // MARK: Decimals

    private mutating func addDecimals(
        _ view: ColumnView, _ rows: UnsafeBufferPointer<Int32>, _ groups: UnsafeBufferPointer<Int32>
    ) throws {
        for index in 0..<rows.count where !view.isNull(Int(rows[index])) {
            let (bytes, group) = (view.bytes(Int(rows[index])), Int(groups[index]))
            if distinct != nil {
                let isNew = ColumnDecimal.withCanonicalBytes(bytes) { distinct?.insert($0, group: group) }
                if isNew == false { continue }
            }
            try addDecimal(bytes, to: group)
        }
    }

    private mutating func addDecimal(_ bytes: UnsafeRawBufferPointer, to group: Int) throws {
        if function == .count {
            counts[group] += 1
            return
        }
        guard let value = ColumnDecimal(bytes) else { throw NotCompiled() }
        try add(value, count: 1, to: group)
    }

    private mutating func add(_ value: ColumnDecimal, count: Int, to group: Int) throws {
        let isFirst = counts[group] == 0
        counts[group] += count
        switch function {
        case .min: if isFirst || ColumnDecimal.order(value, decimals[group]) < 0 { decimals[group] = value }
        case .max: if isFirst || ColumnDecimal.order(value, decimals[group]) > 0 { decimals[group] = value }
        case .sum, .average:
            guard let sum = ColumnDecimal.sum(decimals[group], value) else { throw NotCompiled() }
            decimals[group] = sum
        case .count: break
        case .median, .mode, .standardDeviation: lists[group].append(boxed(value))
        }
    }

    // MARK: Bytes

    @inline(__always)
    private mutating func addBytes(
        _ view: ColumnView, _ rows: UnsafeBufferPointer<Int32>, _ groups: UnsafeBufferPointer<Int32>,
        _ withBytes: (Int, (UnsafeRawBufferPointer) -> Void) -> Void
    ) {
        for index in 0..<rows.count where !view.isNull(Int(rows[index])) {
            let group = Int(groups[index])
            withBytes(Int(rows[index])) { bytes in
                if distinct?.insert(bytes, group: group) != false { add(bytes, count: 1, to: group) }
            }
        }
    }

    private mutating func add(_ value: UnsafeRawBufferPointer, count: Int, to group: Int) {
        let isFirst = counts[group] == 0
        counts[group] += count
        switch function {
        case .min, .max:
            let order = isFirst ? 0 : bytes[group].withUnsafeBytes { StringMatching.order(value, $0) }
            if isFirst || (function == .min ? order < 0 : order > 0) { bytes[group] = Array(value) }
        case .median, .mode, .standardDeviation: lists[group].append(String(decoding: value, as: UTF8.self))
        case .count, .sum, .average: break
        }
    }

    // MARK: Merging

    /// Takes in what another has, whose rows come later.
    ///
    /// - Parameter groups: which of these groups is each of the other one's.
    mutating func merge(_ other: ColumnAggregate, _ groups: [Int]) throws {
        if let values = other.distinct { return try merge(values, groups) }
        for (theirs, group) in groups.enumerated() {
            let count = other.counts[theirs]
            if count == 0 { continue }
            if function.needsAllValues {
                lists[group] += other.lists[theirs]
                counts[group] += count
                continue
            }
            switch domain {
            case .none: counts[group] += count
            case .integers:
                add(other.integers[theirs], count: count, to: group)
                if !other.excess.isEmpty, let more = other.excess[theirs] { excess[group, default: 0] += more }
            case .reals: add(other.reals[theirs], count: count, to: group)
            case .decimals: try add(other.decimals[theirs], count: count, to: group)
            case .bytes: other.bytes[theirs].withUnsafeBytes { add($0, count: count, to: group) }
            }
        }
    }

    /// What is new of some values counts.
    private mutating func merge(_ values: DistinctValues, _ groups: [Int]) throws {
        for index in 0..<values.count {
            let (theirs, code) = values[index]
            let group = groups[theirs]
            switch domain {
            case .none: break
            case .integers:
                if distinct?.insert(code, group: group) == false { continue }
                add(Int64(bitPattern: code), count: 1, to: group)
            case .reals:
                if distinct?.insert(code, group: group) == false { continue }
                add(Double(bitPattern: code), count: 1, to: group)
            case .decimals, .bytes:
                try values.withBytes(code) { bytes in
                    if distinct?.insert(bytes, group: group) == false { return }
                    guard domain == .decimals else { return add(bytes, count: 1, to: group) }
                    try addDecimal(bytes, to: group)
                }
            }
        }
    }

    // MARK: Results

    /// Whether the other one's sums and counts are the same.
    func addsUpAs(_ other: ColumnAggregate) -> Bool {
        guard column == other.column, (distinct == nil) == (other.distinct == nil) else { return false }
        return function == other.function || function.addsUp && other.function.addsUp
    }

    /// The function as the interpreter keeps it.
    ///
    /// - Parameter function: which of those that add up the same.
    func state(_ group: Int, of function: Aggregate.Function) -> AggregateState {
        let count = counts[group]
        switch function {
        case .count: return AggregateState(function, count: count)
        case .min, .max: return AggregateState(function, count: count, best: count > 0 ? best(group) : nil)
        case .sum, .average:
            return AggregateState(function, count: count, total: count > 0 ? total(group) : .integer(0))
        case .median, .mode, .standardDeviation: return AggregateState(function, count: count, values: lists[group])
        }
    }

    /// The function as a dictionary has it, brought to a type; undefined for what it is. What is common does not go
    /// through the interpreter.
    ///
    /// - Parameter function: as above.
    func object(_ group: Int, of function: Aggregate.Function, as type: NSAttributeType) -> AnyObject? {
        if type == .undefinedAttributeType {
            let count = counts[group]
            switch (function, domain) {
            case (.count, _): return NSNumber(value: count)
            case (.sum, .reals) where count > 0: return NSNumber(value: reals[group])
            case (.sum, .integers) where excess.isEmpty: return NSNumber(value: integers[group])
            case (.sum, .decimals) where count > 0: return NSDecimalNumber(decimal: decimals[group].decimal)
            case (.average, .reals) where count > 0: return NSNumber(value: reals[group] / Double(count))
            case (.min, .bytes), (.max, .bytes):
                return count > 0 ? String(decoding: bytes[group], as: UTF8.self) as NSString : nil
            case (.min, .integers), (.max, .integers): return count > 0 ? boxed(integers[group]) : nil
            default: break
            }
        }
        return state(group, of: function).shown(as: type).map { $0 as AnyObject }
    }

    private func total(_ group: Int) -> Arithmetic {
        switch domain {
        case .integers: Arithmetic(Int128(integers[group]) + (excess[group] ?? 0))
        case .decimals: .decimal(decimals[group].decimal)
        default: .double(reals[group])
        }
    }

    private func best(_ group: Int) -> Any {
        switch domain {
        case .integers: boxed(integers[group])
        case .decimals: boxed(decimals[group])
        case .bytes: String(decoding: bytes[group], as: UTF8.self)
        case .reals, .none: boxed(reals[group])
        }
    }

    private func boxed(_ value: Int64) -> NSNumber {
        switch column?.kind {
        case .bool?: NSNumber(value: value != 0)
        case .int16?: NSNumber(value: Int16(truncatingIfNeeded: value))
        case .int32?: NSNumber(value: Int32(truncatingIfNeeded: value))
        default: NSNumber(value: value)
        }
    }

    private func boxed(_ value: Double) -> Any {
        switch column?.kind {
        case .float?: NSNumber(value: Float(value))
        case .date?: Date(timeIntervalSinceReferenceDate: value)
        default: NSNumber(value: value)
        }
    }

    private func boxed(_ value: ColumnDecimal) -> Any { NSDecimalNumber(decimal: value.decimal) }
}

extension Aggregate.Function {
    /// Whether it is made of a sum and a count.
    fileprivate var addsUp: Bool { self == .sum || self == .average }

    /// Whether it goes by all values together.
    fileprivate var needsAllValues: Bool {
        switch self {
        case .median, .mode, .standardDeviation: true
        case .sum, .count, .min, .max, .average: false
        }
    }
}

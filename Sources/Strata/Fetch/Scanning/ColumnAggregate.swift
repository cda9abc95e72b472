import Foundation
import StrataLog

/// One function over one column, for all groups.
struct ColumnAggregate {
    private let function: Aggregate.Function
    /// Nil for the rows themselves.
    let column: RowExpression?
    /// How values are added up or compared.
    private enum Domain {
        case none, integers, reals, decimals, texts
    }
    private let domain: Domain
    /// By group: values that are not null, and their sum or extreme.
    private var counts: [Int] = []
    private var integers: [Int64] = []
    private var reals: [Double] = []
    private var decimals: [ColumnDecimal] = []
    private var texts: [[UInt8]] = []

    init(_ function: ColumnGrouping.Function) {
        self.function = function.function
        column = function.column
        domain =
            switch function.column?.kind {
            case _ where function.function == .count: .none
            case .bool?, .int16?, .int32?, .int64?: .integers
            case .decimal?: .decimals
            case .string?: .texts
            default: .reals
            }
    }

    /// Makes room for new groups.
    mutating func resize(_ count: Int) {
        while counts.count < count {
            counts.append(0)
            switch domain {
            case .none: break
            case .integers: integers.append(0)
            case .reals: reals.append(0)
            case .decimals: decimals.append(.zero)
            case .texts: texts.append([])
            }
        }
    }

    /// Takes in rows.
    ///
    /// - Parameter view: the values of ``column``; nil for the rows themselves.
    /// - Throws: `NotCompiled` when a sum of integers overflows or one of decimals is rounded, or an extreme meets what
    ///   is no number.
    mutating func add(
        _ view: ColumnView?, _ rows: UnsafeBufferPointer<Int32>, _ groups: UnsafeBufferPointer<Int32>
    ) throws {
        guard let view, let column else {
            for group in groups { counts[Int(group)] += 1 }
            return
        }
        if function == .count {
            for (row, group) in zip(rows, groups) where !view.isNull(Int(row)) { counts[Int(group)] += 1 }
            return
        }
        switch column.kind {
        case .decimal: try addDecimals(view, rows, groups)
        case .string: addTexts(view, rows, groups)
        case .bool: try addIntegers(view, rows, groups) { view.bool($0) ? 1 : 0 }
        case .int16: try addIntegers(view, rows, groups) { Int64(view.int16($0)) }
        case .int32: try addIntegers(view, rows, groups) { Int64(view.int32($0)) }
        case .int64: try addIntegers(view, rows, groups) { view.int64($0) }
        case .float: try addReals(view, rows, groups) { Double(view.float($0)) }
        default: try addReals(view, rows, groups) { view.double($0) }
        }
    }

    @inline(__always)
    private mutating func addIntegers(
        _ view: ColumnView, _ rows: UnsafeBufferPointer<Int32>, _ groups: UnsafeBufferPointer<Int32>,
        _ load: (Int) -> Int64
    ) throws {
        for index in 0..<rows.count {
            let row = Int(rows[index])
            if view.isNull(row) { continue }
            try add(load(row), count: 1, to: Int(groups[index]))
        }
    }

    @inline(__always)
    private mutating func addReals(
        _ view: ColumnView, _ rows: UnsafeBufferPointer<Int32>, _ groups: UnsafeBufferPointer<Int32>,
        _ load: (Int) -> Double
    ) throws {
        if function != .min, function != .max, view.nulls == nil {
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
            try add(load(row), count: 1, to: Int(groups[index]))
        }
    }

    @inline(__always)
    private mutating func add(_ value: Int64, count: Int, to group: Int) throws {
        let isFirst = counts[group] == 0
        counts[group] += count
        switch function {
        case .min: if isFirst || value < integers[group] { integers[group] = value }
        case .max: if isFirst || value > integers[group] { integers[group] = value }
        default:
            let (sum, overflow) = integers[group].addingReportingOverflow(value)
            if overflow { throw NotCompiled() }
            integers[group] = sum
        }
    }

    @inline(__always)
    private mutating func add(_ value: Double, count: Int, to group: Int) throws {
        let isFirst = counts[group] == 0
        counts[group] += count
        switch function {
        case .min, .max:
            if value.isNaN { throw NotCompiled() }
            if isFirst || (function == .min ? value < reals[group] : value > reals[group]) { reals[group] = value }
        default: reals[group] += value
        }
    }

    private mutating func addDecimals(
        _ view: ColumnView, _ rows: UnsafeBufferPointer<Int32>, _ groups: UnsafeBufferPointer<Int32>
    ) throws {
        for index in 0..<rows.count where !view.isNull(Int(rows[index])) {
            guard let value = ColumnDecimal(view.bytes(Int(rows[index]))) else { throw NotCompiled() }
            try add(value, count: 1, to: Int(groups[index]))
        }
    }

    private mutating func add(_ value: ColumnDecimal, count: Int, to group: Int) throws {
        let isFirst = counts[group] == 0
        counts[group] += count
        switch function {
        case .min: if isFirst || ColumnDecimal.order(value, decimals[group]) < 0 { decimals[group] = value }
        case .max: if isFirst || ColumnDecimal.order(value, decimals[group]) > 0 { decimals[group] = value }
        default:
            guard let sum = ColumnDecimal.sum(decimals[group], value) else { throw NotCompiled() }
            decimals[group] = sum
        }
    }

    private mutating func addTexts(
        _ view: ColumnView, _ rows: UnsafeBufferPointer<Int32>, _ groups: UnsafeBufferPointer<Int32>
    ) {
        for index in 0..<rows.count where !view.isNull(Int(rows[index])) {
            add(view.bytes(Int(rows[index])), count: 1, to: Int(groups[index]))
        }
    }

    private mutating func add(_ value: UnsafeRawBufferPointer, count: Int, to group: Int) {
        let isFirst = counts[group] == 0
        counts[group] += count
        let order = isFirst ? 0 : texts[group].withUnsafeBytes { StringMatching.order(value, $0) }
        if isFirst || (function == .min ? order < 0 : order > 0) { texts[group] = Array(value) }
    }

    /// Takes in what another has of one group; its rows come later.
    mutating func merge(_ other: ColumnAggregate, _ theirs: Int, into group: Int) throws {
        let count = other.counts[theirs]
        if count == 0 { return }
        switch domain {
        case .none: counts[group] += count
        case .integers: try add(other.integers[theirs], count: count, to: group)
        case .reals: try add(other.reals[theirs], count: count, to: group)
        case .decimals: try add(other.decimals[theirs], count: count, to: group)
        case .texts: other.texts[theirs].withUnsafeBytes { add($0, count: count, to: group) }
        }
    }

    /// Whether the other one's sums and counts are the same.
    func addsUpAs(_ other: ColumnAggregate) -> Bool {
        guard column == other.column else { return false }
        let sums: [Aggregate.Function] = [.sum, .average]
        return function == other.function || sums.contains(function) && sums.contains(other.function)
    }

    /// The function as the interpreter keeps it.
    ///
    /// - Parameter function: which of those that add up the same.
    func state(_ group: Int, of function: Aggregate.Function) -> AggregateState {
        let count = counts[group]
        switch function {
        case .min, .max: return AggregateState(function, count: count, best: count > 0 ? best(group) : nil)
        case .sum, .average:
            return AggregateState(function, count: count, total: count > 0 ? total(group) : .integer(0))
        default: return AggregateState(function, count: count)
        }
    }

    private func total(_ group: Int) -> Arithmetic {
        switch domain {
        case .integers: .integer(integers[group])
        case .decimals: .decimal(decimals[group].decimal)
        default: .double(reals[group])
        }
    }

    private func best(_ group: Int) -> Any? {
        switch column?.kind {
        case .decimal?: NSDecimalNumber(decimal: decimals[group].decimal)
        case .string?: String(decoding: texts[group], as: UTF8.self)
        case .bool?: NSNumber(value: integers[group] != 0)
        case .int16?: NSNumber(value: Int16(truncatingIfNeeded: integers[group]))
        case .int32?: NSNumber(value: Int32(truncatingIfNeeded: integers[group]))
        case .int64?: NSNumber(value: integers[group])
        case .float?: NSNumber(value: Float(reals[group]))
        case .date?: Date(timeIntervalSinceReferenceDate: reals[group])
        default: NSNumber(value: reals[group])
        }
    }
}

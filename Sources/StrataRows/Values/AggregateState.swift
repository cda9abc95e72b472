import Foundation

/// An aggregate on its way through the rows of a group. Null counts nowhere, as in SQL.
package struct AggregateState {
    private let function: Aggregate.Function
    private var count = 0
    private var sum = ArithmeticSum()
    private var best: Any?
    /// Only for functions that need all values.
    private var values: [Any] = []
    /// Nil where a value counts each time.
    private var seen: Set<Operand.DistinctKey>?

    package init(_ aggregate: Aggregate) {
        function = aggregate.function
        seen = aggregate.isDistinct ? [] : nil
    }

    /// What a function over a column came to.
    package init(
        _ function: Aggregate.Function, count: Int, total: Arithmetic = .integer(0), best: Any? = nil,
        values: [Any] = []
    ) {
        self.function = function
        self.count = count
        sum = ArithmeticSum(total)
        self.best = best
        self.values = values
    }

    /// Takes a row's value in. Says whether it is the new extreme of `min:` or `max:`.
    package mutating func add(_ value: Any?) -> Bool {
        let isOneOfSeveral = seen != nil || function == .min || function == .max
        guard let value = AnyElements.plain(isOneOfSeveral ? DistinctValue.shown(value) : value) else { return false }
        if seen?.insert(Operand.DistinctKey(Operand(value))).inserted == false { return false }
        count += 1
        switch function {
        case .count: return false
        case .sum, .average:
            if let number = Arithmetic(summand: value) { sum.add(number) }
            return false
        case .min, .max:
            let wanted: ComparisonResult = function == .min ? .orderedAscending : .orderedDescending
            if let best, Operand(value).order(Operand(best)) != wanted { return false }
            best = value
            return true
        case .median, .mode, .standardDeviation:
            values.append(value)
            return false
        }
    }

    /// The value as a dictionary has it, brought to a type; undefined for what it is.
    package func shown(as type: NSAttributeType) -> Any? {
        guard type == .undefinedAttributeType else { return ResultConversion.convert(result, to: type) }
        switch function {
        case .count: return NSNumber(value: count)
        case .sum:
            switch sum.value {
            case .integer(let value): return NSNumber(value: value)
            case .double(let value): return NSNumber(value: value)
            case .decimal(let value): return NSDecimalNumber(decimal: value)
            }
        default: return ResultConversion.convert(result, to: type)
        }
    }

    /// The value; nil for an extreme, average or deviation of nothing. The sum of nothing is 0.
    package var result: Any? {
        switch function {
        case .count: return count
        case .sum: return sum.value.anyValue
        case .average:
            guard count > 0 else { return nil }
            let total = sum.value
            if case .decimal(let sum) = total { return NSDecimalNumber(decimal: sum / Decimal(count)) }
            return total.doubleValue / Double(count)
        case .min, .max: return best
        case .median, .mode, .standardDeviation: return PredicateFunction.call(function.rawValue, [values])
        }
    }
}

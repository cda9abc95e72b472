import Foundation

/// A function over the rows of a group.
struct Aggregate {
    /// The functions, by the name that expressions call them.
    enum Function: String {
        case sum = "sum:"
        case count = "count:"
        case min = "min:"
        case max = "max:"
        case average = "average:"
        case median = "median:"
        case mode = "mode:"
        case standardDeviation = "stddev:"

        /// The function that a collection operator of key paths stands for.
        init?(operator name: String) {
            switch name {
            case "@sum": self = .sum
            case "@count": self = .count
            case "@min": self = .min
            case "@max": self = .max
            case "@avg": self = .average
            default: return nil
            }
        }

        /// What makes the value of a whole out of those of its parts; nil where they do not tell.
        var ofParts: Function? {
            switch self {
            case .sum, .count: .sum
            case .min: .min
            case .max: .max
            case .average, .median, .mode, .standardDeviation: nil
            }
        }
    }

    let function: Function
    /// What is aggregated, over a row.
    let argument: NSExpression
    /// Whether a value that several rows have counts once.
    var isDistinct = false

    /// Whether another aggregate has the same value.
    func isSame(as other: Aggregate) -> Bool { function == other.function && argument == other.argument }

    /// The variable that stands for an aggregate's value; no variable of a program's has a space in its name.
    static func variable(_ index: Int) -> String { "aggregate \(index)" }
}

/// An aggregate on its way through the rows of a group. Null counts nowhere, as in SQL.
struct AggregateState {
    private let function: Aggregate.Function
    private var count = 0
    private var sum = ArithmeticSum()
    private var best: Any?
    /// Only for functions that need all values.
    private var values: [Any] = []
    /// Nil where a value counts each time.
    private var seen: Set<Operand.DistinctKey>?

    init(_ aggregate: Aggregate) {
        function = aggregate.function
        seen = aggregate.isDistinct ? [] : nil
    }

    /// What a function over a column came to.
    init(
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
    mutating func add(_ value: Any?) -> Bool {
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
    func shown(as type: NSAttributeType) -> Any? {
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
    var result: Any? {
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

/// Brings a computed value to the type that an expression description asks for.
enum ResultConversion {
    static func convert(_ value: Any?, to type: NSAttributeType) -> Any? {
        guard let value = AnyElements.plain(value) else { return nil }
        if let object = value as? any PredicateIdentifiable { return object.predicateIdentity.base }
        if let collection = AnyElements(value) {
            return collection.elements.compactMap { convert($0, to: type) }
        }
        let number = Arithmetic(value)
        switch type {
        case .integer16AttributeType: return number?.integerValue.map { NSNumber(value: Int16(truncatingIfNeeded: $0)) }
        case .integer32AttributeType: return number?.integerValue.map { NSNumber(value: Int32(truncatingIfNeeded: $0)) }
        case .integer64AttributeType: return number?.integerValue.map { NSNumber(value: $0) }
        case .doubleAttributeType: return number.map { NSNumber(value: $0.doubleValue) }
        case .floatAttributeType: return number.map { NSNumber(value: Float($0.doubleValue)) }
        case .booleanAttributeType: return number.map { NSNumber(value: $0.doubleValue != 0) }
        case .decimalAttributeType: return Operand(value).asDecimal.map { NSDecimalNumber(decimal: $0) }
        case .dateAttributeType:
            return value as? Date ?? number.map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) }
        case .stringAttributeType: return value as? String ?? (value as? NSNumber)?.stringValue ?? value
        // A decimal stays one.
        default: return KeyValueAccess.boxed(value)
        }
    }
}

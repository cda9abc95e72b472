import Foundation

/// The built-in functions of expressions. A call whose arguments do not fit has no value.
package enum PredicateFunction {
    /// The selector form (`sum:`) of a name as it may be written (`sum`); names that are not built in stay as they are.
    static func canonicalName(_ name: String) -> String {
        if functions[name] != nil { return name }
        let lowered = name.lowercased()
        if functions[lowered] != nil { return lowered }
        return functions[lowered + ":"] != nil ? lowered + ":" : name
    }

    /// Calls a function by its selector form; a name that is not known has no value.
    package static func call(_ name: String, _ arguments: [Any?]) -> Any? {
        functions[name]?(arguments)
    }

    /// Whether a name, in selector form, is built in.
    package static func isKnown(_ name: String) -> Bool { functions[name] != nil }

    /// Every name that is built in, in selector form.
    package static var names: [String] { functions.keys.sorted() }

    /// Whether the value depends on nothing but the arguments.
    package static func isSteady(_ name: String) -> Bool { functions[name] != nil && !unsteady.contains(name) }

    private static let unsteady: Set<String> = ["now", "random", "random:"]

    /// Whether it makes a value of single values, which a request needs once if these are constants. Of functions of
    /// many, such as `sum:`, fetches of dictionaries make aggregates. A request has one time.
    package static func isFoldable(_ name: String) -> Bool {
        name == "now" || arithmetic[name] != nil || bits[name] != nil || texts[name] != nil
    }

    private typealias Body = @Sendable ([Any?]) -> Any?

    private static let functions: [String: Body] = {
        var all = statistics
        all.merge(arithmetic) { first, _ in first }
        all.merge(bits) { first, _ in first }
        all.merge(texts) { first, _ in first }
        all.merge(others) { first, _ in first }
        return all
    }()

    private static let statistics: [String: Body] = [
        "sum:": { Arithmetic.sum(values($0)).anyValue },
        "count:": { arguments in
            guard arguments.count == 1 else { return arguments.count }
            return Operand(arguments[0]).members?.count ?? (arguments[0] == nil ? 0 : 1)
        },
        "min:": { CollectionOperator.extreme(values($0), keeping: -1) },
        "max:": { CollectionOperator.extreme(values($0), keeping: 1) },
        "average:": { arguments in
            let values = values(arguments)
            return values.isEmpty ? nil : Arithmetic.average(values, count: values.count).anyValue
        },
        "distinct:": { arguments in
            guard arguments.count == 1 else { return nil }
            guard let members = Operand(arguments[0]).members else { return arguments[0] }
            return CollectionOperator.distinct(members.compactMap(\.self))
        },
        "median:": { median(numbers($0)) },
        "mode:": { mode(values($0)) },
        "stddev:": { arguments in
            let numbers = numbers(arguments)
            guard !numbers.isEmpty else { return nil }
            let mean = numbers.reduce(0, +) / Double(numbers.count)
            return (numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count)).squareRoot()
        },
    ]

    private static let arithmetic: [String: Body] = [
        "add:to:": { binary($0) { $0 + $1 } },
        "from:subtract:": { binary($0) { $0 - $1 } },
        "multiply:by:": { binary($0) { $0 * $1 } },
        "divide:by:": { binary($0) { $0 / $1 } },
        "modulus:by:": { binary($0) { Arithmetic.remainder($0, $1) } },
        "raise:toPower:": { binary($0) { Arithmetic.power($0, $1) } },
        "sqrt:": { unary($0) { $0.squareRoot() } },
        "log:": { unary($0) { log10($0) } },
        "ln:": { unary($0) { log($0) } },
        "exp:": { unary($0) { exp($0) } },
        "floor:": { whole($0) { $0.rounded(.down) } },
        "ceiling:": { whole($0) { $0.rounded(.up) } },
        "trunc:": { whole($0) { $0.rounded(.towardZero) } },
        "abs:": { arguments in
            guard let number = Arithmetic(arguments.first ?? nil) else { return nil }
            return number.doubleValue < 0 ? (.integer(0) - number).anyValue : number.anyValue
        },
    ]

    private static let bits: [String: Body] = [
        "bitwiseAnd:with:": { integers($0) { $0 & $1 } },
        "bitwiseOr:with:": { integers($0) { $0 | $1 } },
        "bitwiseXor:with:": { integers($0) { $0 ^ $1 } },
        "leftshift:by:": { integers($0) { $0 << $1 } },
        "rightshift:by:": { integers($0) { $0 >> $1 } },
        "onesComplement:": { arguments in
            Arithmetic(arguments.first ?? nil)?.integerValue.map { Int(~$0) }
        },
    ]

    private static let texts: [String: Body] = [
        "uppercase:": { text($0).map { TextPieces.changed($0) { $0.uppercased() } } },
        "lowercase:": { text($0).map { TextPieces.changed($0) { $0.lowercased() } } },
        "canonical:": { arguments in
            text(arguments).map {
                String(decoding: StringMatching.folded($0, [.caseInsensitive, .diacriticInsensitive]), as: UTF8.self)
            }
        },
        "length:": { text($0)?.utf16.count },
    ]

    private static let others: [String: Body] = [
        "now": { _ in Date() },
        "random": { _ in Double.random(in: 0..<1) },
        "random:": { arguments in
            guard let limit = Arithmetic(arguments.first ?? nil)?.integerValue, limit > 0 else { return nil }
            return Int(Int64.random(in: 0..<limit))
        },
        "noindex:": { $0.first ?? nil },
        "castObject:toType:": { arguments in
            guard arguments.count == 2, let type = arguments[1] as? String else { return nil }
            return PredicateCast.cast(arguments[0], to: type)
        },
        "objectFrom:withIndex:": { arguments in
            guard arguments.count == 2 else { return nil }
            return PredicateMethod.element(of: arguments[0], at: arguments[1])
        },
        "distanceToLocation:fromLocation:": { arguments in
            guard arguments.count == 2 else { return nil }
            return GreatCircle.distance(arguments[0], arguments[1])
        },
    ]

    /// The values a statistic runs over: the members of a single collection, or all arguments. `nil`s are left out.
    private static func values(_ arguments: [Any?]) -> [Any] {
        if arguments.count == 1, let members = Operand(arguments[0]).members {
            return members.compactMap { AnyElements.plain($0) }
        }
        return arguments.compactMap { $0 }
    }

    private static func numbers(_ arguments: [Any?]) -> [Double] {
        values(arguments).compactMap { Arithmetic($0)?.doubleValue }
    }

    private static func median(_ numbers: [Double]) -> Any? {
        guard !numbers.isEmpty else { return nil }
        // What is no number comes first, as in the order of a store: else the result would go by the order of reading.
        let sorted = numbers.sorted { left, right in left.isNaN ? !right.isNaN : left < right }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// The most frequent values, in the order of a store.
    private static func mode(_ values: [Any]) -> Any? {
        var counts: [Operand.DistinctKey: Int] = [:]
        for value in values { counts[Operand.DistinctKey(Operand(value)), default: 0] += 1 }
        guard let most = counts.values.max() else { return nil }
        return CollectionOperator.distinct(values).filter { counts[Operand.DistinctKey(Operand($0))] == most }
            .sorted { Operand($0).order(Operand($1)) == .orderedAscending }
    }

    private static func binary(_ arguments: [Any?], _ body: (Arithmetic, Arithmetic) -> Arithmetic?) -> Any? {
        guard arguments.count == 2, let left = Arithmetic(arguments[0]), let right = Arithmetic(arguments[1]) else {
            return nil
        }
        return body(left, right)?.anyValue
    }

    private static func unary(_ arguments: [Any?], _ body: (Double) -> Double) -> Any? {
        guard arguments.count == 1, let number = Arithmetic(arguments[0]) else { return nil }
        return body(number.doubleValue)
    }

    private static func whole(_ arguments: [Any?], _ body: (Double) -> Double) -> Any? {
        guard arguments.count == 1, let number = Arithmetic(arguments[0]) else { return nil }
        if case .integer = number { return number.anyValue }
        let result = body(number.doubleValue)
        return Int64(exactly: result).map { Int($0) } ?? result
    }

    private static func integers(_ arguments: [Any?], _ body: (Int64, Int64) -> Int64) -> Any? {
        guard arguments.count == 2, let left = Arithmetic(arguments[0])?.integerValue,
            let right = Arithmetic(arguments[1])?.integerValue
        else { return nil }
        return Int(body(left, right))
    }

    private static func text(_ arguments: [Any?]) -> String? {
        guard arguments.count == 1, case .string(let text) = Operand(arguments[0]) else { return nil }
        return text
    }
}

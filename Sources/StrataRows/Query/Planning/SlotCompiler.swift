import Foundation
import StrataLog

/// Makes tests of comparisons between a slot and a constant.
struct SlotCompiler {
    private let compiler: PredicateCompiler
    private let slot: Int
    private let kind: SlotKind
    private let options: NSComparisonPredicate.Options

    /// Integers up to this are doubles without being rounded.
    private static let exactMaximum: Int64 = 1 << 53

    init(_ compiler: PredicateCompiler, _ slot: Int, _ options: NSComparisonPredicate.Options) {
        self.init(compiler, slot: slot, compiler.info(slot).kind, options)
    }

    /// - Parameter kind: of the slot, which need not be one of the entity's.
    init(
        _ compiler: PredicateCompiler, slot: Int, _ kind: SlotKind, _ options: NSComparisonPredicate.Options
    ) {
        self.compiler = compiler
        self.slot = slot
        self.options = options
        self.kind = kind
    }

    /// As ``node(_:_:)`` for a comparison that null may not satisfy.
    func node(
        _ type: NSComparisonPredicate.Operator, _ value: Operand, excludesNull: Bool
    ) throws -> CompiledPredicate.Node? {
        guard let node = try node(type, value) else { return nil }
        // Every other test is false for null by itself.
        guard excludesNull, type == .notEqualTo else { return node }
        return .all([test(kind == .toOne ? .isSomething : .isNotNull), node])
    }

    /// Nil for what the interpreter has to do.
    func node(
        _ type: NSComparisonPredicate.Operator, _ value: Operand
    ) throws -> CompiledPredicate.Node? {
        if kind == .toOne { return try reference(type, value) }
        if let relation = Relation(type) { return try node(relation, value) }
        switch (type, value) {
        case (.in, .list), (.in, .dictionary): return member(value.members ?? [])
        case (.between, .list(let bounds)):
            guard !bounds.isUnordered, bounds.elements.count == 2,
                let low = try node(.greaterOrEqual, Operand(AnyElements.plain(bounds.elements[0]))),
                let high = try node(.lessOrEqual, Operand(AnyElements.plain(bounds.elements[1])))
            else { return nil }
            return .all([low, high])
        case (.beginsWith, .string(let text)): return string(.begins, text)
        case (.endsWith, .string(let text)): return string(.ends, text)
        case (.contains, .string(let text)): return string(.contains, text)
        case (.like, .string(let text)): return string(.like, text)
        default: return nil
        }
    }

    func node(_ relation: Relation, _ value: Operand) throws -> CompiledPredicate.Node? {
        if kind == .toOne {
            switch relation {
            case .equal: return try reference(.equalTo, value)
            case .notEqual: return try reference(.notEqualTo, value)
            default: return nil
            }
        }
        // Whether a transformed value can be had is known only when it is had.
        guard kind != .transformable else { return nil }
        if case .null = value {
            switch relation {
            case .equal: return test(.isNull)
            case .notEqual: return test(.isNotNull)
            default: return .constant(false)
            }
        }
        switch kind {
        case .bool, .int16, .int32, .int64: return integer(relation, value)
        case .float, .double, .date:
            guard let constant = Self.real(value) else { return nil }
            return test(.real(relation, constant))
        case .decimal: return value.asDecimal.flatMap { $0.isNaN ? nil : test(.decimal(relation, $0)) }
        case .string:
            guard case .string(let text) = value else { return nil }
            return test(.text(TextPredicate(relation, text, folding: options)))
        case .uuid:
            guard case .uuid(let constant) = value else { return nil }
            let words = constant.words
            return test(.uuid(relation, words.0.bigEndian, words.1.bigEndian))
        case .data:
            guard case .data(let constant) = value else { return nil }
            return test(.data(relation, Array(constant)))
        case .uri, .transformable, .toOne: return nil
        }
    }

    private func test(_ condition: ColumnPredicate.Condition) -> CompiledPredicate.Node {
        .test(ColumnPredicate(slot: slot, kind: kind, condition: condition))
    }

    private func string(_ operation: TextPredicate.Operation, _ text: String) -> CompiledPredicate.Node? {
        kind == .string ? test(.text(TextPredicate(operation, text, folding: options))) : nil
    }

    // MARK: Numbers

    /// A constant that floating-point columns can be compared with exactly.
    static func real(_ value: Operand) -> Double? {
        switch value {
        case .double(let constant), .date(let constant): constant
        case .integer(let constant): constant.magnitude <= exactMaximum.magnitude ? Double(constant) : nil
        default: nil
        }
    }

    /// The integer that a number is; nil when it is none or too large.
    private static func exactInteger(_ value: Operand) -> Int64? {
        switch value {
        case .integer(let constant): constant
        case .double(let constant), .date(let constant): Int64(exactly: constant)
        case .decimal(let constant): Int64(constant.description)
        default: nil
        }
    }

    private func integer(_ relation: Relation, _ value: Operand) -> CompiledPredicate.Node? {
        if let constant = Self.exactInteger(value) { return range(relation, constant) }
        // No integer equals it: only on which side of it they lie matters.
        guard case .double(let constant) = Self.dateless(value) else { return nil }
        if constant.isNaN { return none(isNegated: relation == .notEqual) }
        let floor = constant.rounded(.down)
        switch relation {
        case .equal: return none(isNegated: false)
        case .notEqual: return none(isNegated: true)
        case .less, .lessOrEqual:
            if floor < -0x1p63 { return none(isNegated: false) }
            return range(.lessOrEqual, floor >= 0x1p63 ? .max : Int64(floor))
        case .greater, .greaterOrEqual:
            if floor >= 0x1p63 { return none(isNegated: false) }
            return floor < -0x1p63 ? range(.greaterOrEqual, .min) : range(.greater, Int64(floor))
        }
    }

    private static func dateless(_ value: Operand) -> Operand {
        if case .date(let seconds) = value { return .double(seconds) }
        return value
    }

    private func none(isNegated: Bool) -> CompiledPredicate.Node {
        test(.integers(low: 1, high: 0, isNegated: isNegated))
    }

    private func range(_ relation: Relation, _ value: Int64) -> CompiledPredicate.Node {
        switch relation {
        case .equal: return test(.integers(low: value, high: value, isNegated: false))
        case .notEqual: return test(.integers(low: value, high: value, isNegated: true))
        case .less:
            if value == .min { return none(isNegated: false) }
            return test(.integers(low: .min, high: value - 1, isNegated: false))
        case .lessOrEqual: return test(.integers(low: .min, high: value, isNegated: false))
        case .greater:
            if value == .max { return none(isNegated: false) }
            return test(.integers(low: value + 1, high: .max, isNegated: false))
        case .greaterOrEqual: return test(.integers(low: value, high: .max, isNegated: false))
        }
    }

    // MARK: Members

    private func member(_ members: [Any?]) -> CompiledPredicate.Node? {
        let operands = members.map { Operand(AnyElements.plain($0)) }
        // With options only strings are compared; the interpreter treats a mixture in its own way.
        if !options.isEmpty {
            guard kind == .string, let texts = Self.strings(operands), texts.count == operands.count else { return nil }
            return test(.textSet(ByteStringSet(texts.map { StringMatching.folded($0, options) }), folding: options))
        }
        switch kind {
        case .bool, .int16, .int32, .int64: return test(.integerSet(IntegerSet(operands.compactMap(Self.exactInteger))))
        case .float, .double, .date:
            var values: Set<Double> = []
            for operand in operands {
                switch operand {
                case .integer, .double, .date:
                    guard let value = Self.real(operand) else { return nil }
                    values.insert(value)
                case .decimal: return nil
                default: break
                }
            }
            return test(.realSet(values))
        case .string:
            guard let texts = Self.strings(operands) else { return nil }
            return test(.textSet(ByteStringSet(texts.map { Array($0.utf8) }), folding: []))
        case .uuid:
            let values = operands.compactMap { operand -> UUID? in
                if case .uuid(let value) = operand { return value }
                return nil
            }
            return test(.uuidSet(Set(values)))
        default: return nil
        }
    }

    /// The strings among the operands.
    private static func strings(_ operands: [Operand]) -> [String]? {
        operands.compactMap { operand in
            if case .string(let text) = operand { return text }
            return nil
        }
    }

    // MARK: Relationships

    private func reference(
        _ type: NSComparisonPredicate.Operator, _ value: Operand
    ) throws -> CompiledPredicate.Node? {
        if case .null = value {
            switch type {
            case .equalTo: return test(.isNothing)
            case .notEqualTo: return test(.isSomething)
            default: return nil
            }
        }
        guard let keys = try compiler.keys(type, value, of: compiler.destination(slot)) else { return nil }
        return test(.reference(keys, isNegated: type == .notEqualTo))
    }
}

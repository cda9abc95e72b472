import Foundation
import StrataLog

/// Values of one slot that lie next to each other, as a range of the components of index keys (see `OrderedKey`).
struct ComponentRange: Hashable, Sendable {
    /// In the order of an ascending element.
    let bytes: OrderedRange
    /// The component when there is one value only, nil otherwise.
    let point: [UInt8]?

    init(point: [UInt8]) {
        bytes = OrderedRange(prefix: point)
        self.point = point
    }

    private init(_ bytes: OrderedRange) {
        self.bytes = bytes
        point = nil
    }

    private init(from lower: [UInt8], before upper: [UInt8]?) {
        self.init(OrderedRange(lower: lower, upper: upper))
    }

    /// Everything but null.
    private static let present = OrderedRange(prefix: OrderedKey.present)

    private init(prefix: [UInt8]) { self.init(OrderedRange(prefix: prefix)) }

    /// The range behind all values that begin with a component.
    private init(after value: [UInt8]) {
        self.init(from: OrderedRange.successor(of: value) ?? value, before: Self.present.upper)
    }

    // MARK: Of tests

    /// More values are not looked up one by one.
    static let valuesMaximum = 1_000

    /// The values that satisfy a test, ascending and without overlap; nil when they are no ranges, or not certain to
    /// be.
    static func all(_ test: ColumnPredicate) -> [ComponentRange]? {
        switch test.condition {
        case .integers(let low, let high, false): return integers(low, high, test.kind)
        case .integerSet(let set):
            return set.count > valuesMaximum
                ? nil : set.values.compactMap { integer($0, test.kind) }.map(Self.init(point:))
        case .real(let relation, let value): return value.isNaN ? nil : of(relation, real(value))
        case .realSet(let values):
            if values.count > valuesMaximum || values.contains(where: { $0.isNaN }) { return nil }
            return sorted(values.map { ComponentRange(point: real($0)) })
        case .decimal(let relation, let value): return of(relation, decimal(value))
        case .uuid(let relation, let high, let low): return of(relation, uuid(high, low))
        case .uuidSet(let values):
            if values.count > valuesMaximum { return nil }
            return sorted(values.map { ComponentRange(point: uuid($0.words.0.bigEndian, $0.words.1.bigEndian)) })
        case .text(let text): return Self.text(text)
        case .textSet(let set, let folding):
            if !folding.isEmpty || set.count > valuesMaximum { return nil }
            let values = set.strings
            if values.contains(where: { $0.count >= OrderedKey.valueMaximumByteCount }) { return nil }
            return sorted(values.map { ComponentRange(point: component($0, .string)) })
        case .data(let relation, let value):
            return value.count >= OrderedKey.valueMaximumByteCount ? nil : of(relation, component(value, .data))
        // What is no number lies with null.
        case .isNull: return isReal(test.kind) ? nil : [ComponentRange(point: OrderedKey.null)]
        case .isNotNull: return isReal(test.kind) ? nil : [ComponentRange(present)]
        case .reference(let keys, false): return references(keys)
        default: return nil
        }
    }

    private static func isReal(_ kind: SlotKind) -> Bool {
        switch kind {
        case .float, .double, .date, .decimal: true
        default: false
        }
    }

    private static func component(_ bytes: [UInt8], _ kind: ValueKind) -> [UInt8] {
        bytes.withUnsafeBytes { OrderedKey.component($0, kind) }
    }

    /// The ranges that a relation to a value allows. Null satisfies none.
    private static func of(_ relation: Relation, _ value: [UInt8]) -> [ComponentRange]? {
        let range: ComponentRange
        switch relation {
        case .equal: return [ComponentRange(point: value)]
        case .notEqual: return nil
        case .less: range = ComponentRange(from: present.lower, before: value)
        case .lessOrEqual: range = ComponentRange(from: present.lower, before: OrderedRange.successor(of: value))
        case .greater: range = ComponentRange(after: value)
        case .greaterOrEqual: range = ComponentRange(from: value, before: present.upper)
        }
        return range.bytes.isEmpty ? [] : [range]
    }

    // MARK: Values

    private static func integer(_ value: Int64, _ kind: SlotKind) -> [UInt8]? {
        func bytes<T>(_ value: T, _ kind: ValueKind) -> [UInt8] {
            withUnsafeBytes(of: value) { OrderedKey.component($0, kind) }
        }
        switch kind {
        case .bool: return value == 0 || value == 1 ? bytes(UInt8(value), .bool) : nil
        case .int16: return Int16(exactly: value).map { bytes($0, .int16) }
        case .int32: return Int32(exactly: value).map { bytes($0, .int32) }
        default: return bytes(value, .int64)
        }
    }

    private static func integers(_ low: Int64, _ high: Int64, _ kind: SlotKind) -> [ComponentRange]? {
        let (least, greatest): (Int64, Int64) =
            switch kind {
            case .bool: (0, 1)
            case .int16: (Int64(Int16.min), Int64(Int16.max))
            case .int32: (Int64(Int32.min), Int64(Int32.max))
            default: (.min, .max)
            }
        let (low, high) = (max(low, least), min(high, greatest))
        if low > high { return [] }
        guard let first = integer(low, kind), let last = integer(high, kind) else { return nil }
        if low == high { return [ComponentRange(point: first)] }
        return [ComponentRange(from: first, before: OrderedRange.successor(of: last))]
    }

    private static func real(_ value: Double) -> [UInt8] {
        // Floats are compared as doubles, in the index as well.
        withUnsafeBytes(of: value) { OrderedKey.component($0, .double) }
    }

    private static func decimal(_ value: Decimal) -> [UInt8] { component(DecimalCoding.encode(value), .decimal) }

    private static func uuid(_ high: UInt64, _ low: UInt64) -> [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { OrderedKey.component($0, .uuid) }
    }

    private static func text(_ test: TextPredicate) -> [ComponentRange]? {
        guard test.folding.isEmpty, test.pattern.count < OrderedKey.valueMaximumByteCount else { return nil }
        let value = component(test.pattern, .string)
        switch test.operation {
        case .equal: return of(.equal, value)
        case .less: return of(.less, value)
        case .lessOrEqual: return of(.lessOrEqual, value)
        case .greater: return of(.greater, value)
        case .greaterOrEqual: return of(.greaterOrEqual, value)
        // Without the zero at the end. Nothing begins with an empty string.
        case .begins: return test.pattern.isEmpty ? [] : [ComponentRange(prefix: value.dropLast())]
        case .notEqual, .ends, .contains, .like: return nil
        }
    }

    /// References by key: which entity an object has need not be known.
    private static func references(_ keys: IntegerSet) -> [ComponentRange]? {
        if keys.count > valuesMaximum { return nil }
        return keys.values.map { key in
            let bytes = withUnsafeBytes(of: (UInt64(key) << 16).bigEndian) { Array($0.prefix(6)) }
            return ComponentRange(prefix: OrderedKey.present + bytes)
        }
    }

    // MARK: Sets of ranges

    static func sorted(_ ranges: [ComponentRange]) -> [ComponentRange] {
        ranges.sorted { $0.bytes.lower.lexicographicallyPrecedes($1.bytes.lower) }
    }

    private static func least(_ left: [UInt8]?, _ right: [UInt8]?) -> [UInt8]? {
        guard let left, let right else { return left ?? right }
        return left.lexicographicallyPrecedes(right) ? left : right
    }

    /// What is in both of two lists.
    static func intersection(_ left: [ComponentRange], _ right: [ComponentRange]) -> [ComponentRange] {
        var result: [ComponentRange] = []
        for a in left {
            for b in right {
                let lower = a.bytes.lower.lexicographicallyPrecedes(b.bytes.lower) ? b.bytes.lower : a.bytes.lower
                let both = OrderedRange(lower: lower, upper: least(a.bytes.upper, b.bytes.upper))
                if both.isEmpty { continue }
                result.append(both == a.bytes ? a : both == b.bytes ? b : ComponentRange(both))
            }
        }
        return result
    }

    /// What is in one of two lists, or both.
    static func union(_ left: [ComponentRange], _ right: [ComponentRange]) -> [ComponentRange] {
        var result: [ComponentRange] = []
        for range in sorted(left + right) {
            guard let last = result.last, let end = last.bytes.upper else {
                if result.isEmpty { result.append(range) }
                continue
            }
            if end.lexicographicallyPrecedes(range.bytes.lower) || end == range.bytes.lower {
                result.append(range)
            } else if last.bytes != range.bytes {
                let upper = range.bytes.upper.map { end.lexicographicallyPrecedes($0) ? $0 : end }
                result[result.count - 1] = ComponentRange(from: last.bytes.lower, before: upper)
            }
        }
        return result
    }

    /// Whether every value of the first list is in the second.
    static func isSubset(_ part: [ComponentRange], of whole: [OrderedRange]) -> Bool {
        part.allSatisfy { range in whole.contains { Self.contains($0, range.bytes) } }
    }

    static func contains(_ whole: OrderedRange, _ part: OrderedRange) -> Bool {
        if part.lower.lexicographicallyPrecedes(whole.lower) { return false }
        guard let end = whole.upper else { return true }
        guard let partEnd = part.upper else { return false }
        return !end.lexicographicallyPrecedes(partEnd)
    }

    // MARK: In keys

    /// The component in an element of some direction.
    static func component(_ point: [UInt8], isDescending: Bool) -> [UInt8] {
        isDescending ? point.map { ~$0 } : point
    }

    /// The range in an element of some direction; nil when nothing is in it.
    func range(isDescending: Bool) -> OrderedRange? {
        guard isDescending else { return bytes }
        // What begins with the upper bound is outside, what begins with the lower one inside.
        var lower: [UInt8] = []
        if let upper = bytes.upper {
            guard let next = OrderedRange.successor(of: upper.map { ~$0 }) else { return nil }
            lower = next
        }
        return OrderedRange(lower: lower, upper: OrderedRange.successor(of: bytes.lower.map { ~$0 }))
    }
}

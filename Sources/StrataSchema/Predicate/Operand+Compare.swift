import Foundation

extension Operand {
    /// -1, 0 or 1, or `nil` when the two have no order (different kinds, `nil`, not-a-number).
    ///
    /// Dates and numbers compare by seconds since the reference date, as a store's columns do.
    package func compare(_ other: Operand) -> Int? {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): Self.sign(left, right)
        case (.double(let left), .double(let right)), (.date(let left), .date(let right)),
            (.date(let left), .double(let right)), (.double(let left), .date(let right)):
            Self.sign(left, right)
        case (.integer(let left), .double(let right)), (.integer(let left), .date(let right)):
            Self.sign(left, right)
        case (.double(let left), .integer(let right)), (.date(let left), .integer(let right)):
            Self.sign(right, left).map { -$0 }
        case (.decimal, _), (_, .decimal): compareDecimals(other)
        case (.string(let left), .string(let right)): StringMatching.order(left, right)
        case (.uuid(let left), .uuid(let right)): Self.sign(left.uuidString, right.uuidString)
        case (.url(let left), .url(let right)): StringMatching.order(left.absoluteString, right.absoluteString)
        case (.data(let left), .data(let right)):
            left == right ? 0 : (left.lexicographicallyPrecedes(right) ? -1 : 1)
        case (.object(let left), .object(let right)): (left as? any PredicateOrdered)?.order(relativeTo: right)
        default: nil
        }
    }

    private static func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int? {
        left < right ? -1 : (left == right ? 0 : (left > right ? 1 : nil))
    }

    // The standard library compares an integer with a float exactly, without rounding the integer.
    private static func sign(_ left: Int64, _ right: Double) -> Int? {
        if let exact = Int64(exactly: right) { return sign(left, exact) }
        if right.isNaN { return nil }
        let (floor, limit) = (right.rounded(.down), 0x1p63)
        if floor >= limit { return -1 }
        if floor < -limit { return 1 }
        return left <= Int64(floor) ? -1 : 1
    }

    private func compareDecimals(_ other: Operand) -> Int? {
        guard let left = asDecimal, let right = other.asDecimal, !left.isNaN, !right.isNaN else { return nil }
        return Self.sign(left, right)
    }

    /// A number as a decimal; a float by its shortest notation, so that 9.99 is the decimal 9.99.
    package var asDecimal: Decimal? {
        switch self {
        case .integer(let value): Decimal(value)
        case .double(let value): value.isFinite ? Decimal(string: value.description) : nil
        case .decimal(let value): value
        default: nil
        }
    }

    /// Whether `==` holds; `nil` equals `nil`.
    package func equals(_ other: Operand) -> Bool {
        switch (self, other) {
        case (.null, .null): return true
        case (.null, _), (_, .null): return false
        case (.uuid(let left), .uuid(let right)): return left == right
        case (.data(let left), .data(let right)): return left == right
        case (.list(let left), .list(let right)): return Self.listsEqual(left, right)
        case (.dictionary(let left), .dictionary(let right)): return Self.dictionariesEqual(left, right)
        case (.object(let left), .object(let right)): return Self.objectsEqual(left, right)
        default: return compare(other) == 0
        }
    }

    private static func listsEqual(_ left: AnyElements, _ right: AnyElements) -> Bool {
        if left.isUnordered || right.isUnordered {
            return Set(left.elements.map { Key(Operand($0)) }) == Set(right.elements.map { Key(Operand($0)) })
        }
        return left.elements.count == right.elements.count
            && zip(left.elements, right.elements).allSatisfy { Operand($0).equals(Operand($1)) }
    }

    private static func dictionariesEqual(_ left: any DictionaryValue, _ right: any DictionaryValue) -> Bool {
        guard let left = left.foundationDictionary, let right = right.foundationDictionary, left.count == right.count
        else { return false }
        return left.allKeys.allSatisfy { key in
            guard let value = left.object(forKey: key), let other = right.object(forKey: key) else { return false }
            return Operand(value).equals(Operand(other))
        }
    }

    private static func objectsEqual(_ left: Any, _ right: Any) -> Bool {
        if let left = left as? NSObject, let right = right as? NSObject { return left === right || left.isEqual(right) }
        if let left = left as? AnyHashable, let right = right as? AnyHashable { return left == right }
        if type(of: left) is AnyClass, type(of: right) is AnyClass {
            return left as AnyObject === right as AnyObject
        }
        return false
    }

    /// An operand as a member of a hash table, with the same notion of equality.
    package struct Key: Hashable {
        let operand: Operand

        package init(_ operand: Operand) { self.operand = operand }

        package static func == (left: Key, right: Key) -> Bool { left.operand.equals(right.operand) }

        package func hash(into hasher: inout Hasher) { operand.hash(into: &hasher) }
    }

    /// An operand as one of several distinct values, or as what rows are grouped by: all that is no number is one
    /// value, though it equals nothing in a comparison.
    package struct DistinctKey: Hashable {
        let operand: Operand

        package init(_ operand: Operand) { self.operand = operand }

        package static func == (left: DistinctKey, right: DistinctKey) -> Bool {
            left.operand.equals(right.operand) || left.operand.isNaN && right.operand.isNaN
        }

        package func hash(into hasher: inout Hasher) {
            // Not-a-numbers have different bits.
            if operand.isNaN { hasher.combine(Double.nan) } else { operand.hash(into: &hasher) }
        }
    }

    private var isNaN: Bool {
        switch self {
        case .double(let value), .date(let value): value.isNaN
        case .decimal(let value): value.isNaN
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(Double(value))
        case .double(let value), .date(let value): hasher.combine(value)
        case .decimal(let value): hasher.combine(Double(value.description) ?? 0)
        case .string(let value):
            var value = value
            value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .data(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .url(let value): hasher.combine(value.absoluteString)
        case .list(let elements):
            // Order-independent, since a set may equal a list of the same elements.
            hasher.combine(Set(elements.elements.map { Key(Operand($0)) }))
        case .dictionary(let value):
            // Without the keys, whose equality is Foundation's.
            hasher.combine(value.anyValues.reduce(value.anyValues.count) { $0 &+ Key(Operand($1)).hashValue })
        case .object(let value):
            if let value = value as? AnyHashable { hasher.combine(value) }
        }
    }
}

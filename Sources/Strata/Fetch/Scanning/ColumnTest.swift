import Foundation
import StrataLog

/// How a compiled comparison orders two values.
enum Relation: Sendable {
    case less, lessOrEqual, greater, greaterOrEqual, equal, notEqual

    init?(_ type: NSComparisonPredicate.Operator) {
        switch type {
        case .lessThan: self = .less
        case .lessThanOrEqualTo: self = .lessOrEqual
        case .greaterThan: self = .greater
        case .greaterThanOrEqualTo: self = .greaterOrEqual
        case .equalTo: self = .equal
        case .notEqualTo: self = .notEqual
        default: return nil
        }
    }

    var type: NSComparisonPredicate.Operator {
        switch self {
        case .less: .lessThan
        case .lessOrEqual: .lessThanOrEqualTo
        case .greater: .greaterThan
        case .greaterOrEqual: .greaterThanOrEqualTo
        case .equal: .equalTo
        case .notEqual: .notEqualTo
        }
    }

    /// The relation with its sides exchanged.
    var flipped: Relation {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .equal, .notEqual: self
        }
    }

    /// Whether it holds for -1, 0 or 1.
    @inline(__always)
    func holds(_ order: Int) -> Bool {
        switch self {
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        case .equal: order == 0
        case .notEqual: order != 0
        }
    }

    @inline(__always)
    func holds(_ left: Int64, _ right: Int64) -> Bool {
        switch self {
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        case .equal: left == right
        case .notEqual: left != right
        }
    }

    /// What is no number is only unequal.
    @inline(__always)
    func holds(_ left: Double, _ right: Double) -> Bool {
        switch self {
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        case .equal: left == right
        case .notEqual: left != right
        }
    }
}

/// A condition on the values of one slot, with a constant in the form of the column, or with another slot of the row.
struct ColumnTest: Sendable {
    enum Condition: Sendable {
        /// Truth values and integers from `low` to `high`, or outside of them.
        case integers(low: Int64, high: Int64, isNegated: Bool)
        case integerSet(IntegerSet)
        /// Floats, doubles and dates.
        case real(Relation, Double)
        case realSet(Set<Double>)
        case decimal(Relation, Decimal)
        /// The sixteen bytes as big-endian words.
        case uuid(Relation, UInt64, UInt64)
        case uuidSet(Set<UUID>)
        case text(TextTest)
        case textSet(ByteStringSet, folding: NSComparisonPredicate.Options)
        case data(Relation, [UInt8])
        /// The null bit; of relationships see `isNothing`.
        case isNull
        case isNotNull
        /// A to-one relationship to one of these objects, by key.
        case reference(IntegerSet, isNegated: Bool)
        /// A to-one relationship without an object at its end.
        case isNothing
        case isSomething
        /// The value of another column; false where one of both is null.
        case column(ColumnPair)
        /// The row's own key.
        case key(IntegerSet, isNegated: Bool)
    }

    /// What zone maps say about all rows of a block.
    enum Verdict {
        case none, some, all

        var inverted: Verdict {
            switch self {
            case .none: .all
            case .some: .some
            case .all: .none
            }
        }
    }

    let slot: Int
    let kind: SlotKind
    let condition: Condition

    /// What holds for null: only being different from something.
    var nullResult: Bool {
        switch condition {
        case .integers(_, _, let isNegated): isNegated
        case .real(let relation, _), .decimal(let relation, _), .uuid(let relation, _, _), .data(let relation, _):
            relation == .notEqual
        case .text(let test): test.operation == .notEqual
        case .reference(_, let isNegated), .key(_, let isNegated): isNegated
        case .isNull, .isNothing: true
        default: false
        }
    }

    /// What testing a row costs, roughly in nanoseconds.
    var cost: Int {
        switch condition {
        case .integers, .real, .isNull, .isNotNull, .key: 1
        case .integerSet, .reference, .uuid: 2
        case .column(let comparison): comparison.cost
        case .realSet, .uuidSet, .isNothing, .isSomething: 20
        case .data, .textSet: 30
        case .text(let test): test.cost
        case .decimal: 200
        }
    }

    /// Whether zone maps can say anything at all.
    var hasZones: Bool {
        switch condition {
        case .key, .reference, .isNothing, .isSomething, .column: false
        default: true
        }
    }

    /// What a block's zone maps allow to be said without reading a value.
    func verdict(_ zone: ColumnZone) -> Verdict {
        let nulls = zone.nullCount
        // Dead rows count here, too: what holds for all of them holds for the others.
        if let nulls, nulls == zone.rowCount { return nullResult ? .all : .none }
        let values: Verdict
        switch (condition, zone.range) {
        case (.isNull, _): values = .none
        case (.isNotNull, _): values = .all
        case (.integers(let low, let high, let isNegated), .integers(let least, let greatest)?):
            let inside: Verdict =
                greatest < low || least > high ? .none : low <= least && greatest <= high ? .all : .some
            values = isNegated ? inside.inverted : inside
        case (.integerSet(let set), .integers(let least, let greatest)?):
            values = greatest < set.least || least > set.greatest ? .none : .some
        case (.real(let relation, let value), .reals(let least, let greatest)?):
            values = Self.verdict(relation, value, least, greatest)
        default: values = .some
        }
        // Where there may be nulls, they count as well.
        guard nulls != 0 else { return values }
        switch values {
        case .none: return nullResult ? .some : .none
        case .all: return nullResult ? .all : .some
        case .some: return .some
        }
    }

    private static func verdict(_ relation: Relation, _ value: Double, _ least: Double, _ greatest: Double) -> Verdict {
        switch relation {
        case .less: least >= value ? .none : greatest < value ? .all : .some
        case .lessOrEqual: least > value ? .none : greatest <= value ? .all : .some
        case .greater: greatest <= value ? .none : least > value ? .all : .some
        case .greaterOrEqual: greatest < value ? .none : least >= value ? .all : .some
        case .equal: value < least || value > greatest ? .none : least == value && greatest == value ? .all : .some
        case .notEqual: value < least || value > greatest ? .all : least == value && greatest == value ? .none : .some
        }
    }
}

/// What a block's zone map knows of a column.
struct ColumnZone: Sendable {
    /// Nil where there is none.
    let range: ZoneRange?
    let nullCount: Int?
    let rowCount: Int

    init(_ block: Block, _ slot: Int) {
        range = block.zone(slot)
        nullCount = block.nullCount(slot)
        rowCount = block.rowCount
    }
}

/// A set of integers for tests of many rows.
struct IntegerSet: Sendable {
    /// Sets that span no more are kept as bits, and those that are no thinner than one in 64.
    private static let spanMaximum: Int64 = 1 << 16

    let least: Int64
    let greatest: Int64
    let count: Int
    private let bits: [UInt64]
    private let members: Set<Int64>

    init(_ values: some Sequence<Int64>) {
        let values = Array(values)
        var (least, greatest) = (values.first ?? 0, values.first ?? -1)
        for value in values {
            least = min(least, value)
            greatest = max(greatest, value)
        }
        self.least = least
        self.greatest = greatest
        let (span, overflow) = greatest.subtractingReportingOverflow(least)
        guard !overflow, span < max(Self.spanMaximum, Int64(values.count) * 64) else {
            bits = []
            members = Set(values)
            count = members.count
            return
        }
        var bits = [UInt64](repeating: 0, count: Int(span) / 64 + 1)
        for value in values { bits[Int(value - least) >> 6] |= 1 << UInt64((value - least) & 63) }
        count = values.isEmpty ? 0 : bits.reduce(0) { $0 + $1.nonzeroBitCount }
        self.bits = bits
        members = []
    }

    /// Ascending.
    var values: [Int64] {
        if bits.isEmpty { return members.sorted() }
        var values: [Int64] = []
        values.reserveCapacity(count)
        for (index, word) in bits.enumerated() {
            var rest = word
            while rest != 0 {
                values.append(least + Int64(index * 64 + rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
        return values
    }

    @inline(__always)
    func contains(_ value: Int64) -> Bool {
        if value < least || value > greatest { return false }
        if bits.isEmpty { return members.contains(value) }
        let offset = Int(value &- least)
        return bits[offset >> 6] >> UInt64(offset & 63) & 1 != 0
    }
}

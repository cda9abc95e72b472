import Foundation
import StrataLog

/// A condition on the values of one slot, with a constant in the form of the column, or with another slot of the row.
package struct ColumnPredicate: Sendable {
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
        case text(TextPredicate)
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
        case .decimal: 15
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

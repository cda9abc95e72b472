/// How a compiled comparison orders two values.
package enum Relation: Sendable {
    case less, lessOrEqual, greater, greaterOrEqual, equal, notEqual

    package init?(_ type: NSComparisonPredicate.Operator) {
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

    package var type: NSComparisonPredicate.Operator {
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
    package var flipped: Relation {
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
    package func holds(_ order: Int) -> Bool {
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
    package func holds(_ left: Int64, _ right: Int64) -> Bool {
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
    package func holds(_ left: Double, _ right: Double) -> Bool {
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

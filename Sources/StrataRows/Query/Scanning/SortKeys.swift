import Foundation
import StrataLog

/// The values that one result is sorted by, read once.
package struct SortKeys {
    private var values: [Any?]
    private var operands: [Operand]

    /// What comes first in the order; null where it is compared in another way than values are.
    package var first: Operand? { operands.first }

    package init(_ source: Any, _ sorts: [KeySortDescriptor]) {
        self.init(values: sorts.map { KeyValueAccess.value(of: source, path: $0.path) }, sorts)
    }

    package init(values: [Any?], _ sorts: [KeySortDescriptor]) {
        operands = zip(values, sorts).map { value, sort in sort.isNatural ? Operand(value) : .null }
        // Natural ones are compared by their operands alone.
        self.values = zip(values, sorts).map { value, sort in sort.isNatural ? nil : value }
    }

    package static func precedes(_ left: SortKeys, _ right: SortKeys, _ sorts: [KeySortDescriptor]) -> Bool {
        for (index, sort) in sorts.enumerated() {
            var order: ComparisonResult
            if sort.isNatural {
                order = left.operands[index].order(right.operands[index])
            } else {
                switch (left.values[index], right.values[index]) {
                case (nil, nil): continue
                case (nil, _): order = .orderedAscending
                case (_, nil): order = .orderedDescending
                case (let a?, let b?): order = sort.orderOf(a, b)
                }
            }
            if order == .orderedSame { continue }
            return (order == .orderedAscending) == sort.ascending
        }
        return false
    }
}

import Foundation

/// The values that one result is sorted by, read once.
struct SortKeys {
    private let values: [Any?]
    private let operands: [Operand?]

    init(_ source: Any, _ sorts: [KeySortDescriptor]) {
        values = sorts.map { KeyValueAccess.value(of: source, path: $0.path) }
        operands = zip(values, sorts).map { value, sort in sort.isNatural ? value.map { Operand($0) } : nil }
    }

    static func precedes(_ left: SortKeys, _ right: SortKeys, _ sorts: [KeySortDescriptor]) -> Bool {
        for (index, sort) in sorts.enumerated() {
            var order: ComparisonResult
            switch (left.values[index], right.values[index]) {
            case (nil, nil): continue
            case (nil, _): order = .orderedAscending
            case (_, nil): order = .orderedDescending
            case (let a?, let b?):
                if let first = left.operands[index], let second = right.operands[index] {
                    order = ComparisonResult(rawValue: first.compare(second) ?? 0) ?? .orderedSame
                } else {
                    order = sort.orderOf(a, b)
                }
            }
            if order == .orderedSame { continue }
            return (order == .orderedAscending) == sort.ascending
        }
        return false
    }
}

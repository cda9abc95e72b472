import Foundation
import StrataLog

/// The values that one result is sorted by, read once.
struct SortKeys {
    private var values: [Any?]
    private var operands: [Operand]

    init(_ source: Any, _ sorts: [KeySortDescriptor]) {
        self.init(values: sorts.map { KeyValueAccess.value(of: source, path: $0.path) }, sorts)
    }

    init(values: [Any?], _ sorts: [KeySortDescriptor]) {
        operands = zip(values, sorts).map { value, sort in sort.isNatural ? Operand(value) : .null }
        // Natural ones are compared by their operands alone.
        self.values = zip(values, sorts).map { value, sort in sort.isNatural ? nil : value }
    }

    static func precedes(_ left: SortKeys, _ right: SortKeys, _ sorts: [KeySortDescriptor]) -> Bool {
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

extension Operand {
    /// The order in which a store sorts values: null (and not-a-number, which a store keeps as null), numbers and
    /// dates, strings, bytes, objects by their keys. Unlike ``compare(_:)`` it is total: whatever the values, sorting
    /// by it ends in an order.
    func order(_ other: Operand) -> ComparisonResult {
        let (left, right) = (rank, other.rank)
        if left != right { return left < right ? .orderedAscending : .orderedDescending }
        switch (self, other) {
        case (.object(let left), .object(let right)):
            guard let left = left as? NSManagedObjectID, let right = right as? NSManagedObjectID else {
                return .orderedSame
            }
            return Self.order(left, right)
        case (.uuid(let left), .data(let right)): return Self.order(Array(left.bytes), Array(right))
        case (.data(let left), .uuid(let right)): return Self.order(Array(left), Array(right.bytes))
        default: return ComparisonResult(rawValue: compare(other) ?? 0) ?? .orderedSame
        }
    }

    private static func order(_ left: [UInt8], _ right: [UInt8]) -> ComparisonResult {
        if left == right { return .orderedSame }
        return left.lexicographicallyPrecedes(right) ? .orderedAscending : .orderedDescending
    }

    /// Objects that are not saved come after all that are.
    private static func order(_ left: NSManagedObjectID, _ right: NSManagedObjectID) -> ComparisonResult {
        if left.isTemporaryID != right.isTemporaryID {
            return left.isTemporaryID ? .orderedDescending : .orderedAscending
        }
        if left.ref.key == right.ref.key { return .orderedSame }
        return left.ref.key < right.ref.key ? .orderedAscending : .orderedDescending
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .double(let value), .date(let value): value.isNaN ? 0 : 1
        case .decimal(let value): value.isNaN ? 0 : 1
        case .integer: 1
        case .string, .url: 2
        case .data, .uuid: 3
        case .object: 4
        case .list, .dictionary: 5
        }
    }
}

extension UUID {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}

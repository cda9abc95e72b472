import Foundation

extension Operand {
    /// The order in which a store sorts values: null (and not-a-number, which a store keeps as null), numbers and
    /// dates, strings, bytes, objects by their keys. Unlike ``compare(_:)`` it is total: whatever the values, sorting
    /// by it ends in an order.
    package func order(_ other: Operand) -> ComparisonResult {
        let (left, right) = (rank, other.rank)
        if left != right { return left < right ? .orderedAscending : .orderedDescending }
        switch (self, other) {
        case (.object(let left), .object(let right)):
            return (left as? any StoreOrdered)?.storeOrder(relativeTo: right) ?? .orderedSame
        case (.uuid(let left), .data(let right)): return Self.order(Array(left.bytes), Array(right))
        case (.data(let left), .uuid(let right)): return Self.order(Array(left), Array(right.bytes))
        default: return ComparisonResult(rawValue: compare(other) ?? 0) ?? .orderedSame
        }
    }

    private static func order(_ left: [UInt8], _ right: [UInt8]) -> ComparisonResult {
        if left == right { return .orderedSame }
        return left.lexicographicallyPrecedes(right) ? .orderedAscending : .orderedDescending
    }

    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// Whether it is null or no number, which counts as little.
    var isNothing: Bool { rank == 0 }

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

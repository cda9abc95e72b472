import Foundation
import StrataLog

/// Thrown where a value turns up that only the interpreter handles; the fetch starts again with it.
package struct NotCompiled: Error {}

/// A sort descriptor over one column.
package struct ColumnSort: Sendable {
    let slot: Int
    let order: ValueOrder

    var kind: SlotKind { order.kind }
    var isAscending: Bool { order.isAscending }

    /// Nil unless all descriptors compare stored values of plain attributes in their natural order.
    static func all(_ sorts: [ComputedSort]) -> [ColumnSort]? {
        let columns = sorts.compactMap(\.ofColumn)
        return columns.count == sorts.count ? columns : nil
    }
}

/// A sort descriptor over what is computed of a row.
package struct ComputedSort {
    package let expression: RowExpression
    let order: ValueOrder

    /// Nil unless all descriptors compare values in their natural order that can be computed a column at a time.
    package static func all(_ sorts: [KeySortDescriptor], _ shape: EntityShape) -> [ComputedSort]? {
        let compiler = ExpressionCompiler(shape: shape)
        var computed: [ComputedSort] = []
        for sort in sorts {
            guard sort.isNatural, let expression = compiler.compile(sort.path.names[...]) else { return nil }
            switch expression.kind {
            case .bool, .int16, .int32, .int64, .float, .double, .date, .uuid, .string, .decimal: break
            case .data, .uri, .transformable, .toOne: return nil
            }
            let order = ValueOrder(kind: expression.kind, isAscending: sort.ascending)
            computed.append(ComputedSort(expression: expression, order: order))
        }
        return computed
    }
}

extension ComputedSort {
    /// The order as one of a column, if it is one of stored values.
    var ofColumn: ColumnSort? { expression.plainSlot.map { ColumnSort(slot: $0, order: order) } }

    /// Those of some orders that tell apart what satisfies a condition: not those of columns that have one value. The
    /// order of creation if there are none.
    static func telling(_ sorts: [ComputedSort], _ condition: PlannedCondition?) -> [ComputedSort] {
        let fixed = (condition?.conjuncts ?? []).compactMap { conjunct -> Int? in
            guard case .comparison(let comparison) = conjunct.resolved, case .slot(let slot) = comparison.side,
                comparison.type == .equalTo, comparison.options.isEmpty
            else { return nil }
            return slot
        }
        guard !sorts.isEmpty, !fixed.isEmpty else { return sorts }
        let rest = sorts.filter { sort in sort.expression.plainSlot.map { !fixed.contains($0) } ?? true }
        return rest.isEmpty
            ? [ComputedSort(expression: .key, order: ValueOrder(kind: .int64, isAscending: true))] : rest
    }
}

/// The order of a column's values.
struct ValueOrder: Sendable {
    let kind: SlotKind
    let isAscending: Bool

    /// Whether all values with a code are equal. Null and the least integer of 64 bits have one.
    func isExact(_ code: UInt64) -> Bool {
        switch kind {
        case .bool, .int16, .int32, .float, .double, .date: true
        case .int64: code != (isAscending ? 0 : .max)
        default: false
        }
    }

    /// A number in whose order the values are, as far as 64 bits go. Null, and what is no number, comes first.
    @inline(__always)
    func code(_ column: ColumnView, _ row: Int) -> UInt64 {
        let code = column.isNull(row) ? 0 : ascendingCode(column, row)
        return isAscending ? code : ~code
    }

    @inline(__always)
    private func ascendingCode(_ column: ColumnView, _ row: Int) -> UInt64 {
        switch kind {
        case .bool: column.bool(row) ? 2 : 1
        case .int16: UInt64(Int64(column.int16(row)) + 1 << 32)
        case .int32: UInt64(Int64(column.int32(row)) + 1 << 32)
        case .int64: UInt64(bitPattern: column.int64(row)) ^ 1 << 63
        case .float: Self.code(Double(column.float(row)))
        case .double, .date: Self.code(column.double(row))
        case .uuid: column.uuid(row).0.bigEndian
        case .decimal: ColumnDecimal(column.bytes(row))?.code ?? 0
        default: Self.code(column.bytes(row))
        }
    }

    private static func code(_ value: Double) -> UInt64 {
        if value.isNaN { return 0 }
        let bits = (value + 0).bitPattern
        return bits >> 63 != 0 ? ~bits : bits | 1 << 63
    }

    /// The first eight bytes.
    private static func code(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        if bytes.count >= 8 { return bytes.loadUnaligned(as: UInt64.self).bigEndian }
        var code: UInt64 = 0
        for byte in bytes { code = code << 8 | UInt64(byte) }
        return bytes.isEmpty ? 0 : code << UInt64(8 * (8 - bytes.count))
    }

    /// -1, 0 or 1 for two values, in the direction of the descriptor.
    func order(_ left: ColumnView, _ leftRow: Int, _ right: ColumnView, _ rightRow: Int) -> Int {
        let nulls = (left.isNull(leftRow), right.isNull(rightRow))
        let order: Int
        switch (kind, nulls) {
        case (_, (true, true)): return 0
        case (.string, (false, false)):
            order = StringMatching.order(left.bytes(leftRow), right.bytes(rightRow))
        case (.uuid, (false, false)):
            let (a, b) = (left.uuid(leftRow), right.uuid(rightRow))
            let (x, y) = ((a.0.bigEndian, a.1.bigEndian), (b.0.bigEndian, b.1.bigEndian))
            order = x < y ? -1 : x == y ? 0 : 1
        case (.string, _), (.uuid, _), (.int64, (true, false)), (.int64, (false, true)):
            order = nulls.0 ? -1 : 1
        default:
            let (a, b) = (code(left, leftRow), code(right, rightRow))
            if a != b { return a < b ? -1 : 1 }
            guard kind == .decimal, let left = ColumnDecimal(left.bytes(leftRow)),
                let right = ColumnDecimal(right.bytes(rightRow))
            else { return 0 }
            order = ColumnDecimal.order(left, right)
        }
        return isAscending ? order : -order
    }
}

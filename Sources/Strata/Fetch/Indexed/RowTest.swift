import Foundation
import StrataLog

/// Asks single rows whether they satisfy a compiled program. For rows that lie scattered: to bring each block's rows
/// together, as ``ScannedChunk`` does, takes longer than to test one of them.
///
/// Belongs to one thread.
struct RowTest {
    private let log: LogStore
    private let program: CompiledPredicate.Node
    /// For folded text.
    private var scratch: [UInt8] = []

    /// Nil for a program with a test that only ``ColumnEvaluator`` knows.
    init?(_ program: CompiledPredicate.Node, _ log: LogStore) {
        guard Self.isKnown(program) else { return nil }
        self.program = program
        self.log = log
    }

    private static func isKnown(_ node: CompiledPredicate.Node) -> Bool {
        switch node {
        case .constant: true
        case .test(let test):
            switch test.condition {
            case .integers, .integerSet, .real, .uuid, .text, .textSet(_, folding: []), .isNull, .isNotNull, .reference:
                true
            default: false
            }
        case .all(let nodes), .any(let nodes): nodes.allSatisfy(isKnown)
        case .not(let node): isKnown(node)
        case .join: false
        }
    }

    /// - Precondition: the block has the row.
    mutating func holds(_ block: Block, _ row: Int) throws(StoreError) -> Bool {
        try holds(program, block, row)
    }

    private mutating func holds(
        _ node: CompiledPredicate.Node, _ block: Block, _ row: Int
    ) throws(StoreError) -> Bool {
        switch node {
        case .constant(let value): return value
        case .test(let test): return try holds(test, try block.column(test.slot), row)
        case .not(let node): return try !holds(node, block, row)
        case .all(let nodes):
            for node in nodes where try !holds(node, block, row) { return false }
            return true
        case .any(let nodes):
            for node in nodes where try holds(node, block, row) { return true }
            return false
        case .join: preconditionFailure("a condition on other objects has not been answered")
        }
    }

    private mutating func holds(_ test: ColumnTest, _ column: ColumnView, _ row: Int) throws(StoreError) -> Bool {
        switch test.condition {
        case .isNull: return column.isNull(row)
        case .isNotNull: return !column.isNull(row)
        case .reference(let keys, let isNegated):
            // Null is key 0, which no set has.
            return keys.contains(Int64(column.reference(row).key)) != isNegated
        default: if column.isNull(row) { return test.nullResult }
        }
        switch test.condition {
        case .integers(let low, let high, let isNegated):
            let value = Self.integer(column, test.kind, row)
            return (low <= value && value <= high) != isNegated
        case .integerSet(let set): return set.contains(Self.integer(column, test.kind, row))
        case .real(let relation, let constant):
            return Self.holds(relation, test.kind == .float ? Double(column.float(row)) : column.double(row), constant)
        case .uuid(let relation, let high, let low):
            let words = column.uuid(row)
            let (first, second) = (words.0.bigEndian, words.1.bigEndian)
            return relation.holds(
                first != high ? (first < high ? -1 : 1) : second < low ? -1 : second == low ? 0 : 1)
        case .text(let text):
            return try withBytes(column, row) { bytes, scratch in text.holds(bytes, &scratch) }
        case .textSet(let set, _):
            return try withBytes(column, row) { bytes, _ in set.contains(bytes) }
        default: preconditionFailure("the test is not known here")
        }
    }

    private mutating func withBytes(
        _ column: ColumnView, _ row: Int, _ body: (UnsafeRawBufferPointer, inout [UInt8]) -> Bool
    ) throws(StoreError) -> Bool {
        guard column.isExternal(row) else { return body(column.bytes(row), &scratch) }
        let value = try log.read(column.external(row))
        return value.withUnsafeBytes { body($0, &scratch) }
    }

    private static func integer(_ column: ColumnView, _ kind: SlotKind, _ row: Int) -> Int64 {
        switch kind {
        case .bool: column.bool(row) ? 1 : 0
        case .int16: Int64(column.int16(row))
        case .int32: Int64(column.int32(row))
        default: column.int64(row)
        }
    }

    /// What is no number is only unequal.
    private static func holds(_ relation: Relation, _ value: Double, _ constant: Double) -> Bool {
        switch relation {
        case .less: value < constant
        case .lessOrEqual: value <= constant
        case .greater: value > constant
        case .greaterOrEqual: value >= constant
        case .equal: value == constant
        case .notEqual: value != constant
        }
    }
}

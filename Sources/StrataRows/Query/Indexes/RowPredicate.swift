import Foundation
import StrataLog

/// Asks single rows whether they satisfy a compiled program. For rows that lie scattered: to bring each block's rows
/// together, as ``ScannedRowGroup`` does, takes longer than to test one of them.
///
/// A tree of objects, each with its constants in place: to take the program's enumerations apart for each row would
/// copy their constants each time. Belongs to one thread.
class RowPredicate {
    /// Nil for a program with a test that only ``ColumnEvaluator`` knows.
    static func make(_ program: CompiledPredicate.Node, _ log: LogStore) -> RowPredicate? {
        switch program {
        case .constant(let value): return ConstantRowPredicate(value)
        case .test(let test):
            if case .column(let comparison) = test.condition { return ColumnPairRowPredicate(test, comparison) }
            return ColumnRowPredicate.make(test, log)
        case .not(let node): return make(node, log).map { NegatedRowPredicate($0) }
        case .all(let nodes): return make(nodes, log).map { ConjunctionRowPredicate($0) }
        case .any(let nodes): return make(nodes, log).map { DisjunctionRowPredicate($0) }
        case .join, .computed, .interpreted: return nil
        }
    }

    /// Satisfied by rows that satisfy all of some tests.
    static func all(_ tests: [RowPredicate]) -> RowPredicate { ConjunctionRowPredicate(tests) }

    private static func make(_ nodes: [CompiledPredicate.Node], _ log: LogStore) -> [RowPredicate]? {
        let tests = nodes.compactMap { make($0, log) }
        return tests.count == nodes.count ? tests : nil
    }

    /// - Precondition: the block has the row.
    func holds(_ block: Block, _ row: Int) throws(StoreError) -> Bool {
        preconditionFailure("a kind of test without a rule")
    }
}

private final class ConstantRowPredicate: RowPredicate {
    private let value: Bool

    init(_ value: Bool) {
        self.value = value
    }

    override func holds(_ block: Block, _ row: Int) throws(StoreError) -> Bool { value }
}

private final class NegatedRowPredicate: RowPredicate {
    private let test: RowPredicate

    init(_ test: RowPredicate) {
        self.test = test
    }

    override func holds(_ block: Block, _ row: Int) throws(StoreError) -> Bool { try !test.holds(block, row) }
}

private final class ConjunctionRowPredicate: RowPredicate {
    private let tests: [RowPredicate]

    init(_ tests: [RowPredicate]) {
        self.tests = tests
    }

    override func holds(_ block: Block, _ row: Int) throws(StoreError) -> Bool {
        for test in tests where try !test.holds(block, row) { return false }
        return true
    }
}

private final class DisjunctionRowPredicate: RowPredicate {
    private let tests: [RowPredicate]

    init(_ tests: [RowPredicate]) {
        self.tests = tests
    }

    override func holds(_ block: Block, _ row: Int) throws(StoreError) -> Bool {
        for test in tests where try test.holds(block, row) { return true }
        return false
    }
}

/// A test of two columns; texts are left to ``ColumnEvaluator``.
private final class ColumnPairRowPredicate: RowPredicate {
    private let slot: Int
    private let kind: SlotKind
    private let comparison: ColumnPair

    init?(_ test: ColumnPredicate, _ comparison: ColumnPair) {
        if comparison.domain == .texts { return nil }
        (slot, kind, self.comparison) = (test.slot, test.kind, comparison)
    }

    override func holds(_ block: Block, _ row: Int) throws(StoreError) -> Bool {
        let (left, right) = (try block.column(slot), try block.column(comparison.slot))
        if left.isNull(row) || right.isNull(row) { return false }
        return comparison.holds(left, kind, right, row)
    }
}

/// A test of one column.
private class ColumnRowPredicate: RowPredicate {
    private let slot: Int
    fileprivate let nullResult: Bool

    fileprivate init(_ test: ColumnPredicate) {
        slot = test.slot
        nullResult = test.nullResult
    }

    static func make(_ test: ColumnPredicate, _ log: LogStore) -> RowPredicate? {
        switch test.condition {
        case .integers(let low, let high, let isNegated):
            IntegerRowPredicate(test, low, high, isNegated: isNegated)
        case .integerSet(let set): IntegerSetRowPredicate(test, set)
        case .real(let relation, let constant): RealRowPredicate(test, relation, constant)
        case .decimal(let relation, let constant): DecimalRowPredicate(test, relation, constant)
        case .uuid(let relation, let high, let low): UUIDRowPredicate(test, relation, high, low)
        case .text(let text): EqualTextRowPredicate(test, text, log) ?? TextRowPredicate(test, text, log)
        case .textSet(let set, folding: []): TextSetRowPredicate(test, set, log)
        case .isNull, .isNotNull: NullRowPredicate(test)
        case .reference(let keys, let isNegated): ReferenceRowPredicate(test, keys, isNegated: isNegated)
        default: nil
        }
    }

    final override func holds(_ block: Block, _ row: Int) throws(StoreError) -> Bool {
        let column = try block.column(slot)
        if column.isNull(row) { return nullResult }
        return try holds(column, row)
    }

    /// - Precondition: the row is not null.
    func holds(_ column: ColumnView, _ row: Int) throws(StoreError) -> Bool {
        preconditionFailure("a kind of test without a rule")
    }
}

private final class NullRowPredicate: ColumnRowPredicate {
    override func holds(_ column: ColumnView, _ row: Int) throws(StoreError) -> Bool { !nullResult }
}

private final class IntegerRowPredicate: ColumnRowPredicate {
    private let low: Int64
    private let high: Int64
    private let isNegated: Bool
    private let kind: SlotKind

    init(_ test: ColumnPredicate, _ low: Int64, _ high: Int64, isNegated: Bool) {
        (self.low, self.high, self.isNegated, kind) = (low, high, isNegated, test.kind)
        super.init(test)
    }

    override func holds(_ column: ColumnView, _ row: Int) throws(StoreError) -> Bool {
        let value = column.integer(row, kind)
        return (low <= value && value <= high) != isNegated
    }
}

private final class IntegerSetRowPredicate: ColumnRowPredicate {
    private let set: IntegerSet
    private let kind: SlotKind

    init(_ test: ColumnPredicate, _ set: IntegerSet) {
        (self.set, kind) = (set, test.kind)
        super.init(test)
    }

    override func holds(_ column: ColumnView, _ row: Int) throws(StoreError) -> Bool {
        set.contains(column.integer(row, kind))
    }
}

private final class RealRowPredicate: ColumnRowPredicate {
    private let relation: Relation
    private let constant: Double
    private let isFloat: Bool

    init(_ test: ColumnPredicate, _ relation: Relation, _ constant: Double) {
        (self.relation, self.constant, isFloat) = (relation, constant, test.kind == .float)
        super.init(test)
    }

    override func holds(_ column: ColumnView, _ row: Int) throws(StoreError) -> Bool {
        relation.holds(isFloat ? Double(column.float(row)) : column.double(row), constant)
    }
}

private final class DecimalRowPredicate: ColumnRowPredicate {
    private let relation: Relation
    private let constant: ColumnDecimal

    /// Nil for what is no number.
    init?(_ test: ColumnPredicate, _ relation: Relation, _ constant: Decimal) {
        guard let constant = ColumnDecimal(constant) else { return nil }
        (self.relation, self.constant) = (relation, constant)
        super.init(test)
    }

    override func holds(_ column: ColumnView, _ row: Int) throws(StoreError) -> Bool {
        guard let stored = ColumnDecimal(column.bytes(row)) else { return relation == .notEqual }
        return relation.holds(ColumnDecimal.order(stored, constant))
    }
}

private final class UUIDRowPredicate: ColumnRowPredicate {
    private let relation: Relation
    private let high: UInt64
    private let low: UInt64

    init(_ test: ColumnPredicate, _ relation: Relation, _ high: UInt64, _ low: UInt64) {
        (self.relation, self.high, self.low) = (relation, high, low)
        super.init(test)
    }

    override func holds(_ column: ColumnView, _ row: Int) throws(StoreError) -> Bool {
        let words = column.uuid(row)
        let (first, second) = (words.0.bigEndian, words.1.bigEndian)
        return relation.holds(first != high ? (first < high ? -1 : 1) : second < low ? -1 : second == low ? 0 : 1)
    }
}

private final class ReferenceRowPredicate: ColumnRowPredicate {
    private let keys: IntegerSet
    private let isNegated: Bool

    init(_ test: ColumnPredicate, _ keys: IntegerSet, isNegated: Bool) {
        (self.keys, self.isNegated) = (keys, isNegated)
        super.init(test)
    }

    override func holds(_ column: ColumnView, _ row: Int) throws(StoreError) -> Bool {
        keys.contains(Int64(column.reference(row).key)) != isNegated
    }
}

/// Whether a text is another one: what most tests of texts ask, without taking the comparison apart for each row.
private final class EqualTextRowPredicate: ColumnRowPredicate {
    private let pattern: [UInt8]
    private let isNegated: Bool
    private let log: LogStore

    /// Nil for other comparisons.
    init?(_ test: ColumnPredicate, _ text: TextPredicate, _ log: LogStore) {
        guard text.folding.isEmpty, text.operation == .equal || text.operation == .notEqual else { return nil }
        (pattern, isNegated, self.log) = (text.pattern, text.operation == .notEqual, log)
        super.init(test)
    }

    override func holds(_ column: ColumnView, _ row: Int) throws(StoreError) -> Bool {
        if !column.isExternal(row) { return isEqual(column.bytes(row)) != isNegated }
        return try log.read(column.external(row)).withUnsafeBytes { isEqual($0) } != isNegated
    }

    @inline(__always)
    private func isEqual(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count == pattern.count && pattern.withUnsafeBytes { StringMatching.order(bytes, $0) == 0 }
    }
}

private final class TextRowPredicate: ColumnRowPredicate {
    private let text: TextPredicate
    private let log: LogStore
    /// For folded text. Belongs to the thread that tests, and comparing bytes calls nothing back.
    @exclusivity(unchecked) private var scratch: [UInt8] = []

    init(_ test: ColumnPredicate, _ text: TextPredicate, _ log: LogStore) {
        (self.text, self.log) = (text, log)
        super.init(test)
    }

    override func holds(_ column: ColumnView, _ row: Int) throws(StoreError) -> Bool {
        if !column.isExternal(row) { return text.holds(column.bytes(row), &scratch) }
        return try log.read(column.external(row)).withUnsafeBytes { text.holds($0, &scratch) }
    }
}

private final class TextSetRowPredicate: ColumnRowPredicate {
    private let set: ByteStringSet
    private let log: LogStore

    init(_ test: ColumnPredicate, _ set: ByteStringSet, _ log: LogStore) {
        (self.set, self.log) = (set, log)
        super.init(test)
    }

    override func holds(_ column: ColumnView, _ row: Int) throws(StoreError) -> Bool {
        if !column.isExternal(row) { return set.contains(column.bytes(row)) }
        return try log.read(column.external(row)).withUnsafeBytes { set.contains($0) }
    }
}

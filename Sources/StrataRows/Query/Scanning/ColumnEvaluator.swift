import CStrataSupport
import Foundation
import StrataLog
import StrataRuntime

/// Runs compiled predicates over blocks and column chunks. Belongs to one thread.
package final class ColumnEvaluator {
    package let handle: StoreHandle
    package let snapshot: Snapshot
    package let control: RequestControl?
    /// Of the scan; nil where all objects are looked up one by one.
    package let tables: PathTables?
    /// Made when it is needed first.
    private var madeInterpreter: RowInterpreter?
    private var log: LogStore { handle.log }
    /// How many rows are looked at between two questions whether to go on.
    private static let rowsPerCheck = 1_024
    /// For folded text.
    private var scratch: [UInt8] = []
    /// Bits that are not in use, each for the largest part.
    private var spare: [UnsafeMutablePointer<UInt64>] = []
    private static let wordsMaximum = RowBits.wordCount(rows: ScannedRowGroup.partMaximumRows)

    package init(
        _ handle: StoreHandle, _ snapshot: Snapshot, _ control: RequestControl? = nil, _ tables: PathTables? = nil
    ) {
        self.control = control
        self.handle = handle
        self.snapshot = snapshot
        self.tables = tables
    }

    var interpreter: RowInterpreter {
        if let madeInterpreter { return madeInterpreter }
        let made = RowInterpreter(handle, snapshot, control)
        madeInterpreter = made
        return made
    }

    /// An error of the interpreter that is none of the store.
    package var failure: (any Error)? { madeInterpreter?.failure }

    /// How many rows the interpreter has been asked about.
    package var rowsInterpreted: Int { madeInterpreter?.rowCount ?? 0 }

    deinit {
        for words in spare { words.deallocate() }
    }

    /// Leaves of the rows those that satisfy the program.
    func filter(_ rows: RowBits, _ node: CompiledPredicate.Node, _ part: ScanPart) throws(StoreError) {
        switch node {
        case .constant(let value): if !value { rows.clear() }
        case .test(let test):
            switch part.verdict(test) {
            case .all: break
            case .none: rows.clear()
            case .some: try apply(test, rows, part)
            }
        case .all(let nodes):
            for node in nodes {
                try filter(rows, node, part)
                if rows.isEmpty { return }
            }
        case .computed(let condition): try filter(rows, condition, part)
        case .interpreted(let condition): try filter(rows, condition, part)
        case .join(let join):
            preconditionFailure("the condition on \(join.relationship.name) has not been answered")
        case .not(let node):
            let inner = borrow(rows.wordCount)
            defer { giveBack(inner) }
            inner.copy(from: rows)
            try filter(inner, node, part)
            rows.subtract(inner)
        case .any(let nodes):
            // Each is asked only for the rows that none before has taken.
            let (rest, taken) = (borrow(rows.wordCount), borrow(rows.wordCount))
            defer {
                giveBack(rest)
                giveBack(taken)
            }
            rest.copy(from: rows)
            rows.clear()
            for node in nodes {
                taken.copy(from: rest)
                try filter(taken, node, part)
                rows.formUnion(taken)
                rest.subtract(taken)
                if rest.isEmpty { return }
            }
        }
    }

    func borrow(_ wordCount: Int) -> RowBits {
        RowBits(words: spare.popLast() ?? .allocate(capacity: Self.wordsMaximum), wordCount: wordCount)
    }

    func giveBack(_ bits: RowBits) { spare.append(bits.words) }

    // MARK: Tests

    private func apply(_ test: ColumnPredicate, _ rows: RowBits, _ part: ScanPart) throws(StoreError) {
        if case .key(let keys, let isNegated) = test.condition {
            filter(rows, part, keys, isNegated: isNegated)
            return
        }
        let column = try part.column(test.slot)
        let nullResult = test.nullResult
        switch test.condition {
        case .integers(let low, let high, let isNegated):
            integers(column, test.kind, rows, nullResult, low, high, isNegated)
        case .integerSet(let set): integerSet(column, test.kind, rows, set)
        case .real(let relation, let value): real(column, test.kind, rows, nullResult, relation, value)
        case .realSet(let set):
            rows.filter(column, nullResult: false) { row in
                set.contains(test.kind == .float ? Double(column.float(row)) : column.double(row))
            }
        case .uuid(let relation, let high, let low): uuid(column, rows, nullResult, relation, high, low)
        case .uuidSet(let set):
            rows.filter(column, nullResult: false) { row in set.contains(UUID(uuid: ByteTuples.bytes(column.uuid(row))))
            }
        case .isNull: rows.filter(column, nullResult: true) { _ in false }
        case .isNotNull: rows.filter(column, nullResult: false) { _ in true }
        case .decimal(let relation, let value): try decimal(column, rows, nullResult, relation, value)
        case .text(let text):
            try self.text(column, rows, nullResult, text, isASCII: part.isKnownASCII(test.slot))
        case .textSet(let set, let folding): try textSet(column, rows, set, folding)
        case .data(let relation, let constant):
            try forEachValue(column, rows, nullResult) { bytes in
                constant.withUnsafeBytes { relation.holds(StringMatching.order(bytes, $0)) }
            }
        case .reference(let keys, let isNegated):
            let values = column.values.assumingMemoryBound(to: UInt64.self)
            // Null is key 0, which no set has.
            rows.filter(column, nullResult: isNegated) { row in
                keys.contains(Int64(values[row] & ObjectRef.maximumKey)) != isNegated
            }
        case .isNothing, .isSomething: try references(column, rows, wantsNothing: test.condition.isNothing)
        case .column(let comparison): try compare(column, test.kind, try part.column(comparison.slot), comparison, rows)
        case .key: break
        }
    }

    private func compare(
        _ column: ColumnView, _ kind: SlotKind, _ other: ColumnView, _ comparison: ColumnPair, _ rows: RowBits
    ) throws(StoreError) {
        for index in 0..<rows.wordCount {
            if let nulls = other.nullWord(index) { rows.words[index] &= ~nulls }
        }
        guard comparison.domain == .texts else {
            return rows.filter(column, nullResult: false) { comparison.holds(column, kind, other, $0) }
        }
        let relation = comparison.relation
        try forEach(rows, of: column) { row throws(StoreError) in
            let holds: Bool
            if column.isNull(row) {
                holds = false
            } else if column.isExternal(row) || other.isExternal(row) {
                let (left, right) = (try copy(column, row), try copy(other, row))
                holds = left.withUnsafeBytes { left in
                    right.withUnsafeBytes { relation.holds(StringMatching.order(left, $0)) }
                }
            } else {
                holds = relation.holds(StringMatching.order(column.bytes(row), other.bytes(row)))
            }
            if !holds { rows.remove(row) }
        }
    }

    /// The bytes of a value, wherever it lies.
    private func copy(_ column: ColumnView, _ row: Int) throws(StoreError) -> [UInt8] {
        column.isExternal(row) ? try log.read(column.external(row)) : Array(column.bytes(row))
    }

    /// Calls the body with the rows that are asked for. For tests that take long.
    @inline(__always)
    private func forEach(
        _ rows: RowBits, of column: ColumnView, _ body: (Int) throws(StoreError) -> Void
    ) throws(StoreError) {
        var start = 0
        while start < column.rowCount {
            try control?.checkRead()
            let end = min(start + Self.rowsPerCheck, column.rowCount)
            try rows.forEach(in: start..<end, body)
            start = end
        }
    }

    private func references(_ column: ColumnView, _ rows: RowBits, wantsNothing: Bool) throws(StoreError) {
        try forEach(rows, of: column) { row throws(StoreError) in
            let ref = column.reference(row)
            // An object that is gone is as good as none.
            let location: Location = if ref.isNull { .absent } else { try snapshot.locate(ref) }
            if location.isAbsent != wantsNothing { rows.remove(row) }
        }
    }

    private func decimal(
        _ column: ColumnView, _ rows: RowBits, _ nullResult: Bool, _ relation: Relation, _ value: Decimal
    ) throws(StoreError) {
        guard let wanted = ColumnDecimal(value) else { preconditionFailure("a comparison with what is no number") }
        let code = wanted.code
        try forEach(rows, of: column) { row throws(StoreError) in
            if column.isNull(row) {
                if !nullResult { rows.remove(row) }
                return
            }
            guard let stored = ColumnDecimal(column.bytes(row)) else {
                if relation != .notEqual { rows.remove(row) }
                return
            }
            let storedCode = stored.code
            let order = storedCode < code ? -1 : storedCode > code ? 1 : ColumnDecimal.order(stored, wanted)
            if !relation.holds(order) { rows.remove(row) }
        }
    }

    // MARK: Bytes

    /// Keeps the rows whose bytes satisfy the test, read from where they lie.
    private func forEachValue(
        _ column: ColumnView, _ rows: RowBits, _ nullResult: Bool, _ test: (UnsafeRawBufferPointer) -> Bool
    ) throws(StoreError) {
        try forEach(rows, of: column) { row throws(StoreError) in
            let holds: Bool
            if column.isNull(row) {
                holds = nullResult
            } else if column.isExternal(row) {
                let value = try log.read(column.external(row))
                try checkLong(value.count)
                holds = value.withUnsafeBytes { test($0) }
            } else {
                let bytes = column.bytes(row)
                try checkLong(bytes.count)
                holds = test(bytes)
            }
            if !holds { rows.remove(row) }
        }
    }

    /// Long values are asked about one by one.
    @inline(__always)
    private func checkLong(_ byteCount: Int) throws(StoreError) {
        guard TextPieces.step(byteCount) else { throw StoreError(.cancelled, "the request was stopped") }
    }

    private func text(
        _ column: ColumnView, _ rows: RowBits, _ nullResult: Bool, _ test: TextPredicate, isASCII: Bool
    ) throws(StoreError) {
        if test.isBriefEquality, column.externals == nil { return equalText(column, rows, nullResult, test) }
        // Taken out while values are tested: each use of it in here would be checked for others at the same time.
        var scratch: [UInt8] = []
        swap(&scratch, &self.scratch)
        defer { swap(&scratch, &self.scratch) }
        // From a third of the rows on it is quicker to search all of their bytes at once.
        guard test.isSearch, column.externals == nil, rows.count * 3 > column.rowCount else {
            return try forEachValue(column, rows, nullResult) { test.holds($0, &scratch) }
        }
        guard !test.folding.isEmpty, !isASCII else { return search(column, rows, test) }
        // Values beyond ASCII are folded by Unicode's rules, one by one.
        let others = borrow(rows.wordCount)
        defer { giveBack(others) }
        others.clear()
        markBeyondASCII(column, others)
        for index in 0..<rows.wordCount { others.words[index] &= rows.words[index] }
        rows.subtract(others)
        search(column, rows, test)
        if others.isEmpty { return }
        try forEachValue(column, others, nullResult) { test.holds($0, &scratch) }
        rows.formUnion(others)
    }

    /// Most values differ from the constant in length or in their last byte: only the others are compared.
    private func equalText(_ column: ColumnView, _ rows: RowBits, _ nullResult: Bool, _ test: TextPredicate) {
        let isNegated = test.operation == .notEqual
        let (offsets, heap) = (column.offsets, column.heap)
        test.pattern.withUnsafeBytes { pattern in
            let count = pattern.count
            guard let start = pattern.baseAddress, let last = pattern.last else {
                return rows.filter(column, nullResult: nullResult) { (offsets[$0] == offsets[$0 + 1]) != isNegated }
            }
            rows.filter(column, nullResult: nullResult) { row in
                let (first, end) = (Int(offsets[row]), Int(offsets[row + 1]))
                let isEqual =
                    end - first == count && heap.load(fromByteOffset: end - 1, as: UInt8.self) == last
                    && memcmp(heap + first, start, count) == 0
                return isEqual != isNegated
            }
        }
    }

    /// Marks the rows whose values are not all ASCII.
    private func markBeyondASCII(_ column: ColumnView, _ rows: RowBits) {
        let offsets = column.offsets
        let end = Int(offsets[column.rowCount])
        var offset = Int(offsets[0])
        var row = 0
        while offset < end {
            let next = strata_find_beyond_ascii(column.heap + offset, end - offset)
            if next < 0 { return }
            offset += next
            while Int(offsets[row + 1]) <= offset { row += 1 }
            rows.insert(row..<row + 1)
            offset = Int(offsets[row + 1])
        }
    }

    /// Searches all values at once, which lie one behind the other. Only of those in ASCII the result counts if case or
    /// diacritics do not.
    private func search(_ column: ColumnView, _ rows: RowBits, _ test: TextPredicate) {
        let found = borrow(rows.wordCount)
        defer { giveBack(found) }
        found.clear()
        let offsets = column.offsets
        let end = Int(offsets[column.rowCount])
        var offset = Int(offsets[0])
        var row = 0
        test.pattern.withUnsafeBytes { pattern in
            while offset < end {
                let text = UnsafeRawBufferPointer(start: column.heap + offset, count: end - offset)
                let next = test.find(pattern, in: text)
                if next < 0 { return }
                offset += next
                while Int(offsets[row + 1]) <= offset { row += 1 }
                // What reaches into the next row's value is no match, nor is what begins later in this one.
                if offset + pattern.count <= Int(offsets[row + 1]) { found.insert(row..<row + 1) }
                offset = Int(offsets[row + 1])
            }
        }
        for index in 0..<rows.wordCount { rows.words[index] &= found.words[index] }
    }

    private func textSet(
        _ column: ColumnView, _ rows: RowBits, _ set: ByteStringSet, _ folding: NSComparisonPredicate.Options
    ) throws(StoreError) {
        try forEachValue(column, rows, false) { bytes in
            if folding.isEmpty { return set.contains(bytes) }
            if scratch.count < bytes.count { scratch = Array(repeating: 0, count: bytes.count * 2) }
            let isASCII = scratch.withUnsafeMutableBytes {
                TextPredicate.fold(bytes, into: $0, ignoresCase: folding.contains(.caseInsensitive))
            }
            if isASCII {
                return scratch.withUnsafeBytes { set.contains(UnsafeRawBufferPointer(rebasing: $0[..<bytes.count])) }
            }
            return StringMatching.withFolded(String(decoding: bytes, as: UTF8.self), folding) { set.contains($0) }
        }
    }
}

extension ColumnPredicate.Condition {
    fileprivate var isNothing: Bool {
        if case .isNothing = self { return true }
        return false
    }
}

import Foundation
import StrataLog

/// Computes expressions for some rows of a block or of column chunks, a column at a time.
struct RowComputation {
    let evaluator: ColumnEvaluator
    let part: ScanPart
    /// The only rows whose values are needed.
    let rows: RowBits

    private var rowCount: Int { part.rowCount }
    private var pages: ColumnPages { evaluator.handle.columnChunks.pages }

    /// - Throws: the error of a value that cannot be read.
    func column(_ expression: RowExpression) throws(StoreError) -> ComputedColumn {
        switch expression {
        case .slot(let slot, let kind):
            let view = try part.column(slot)
            return view.externals == nil ? ComputedColumn(view) : try inLine(view, kind)
        case .key: return try fill(.int64, Int64.self) { row in (Int64(part.key(row)), .value) }
        case .path(let path): return try gather(path)
        case .members(let members): return try aggregate(members)
        case .integer, .real: return try constant(expression)
        case .arithmetic(let operation, let left, let right):
            switch expression.kind {
            case .int64: return try integers(operation, try integers(left), try integers(right))
            case .decimal: return try decimals(operation, try decimals(left), try decimals(right))
            default: return try reals(operation, try reals(left), try reals(right))
            }
        case .function(let function, let argument): return try call(function, argument)
        }
    }

    /// Calls the body with the rows that are needed, and asks now and then whether to go on.
    @inline(__always)
    func forEachRow(_ body: (Int) throws(StoreError) -> Void) throws(StoreError) {
        var start = 0
        while start < rowCount {
            try evaluator.control?.checkRead()
            let end = min(start + Self.rowsPerCheck, rowCount)
            try rows.forEach(in: start..<end, body)
            start = end
        }
    }

    private static let rowsPerCheck = 8_192

    private func builder(_ kind: SlotKind) -> ColumnChunkBuilder {
        ColumnChunkBuilder(kind.valueKind, rowCount: rowCount, pages)
    }

    private func constant(_ expression: RowExpression) throws(StoreError) -> ComputedColumn {
        if case .integer(let value) = expression {
            return try fill(.int64, Int64.self) { _ in (value, .value) }
        }
        guard case .real(let value) = expression else { preconditionFailure("no constant") }
        return try fill(.double, Double.self) { _ in (value, .value) }
    }

    // MARK: Numbers

    /// What came out for a row.
    enum Outcome {
        case value, null, exceptional
    }

    /// A column of what the body gives for each row.
    @inline(__always)
    func fill<Value: BitwiseCopyable>(
        _ kind: SlotKind, _: Value.Type, exceptions known: [Int32] = [],
        _ body: (Int) throws(StoreError) -> (Value, Outcome)
    ) throws(StoreError) -> ComputedColumn {
        let builder = builder(kind)
        var exceptions: [Int32] = []
        try builder.fill(Value.self) { (values: UnsafeMutablePointer<Value>) throws(StoreError) in
            try forEachRow { row throws(StoreError) in
                let (value, outcome) = try body(row)
                switch outcome {
                case .value: values[row] = value
                case .null: builder.setNull(row)
                case .exceptional: exceptions.append(Int32(row))
                }
            }
        }
        return ComputedColumn(builder, exceptions: Self.union(known, exceptions))
    }

    static func union(_ first: [Int32], _ second: [Int32]) -> [Int32] {
        if first.isEmpty { return second }
        return second.isEmpty ? first : Array(Set(first).union(second)).sorted()
    }

    func integers(_ expression: RowExpression) throws(StoreError) -> Numbers<Int64> {
        if case .integer(let value) = expression { return Numbers(value) }
        let column = try column(expression)
        switch expression.kind {
        case .int64: return Numbers(column, zero: 0)
        case .bool: return Numbers(try map(column, to: .int64) { $0.bool($1) ? 1 as Int64 : 0 }, zero: 0)
        case .int16: return Numbers(try map(column, to: .int64) { Int64($0.int16($1)) }, zero: 0)
        case .int32: return Numbers(try map(column, to: .int64) { Int64($0.int32($1)) }, zero: 0)
        default: preconditionFailure("no integers")
        }
    }

    func reals(_ expression: RowExpression) throws(StoreError) -> Numbers<Double> {
        switch expression {
        case .integer(let value): return Numbers(Double(value))
        case .real(let value): return Numbers(value)
        default: break
        }
        let column = try column(expression)
        switch expression.kind {
        case .double, .date: return Numbers(column, zero: 0)
        case let kind: return Numbers(try map(column, to: .double) { $0.real($1, kind) }, zero: 0)
        }
    }

    /// What a function gives for each value that is not null, as a column of fixed width.
    ///
    /// - Parameter value: of a row; asked for rows that are null, too.
    @inline(__always)
    func map<Value: BitwiseCopyable>(
        _ column: ComputedColumn, to kind: SlotKind, _ value: (ColumnView, Int) -> Value
    ) throws(StoreError) -> ComputedColumn {
        let view = column.view
        // The view alone does not keep what it lies in.
        defer { withExtendedLifetime(column) {} }
        return try fill(kind, Value.self, exceptions: column.exceptions) { row in
            (value(view, row), view.isNull(row) ? .null : .value)
        }
    }

    // MARK: Text and bytes

    /// The same column with the values in it that lie out of line.
    private func inLine(_ view: ColumnView, _ kind: SlotKind) throws(StoreError) -> ComputedColumn {
        var hasExternals = false
        try forEachRow { row throws(StoreError) in hasExternals = hasExternals || view.isExternal(row) }
        if !hasExternals { return ComputedColumn(view) }
        return try appending(kind) { row, builder throws(StoreError) in
            if view.isNull(row) { return nil }
            return builder.append(try bytes(view, row))
        }
    }

    /// The bytes of a value, wherever it lies.
    func bytes(_ view: ColumnView, _ row: Int) throws(StoreError) -> [UInt8] {
        view.isExternal(row) ? try evaluator.handle.log.read(view.external(row)) : Array(view.bytes(row))
    }

    /// A column of texts.
    ///
    /// - Parameter body: puts a row's text in the place of that of the row before; false for null.
    func texts(
        exceptions known: [Int32] = [], _ body: (Int, inout [UInt8]) throws(StoreError) -> Bool
    ) throws(StoreError) -> ComputedColumn {
        var text: [UInt8] = []
        return try appending(.string, exceptions: known) { row, builder throws(StoreError) in
            guard try body(row, &text) else { return nil }
            guard TextPieces.step(text.count) else { throw StoreError(.cancelled, "the request was stopped") }
            return builder.append(text)
        }
    }

    /// A column of any width, whose values are appended one by one.
    ///
    /// - Parameter append: appends a row's value; false when all of them together would take too much of the memory at
    ///   once, nil for null.
    func appending(
        _ kind: SlotKind, exceptions known: [Int32] = [],
        _ append: (Int, ColumnChunkBuilder) throws(StoreError) -> Bool?
    ) throws(StoreError) -> ComputedColumn {
        let builder = builder(kind)
        var exceptions: [Int32] = []
        try forEachRow { row throws(StoreError) in
            if row > builder.count { builder.appendNothing(row - builder.count) }
            if let isTaken = try append(row, builder) {
                if isTaken { return }
                exceptions.append(Int32(row))
            }
            builder.appendNothing(1)
        }
        builder.appendNothing(rowCount - builder.count)
        return ComputedColumn(builder, exceptions: Self.union(known, exceptions))
    }
}

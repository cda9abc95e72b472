import StrataLog

/// Numbers of one width by row, or one number for all rows.
struct Numbers<Value: BitwiseCopyable> {
    let constant: Value
    let values: UnsafePointer<Value>?
    let column: ComputedColumn?

    init(_ constant: Value) {
        self.constant = constant
        values = nil
        column = nil
    }

    /// - Precondition: the column's values are of that type.
    init(_ column: ComputedColumn, zero: Value) {
        precondition(Int(column.view.width) == MemoryLayout<Value>.size, "the column has another kind")
        self.column = column
        values = column.view.values.assumingMemoryBound(to: Value.self)
        constant = zero
    }

    var exceptions: [Int32] { column?.exceptions ?? [] }

    @inline(__always)
    subscript(_ row: Int) -> Value { values?[row] ?? constant }

    @inline(__always)
    func isNull(_ row: Int) -> Bool { column?.view.isNull(row) ?? false }
}

import StrataLog

/// The values of an expression for some rows of a part, by row; of the other rows it has nothing of use.
package struct ComputedColumn {
    package let view: ColumnView
    /// What the values lie in; nil for those of the part itself.
    let chunk: ColumnChunk?
    /// The rows whose values are of another kind than the column's, ascending.
    let exceptions: [Int32]

    init(_ view: ColumnView, _ chunk: ColumnChunk? = nil, exceptions: [Int32] = []) {
        self.view = view
        self.chunk = chunk
        self.exceptions = exceptions
    }

    init(_ builder: ColumnChunkBuilder, exceptions: [Int32] = []) {
        let chunk = ColumnChunk(builder, [])
        self.init(chunk.view, chunk, exceptions: exceptions)
    }
}

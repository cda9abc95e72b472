/// Memory for columns that are put together from several blocks, on large pages where the system has them: touching a
/// large page for the first time costs less than touching its small ones. Thread-safe.
package final class ColumnPages: Sendable {
    private let memory: BlockMemory?

    /// - Parameter budgetBytes: address space; what does not fit into it comes from the heap.
    package init(budgetBytes: Int) {
        memory = BlockMemory(budgetBytes: budgetBytes)
    }

    /// Uninitialised memory, aligned to 16; to be given back with ``deallocate(_:)``.
    package func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        memory?.allocate(max(count, 1)) ?? .allocate(byteCount: max(count, 1), alignment: 16)
    }

    package func deallocate(_ pointer: UnsafeMutableRawPointer) {
        if let memory { memory.deallocate(pointer) } else { pointer.deallocate() }
    }

    /// Gives pages that nothing lies on back to the system.
    package func giveBackFree() { memory?.giveBackFree() }
}

extension ColumnView {
    /// A view of values that lie in memory of the caller's, in the form of a block's.
    ///
    /// - Parameters:
    ///   - values: of variable kinds, the offsets into `heap`.
    ///   - nulls: a bit for each row; nil when none is null.
    ///   - externals: a bit for each row whose value lies out of line; nil when none does.
    package init(
        over kind: ValueKind, rows: Int, values: UnsafeRawPointer, heap: UnsafeRawPointer,
        nulls: UnsafePointer<UInt8>?, externals: UnsafePointer<UInt8>?
    ) {
        self.init(kind: kind, rows: rows, values: values, heap: heap, nulls: nulls, externals: externals)
    }
}

/// Rows taken from a ``RowBuffer``, not encoded yet. A value that can go to another core.
package struct PendingBlock: Sendable {
    let rows: TakenRows
    package let entity: UInt16
    package let schemaVersion: UInt16
    /// What blocks before it taught; nil for one that is by itself.
    let advice: CompressionAdvice?

    package var rowCount: Int { rows.memory.rowCount }

    /// Primary keys of the rows, in row order.
    var keys: [UInt64] {
        if rowCount == 1 { return [rows.memory.keys[0]] }
        // Not made all at once: other ways to make an array look up its type each time.
        var keys: [UInt64] = []
        keys.reserveCapacity(rowCount)
        for row in 0..<rowCount { keys.append(rows.memory.keys[row]) }
        return keys
    }

    /// - Precondition: 0 <= row < rowCount.
    package func key(_ row: Int) -> UInt64 {
        precondition(row >= 0 && row < rowCount, "row out of range")
        return rows.memory.keys[row]
    }

    /// Encodes the rows as a block that has no place yet: see ``EncodedBlock/stamp(at:)``.
    ///
    /// - Precondition: the rows decode to at most 8 MiB, which holds when every value passed
    ///   ``RowBuffer/fitsInline(_:)`` and rows
    ///   were taken when ``RowBuffer/shouldCut`` said so.
    package func encode() -> EncodedBlock {
        let memory = rows.memory
        var encoder = BlockEncoder(memory, entity: entity, schemaVersion: schemaVersion, advice: advice)
        let maximum = encoder.byteCountMaximum
        let bytes: [UInt8]
        if maximum <= ScratchMemory.records.byteCount {
            // The most that a few rows may take is a multiple of what they do take.
            let scratch = ScratchMemory.records.allocate(byteCount: maximum)
            defer { ScratchMemory.records.free(scratch, byteCount: maximum) }
            encoder.encode(into: scratch)
            bytes = [UInt8](unsafeUninitializedCapacity: encoder.position) { buffer, count in
                UnsafeMutableRawBufferPointer(buffer).copyMemory(
                    from: UnsafeRawBufferPointer(start: scratch, count: encoder.position))
                count = encoder.position
            }
        } else {
            bytes = [UInt8](unsafeUninitializedCapacity: maximum) { buffer, count in
                encoder.encode(into: buffer.baseAddress!)
                count = encoder.position
            }
        }
        return EncodedBlock(
            bytes: bytes, entity: entity, rowCount: memory.rowCount, patches: encoder.patches,
            patchedChunks: encoder.patchedChunks)
    }
}

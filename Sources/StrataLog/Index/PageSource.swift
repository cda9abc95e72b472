/// The checkpoint file an index was opened from, as the index sees it.
///
/// Pages are read on first touch, from any thread, for as long as an index opened from this source (or a version made
/// from it) lives; the file may be unlinked meanwhile but must not be shortened or overwritten.
package protocol PageSource: AnyObject, Sendable {
    /// Fills the whole buffer with the bytes at `offset`.
    ///
    /// - Throws: `.io` when reading fails, `.corruption` when the file ends before the buffer is full.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError)

    /// Called when bytes turn out not to be what was written.
    func reportDamage()

    /// For messages: the file's name.
    var name: String { get }
}

extension PageSource {
    package func reportDamage() {}

    package var name: String { "checkpoint" }

    /// Records the damage and gives the error for it.
    func damaged(_ what: String, offset: Int64) -> StoreError {
        reportDamage()
        var error = StoreError.damagedCheckpoint(what, offset: offset)
        error.path = name
        return error
    }
}

/// The checkpoint file being written, as the indexes see it.
package protocol CheckpointSink: AnyObject {
    /// The offset in the file at which the next byte will lie. The offsets that a ``PageSource`` gets are these.
    var position: Int64 { get }

    /// Appends bytes. After an error the file is worthless.
    func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError)
}

/// Where an index's directory lies in a checkpoint file: what the file's footer has to keep for each index.
package struct CheckpointSection: Hashable, Sendable {
    package var offset: Int64
    package var byteCount: Int

    package init(offset: Int64, byteCount: Int) {
        self.offset = offset
        self.byteCount = byteCount
    }
}

extension StoreError {
    static func damagedCheckpoint(_ what: String, offset: Int64) -> StoreError {
        StoreError(.corruption, "the checkpoint is damaged: \(what)", offset: Int(offset)).ofCheckpoint
    }

    /// The same error, of a checkpoint.
    var ofCheckpoint: StoreError {
        var error = self
        error.isOfCheckpoint = true
        return error
    }
}

public import CStrataSupport
public import Synchronization

/// What a thread reads without a lock stays where it is until the thread has said that it is done.
///
/// Epochs: whoever begins to read notes the epoch that it finds; what others take out of sight then is freed when
/// every reader has noted a later one, or none. Nobody waits for a reader: one that the system takes the processor from
/// in the middle only delays what is freed.
///
/// Not to be nested. A reader calls nothing that may wait.
@frozen @usableFromInline
package enum ReadGuard {
    /// What the calling thread notes.
    @frozen @usableFromInline
    package struct Reader {
        @usableFromInline let epoch: UnsafeMutablePointer<Atomic<UInt64>>
        /// Counts the threads that read at a time, from 0.
        @usableFromInline package let number: Int

        @inlinable @inline(__always)
        init(epoch: UnsafeMutablePointer<Atomic<UInt64>>, number: Int) {
            self.epoch = epoch
            self.number = number
        }

        /// Nothing that was found is looked at from now on, unless a reference to it has been taken.
        @inlinable @inline(__always)
        package func end() { epoch.pointee.store(0, ordering: .releasing) }
    }

    @inlinable @inline(__always)
    static func atomic(_ word: UnsafeMutablePointer<UInt64>) -> UnsafeMutablePointer<Atomic<UInt64>> {
        // SAFETY: an atomic word has the layout of a word, and nothing reaches these words in another way.
        UnsafeMutableRawPointer(word).assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    @inlinable @inline(__always)
    static var current: UnsafeMutablePointer<Atomic<UInt64>> { atomic(strata_reader_epoch_word()) }

    /// From here to ``Reader/end()`` what is found by loads that are sequentially consistent is not freed.
    @inlinable @inline(__always)
    package static func begin() -> Reader {
        let record = strata_reader_current()
        let epoch = atomic(UnsafeMutableRawPointer(record).assumingMemoryBound(to: UInt64.self))
        // The order between this and the loads that follow is what counts: either they miss what was taken out of
        // sight, or whoever took it out sees the epoch.
        epoch.pointee.store(current.pointee.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
        return Reader(epoch: epoch, number: Int(truncatingIfNeeded: record.pointee.number))
    }

    /// The epoch of what has just been taken out of sight by a store that is sequentially consistent.
    package static var epoch: UInt64 { current.pointee.load(ordering: .sequentiallyConsistent) }

    /// Ends the epoch. Of what was taken out of sight, nobody looks any more at what is of an earlier epoch than the
    /// one returned.
    ///
    /// - Complexity: O(threads that have ever read at a time).
    package static func nextEpoch() -> UInt64 {
        var oldest = current.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
        var reader = strata_reader_first()
        while let record = reader {
            let epoch = atomic(UnsafeMutableRawPointer(record).assumingMemoryBound(to: UInt64.self))
                .pointee.load(ordering: .sequentiallyConsistent)
            if epoch != 0 { oldest = min(oldest, epoch) }
            reader = record.pointee.next
        }
        return oldest
    }
}

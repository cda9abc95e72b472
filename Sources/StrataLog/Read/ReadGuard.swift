internal import CStrataSupport
internal import Synchronization

/// What a thread reads without a lock stays where it is until the thread has said that it is done.
///
/// Epochs: whoever begins to read notes the epoch that it finds; what others take out of sight then is freed when
/// every reader has noted a later one, or none. Nobody waits for a reader: one that the system takes the processor from
/// in the middle only delays what is freed.
///
/// Not to be nested. A reader calls nothing that may wait.
enum ReadGuard {
    /// What the calling thread notes.
    struct Reader {
        fileprivate let epoch: UnsafeMutablePointer<Atomic<UInt64>>
        /// Counts the threads that read at a time, from 0.
        let number: Int

        /// Nothing that was found is looked at from now on, unless a reference to it has been taken.
        @inline(__always)
        func end() { epoch.pointee.store(0, ordering: .releasing) }
    }

    @inline(__always)
    private static func atomic(_ word: UnsafeMutablePointer<UInt64>) -> UnsafeMutablePointer<Atomic<UInt64>> {
        // SAFETY: an atomic word has the layout of a word, and nothing reaches these words in another way.
        UnsafeMutableRawPointer(word).assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    @inline(__always)
    private static var current: UnsafeMutablePointer<Atomic<UInt64>> { atomic(strata_reader_epoch_word()) }

    /// From here to ``Reader/end()`` what is found by loads that are sequentially consistent is not freed.
    @inline(__always)
    static func begin() -> Reader {
        let record = strata_reader_current()
        let epoch = atomic(UnsafeMutableRawPointer(record).assumingMemoryBound(to: UInt64.self))
        // The order between this and the loads that follow is what counts: either they miss what was taken out of
        // sight, or whoever took it out sees the epoch.
        epoch.pointee.store(current.pointee.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
        return Reader(epoch: epoch, number: Int(truncatingIfNeeded: record.pointee.number))
    }

    /// The epoch of what has just been taken out of sight by a store that is sequentially consistent.
    static var epoch: UInt64 { current.pointee.load(ordering: .sequentiallyConsistent) }

    /// Ends the epoch. Of what was taken out of sight, nobody looks any more at what is of an earlier epoch than the one
    /// returned.
    ///
    /// - Complexity: O(threads that have ever read at a time).
    static func nextEpoch() -> UInt64 {
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

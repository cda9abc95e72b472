internal import CStrataSupport
internal import Dispatch
public import Synchronization

/// A lock around a value, for short work that many threads ask for.
///
/// Who asks while it is held looks again a few times and then sleeps; who comes by when it is given back takes it, even
/// if others have waited for longer. The standard library's `Mutex` hands the lock over to a thread that sleeps, so
/// that everybody waits until that thread runs: with more threads than cores each holder costs a change of threads.
///
/// A free lock is taken with one instruction. Not recursive.
///
/// Unchecked: the value is reached only under the lock, and both lie where they are for as long as the lock lives.
@frozen @usableFromInline
package struct AdaptiveMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    /// Free, held, or held while others may be asleep.
    @inlinable static var free: UInt32 { 0 }
    @inlinable static var held: UInt32 { 1 }
    @inlinable static var awaited: UInt32 { 2 }
    /// Others' work is over sooner than one would be asleep and awake again, if it is over after so many looks.
    private static var looks: Int { 60 }

    @usableFromInline let word: UnsafeMutablePointer<Atomic<UInt32>>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    @inlinable package init(_ initial: consuming sending Value) {
        let alignment = max(MemoryLayout<Value>.alignment, MemoryLayout<Atomic<UInt32>>.alignment)
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: alignment + MemoryLayout<Value>.size, alignment: alignment)
        word = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 1)
        word.initialize(to: Atomic(Self.free))
        value = (memory + alignment).bindMemory(to: Value.self, capacity: 1)
        value.initialize(to: initial)
    }

    @inlinable deinit {
        value.deinitialize(count: 1)
        word.deinitialize(count: 1)
        UnsafeMutableRawPointer(word).deallocate()
    }

    /// Runs the body with the lock held.
    @inlinable @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock()
        defer { unlock() }
        return try body(&value.pointee)
    }

    @inlinable @inline(__always)
    borrowing func lock() {
        let (isMine, _) = word.pointee.weakCompareExchange(
            expected: Self.free, desired: Self.held, successOrdering: .acquiring, failureOrdering: .relaxed)
        if !isMine { wait() }
    }

    /// Takes the lock, unless others keep it for as long as that; whoever has got it calls ``unlock()``. For who can do
    /// without.
    ///
    /// - Parameter nanoseconds: less than a second.
    package borrowing func lock(waitingAtMost nanoseconds: UInt32) -> Bool {
        if look() { return true }
        let end = DispatchTime.now().uptimeNanoseconds + UInt64(nanoseconds)
        while word.pointee.exchange(Self.awaited, ordering: .acquiring) != Self.free {
            let now = DispatchTime.now().uptimeNanoseconds
            guard now < end else { return false }
            strata_lock_wait_for(
                UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self), Self.awaited, UInt32(end - now))
        }
        return true
    }

    @inlinable @inline(__always)
    package borrowing func unlock() {
        if word.pointee.exchange(Self.free, ordering: .releasing) == Self.awaited { wake() }
    }

    /// Takes the lock if it is given back soon.
    private borrowing func look() -> Bool {
        for _ in 0..<Self.looks {
            if word.pointee.load(ordering: .relaxed) == Self.free {
                let (isMine, _) = word.pointee.compareExchange(
                    expected: Self.free, desired: Self.held, successOrdering: .acquiring, failureOrdering: .relaxed)
                if isMine { return true }
            }
            strata_pause()
        }
        return false
    }

    @usableFromInline
    borrowing func wait() {
        if look() { return }
        // It stays awaited while this thread has it: others may sleep beside this one.
        while word.pointee.exchange(Self.awaited, ordering: .acquiring) != Self.free {
            strata_lock_wait(UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self), Self.awaited)
        }
    }

    @usableFromInline
    borrowing func wake() {
        strata_lock_wake(UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self))
    }
}

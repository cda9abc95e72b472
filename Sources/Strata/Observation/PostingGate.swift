import Dispatch
import StrataSupport
import Synchronization

/// Lets one thread at a time post notifications, as long as that takes no time.
///
/// Foundation's notification center takes a lock with every notification. It is handed over to threads that sleep, so
/// that with many more threads than processors each notification costs a change of threads. Threads that wait here
/// before they come to it do not: see `AdaptiveMutex`.
///
/// Nothing depends on the gate. Observers may take their time, post themselves, or wait for each other: whoever has
/// waited while one and the same notification was posted goes on all the same, and for a time nobody waits, longer each
/// time that this happens again.
enum PostingGate {
    private static let mutex = AdaptiveMutex<Void>(())
    /// Who posts; 0 for nobody.
    private static let holder = Atomic<UInt>(0)
    /// How many have been let in.
    private static let turns = Atomic<UInt>(0)
    /// Until when nobody waits, in nanoseconds of the system's uptime; 0 if everybody does.
    private static let openUntil = Atomic<UInt64>(0)
    private static let opening = AdaptiveMutex(Opening())

    private static let waitNanoseconds: UInt32 = 2_000_000

    /// How long nobody waits.
    private struct Opening {
        private static let shortest: UInt64 = 20_000_000
        private static let longest: UInt64 = 5_000_000_000

        private var nanoseconds: UInt64 = 0
        private(set) var end: UInt64 = 0

        mutating func begin(_ now: UInt64) {
            // Others that waited have come to the same end.
            guard now >= end else { return }
            let isSoon = now < end + nanoseconds
            nanoseconds = isSoon ? min(nanoseconds * 2, Self.longest) : Self.shortest
            end = now + nanoseconds
        }
    }

    static func pass(_ body: () -> Void) {
        let thread = QueueWait.currentThread
        guard !isOpen, holder.load(ordering: .relaxed) != thread, lock() else { return body() }
        turns.add(1, ordering: .relaxed)
        holder.store(thread, ordering: .relaxed)
        defer {
            holder.store(0, ordering: .relaxed)
            mutex.unlock()
        }
        body()
    }

    private static var isOpen: Bool {
        let end = openUntil.load(ordering: .relaxed)
        guard end != 0 else { return false }
        if DispatchTime.now().uptimeNanoseconds < end { return true }
        openUntil.store(0, ordering: .relaxed)
        return false
    }

    private static func lock() -> Bool {
        var turn: UInt
        repeat {
            turn = turns.load(ordering: .relaxed)
            if mutex.lock(waitingAtMost: waitNanoseconds) { return true }
        } while turns.load(ordering: .relaxed) != turn
        let end = opening.withLock { opening in
            opening.begin(DispatchTime.now().uptimeNanoseconds)
            return opening.end
        }
        openUntil.store(end, ordering: .relaxed)
        return false
    }
}

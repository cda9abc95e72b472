import Foundation
import StrataSupport
import Synchronization
import Testing

@Suite struct AdaptiveMutexTests {
    private struct Refusal: Error {}

    private final class Token: Sendable {}

    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let finished = DispatchGroup()
        for number in 0..<count {
            finished.enter()
            Thread.detachNewThread {
                body(number)
                finished.leave()
            }
        }
        finished.wait()
    }

    /// More threads than cores, so that holders lose the processor and others fall asleep.
    @Test(arguments: [1, 2, 8, 64]) func noChangeIsLost(threads: Int) {
        let rounds = 64_000 / threads
        let pair = AdaptiveMutex((left: 0, right: 0))
        let torn = Atomic<Int>(0)
        onThreads(threads) { _ in
            for _ in 0..<rounds {
                pair.withLock { pair in
                    if pair.left != pair.right { torn.wrappingAdd(1, ordering: .relaxed) }
                    pair.left += 1
                    pair.right += 1
                }
            }
        }
        #expect(torn.load(ordering: .relaxed) == 0)
        #expect(pair.withLock { $0.left } == threads * rounds)
    }

    /// Every holder keeps the lock for so long that those who wait fall asleep; all of them must be woken.
    @Test func whoeverSleepsIsWoken() {
        let count = AdaptiveMutex(0)
        onThreads(8) { _ in
            for _ in 0..<10 {
                count.withLock { count in
                    usleep(200)
                    count += 1
                }
            }
        }
        #expect(count.withLock { $0 } == 80)
    }

    @Test func whoeverCanDoWithoutDoesNotWaitForEver() {
        let mutex = AdaptiveMutex(0)
        let isTaken = mutex.withLock { _ in
            let taken = Mutex(true)
            onThreads(4) { _ in
                let isMine = mutex.lock(waitingAtMost: 1_000_000)
                if !isMine { taken.withLock { $0 = false } }
            }
            return taken.withLock { $0 }
        }
        #expect(!isTaken)
        let isFree = mutex.lock(waitingAtMost: 1_000_000)
        #expect(isFree)
        if isFree { mutex.unlock() }
    }

    /// Some of the threads can do without, but mostly need not.
    @Test func thoseWhoWaitForAWhileTakeTurnsWithTheOthers() {
        let mutex = AdaptiveMutex((left: 0, right: 0))
        let got = Atomic<Int>(0)
        onThreads(8) { number in
            for _ in 0..<2_000 {
                if number % 2 == 0, mutex.lock(waitingAtMost: 900_000_000) { mutex.unlock() }
                mutex.withLock { pair in
                    if pair.left == pair.right { got.wrappingAdd(1, ordering: .relaxed) }
                    pair.left += 1
                    pair.right += 1
                }
            }
        }
        #expect(got.load(ordering: .relaxed) == 16_000)
    }

    /// One that never sleeps long between its turns must not leave the sleeping ones asleep for ever.
    @Test func aThreadThatAsksAllTheTimeLeavesTurnsToOthers() {
        let turns = AdaptiveMutex([0, 0, 0, 0])
        let isOver = Atomic<Bool>(false)
        onThreads(4) { number in
            while !isOver.load(ordering: .relaxed) {
                let isEnough = turns.withLock { turns in
                    turns[number] += 1
                    return turns.allSatisfy { $0 >= 100 }
                }
                if isEnough { isOver.store(true, ordering: .relaxed) }
            }
        }
        #expect(turns.withLock { $0.allSatisfy { $0 >= 100 } })
    }

    @Test func anErrorGivesTheLockBack() {
        let value = AdaptiveMutex(1)
        #expect(throws: Refusal.self) {
            try value.withLock { value in
                value = 2
                throw Refusal()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }

    @Test func theValueGoesWithTheLock() {
        weak var token: Token?
        do {
            let held = Token()
            token = held
            let lock = AdaptiveMutex<Token?>(held)
            #expect(lock.withLock { $0 != nil })
        }
        #expect(token == nil)
    }
}

import Synchronization
import Testing

@testable import StrataLog

/// Caches never became smaller, and each store had a budget of its own: a process that had once been busy kept what it
/// had taken for good.
@Suite struct MemoryBudgetTests {
    private final class Holder: MemoryHolder {
        let bytes: Atomic<Int>
        let rounds = Atomic<Int>(0)
        private let budget: MemoryBudget

        init(_ budget: MemoryBudget) {
            self.budget = budget
            bytes = Atomic(0)
            budget.register(self)
        }

        deinit { budget.unregister(ObjectIdentifier(self), heldBytes: heldBytes) }

        var heldBytes: Int { bytes.load(ordering: .relaxed) }

        func take(_ count: Int) {
            bytes.add(count, ordering: .relaxed)
            budget.record(count)
        }

        /// As if nothing was used between two rounds.
        func giveBackUnused() -> Int {
            if rounds.add(1, ordering: .relaxed).newValue >= 2 { shrink(to: 0) }
            return 0
        }

        func shrink(to byteCount: Int) {
            let before = heldBytes
            guard before > byteCount else { return }
            bytes.store(byteCount, ordering: .relaxed)
            budget.record(byteCount - before)
        }
    }

    private func waitUntil(_ condition: () -> Bool) async throws {
        for _ in 0..<2_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("it has not come to pass")
    }

    @Test func whatIsNotUsedIsGivenBackAndTheHeapIsTrimmed() async throws {
        let budget = MemoryBudget(limitBytes: 1_000, intervalMilliseconds: 20)
        let holder = Holder(budget)
        holder.take(500)
        #expect(budget.heldBytes == 500)
        try await waitUntil { budget.heldBytes == 0 && budget.trims > 0 }
        // In a process that does nothing, nothing is looked after.
        try await waitUntil { !budget.isLookingAfter }
        let rounds = holder.rounds.load(ordering: .relaxed)
        holder.take(100)
        try await waitUntil { holder.rounds.load(ordering: .relaxed) > rounds && budget.heldBytes == 0 }
    }

    @Test func thoseWithMoreThanTheirShareGiveWay() async throws {
        let budget = MemoryBudget(limitBytes: 1_000, intervalMilliseconds: 86_400_000)
        let (large, small) = (Holder(budget), Holder(budget))
        #expect(budget.allowance(adding: 900) == nil)
        large.take(900)
        small.take(90)
        #expect(budget.allowance(adding: 10) == nil)
        // Everything is used: each may have half, and the larger one is asked to give way.
        #expect(budget.allowance(adding: 200) == 500)
        small.take(200)
        try await waitUntil { budget.allowance(adding: 1) == nil && large.heldBytes < 900 }
        #expect(small.heldBytes == 290 && large.heldBytes < 900 && large.heldBytes >= 500)
    }

    @Test func aSmallerBudgetHoldsAtOnce() {
        let budget = MemoryBudget(limitBytes: 1_000, intervalMilliseconds: 86_400_000)
        let holders = [Holder(budget), Holder(budget)]
        for holder in holders { holder.take(400) }
        budget.limitBytes = 100
        #expect(budget.heldBytes <= 100)
        budget.giveBackEverything()
        #expect(budget.heldBytes == 0 && budget.trims == 1)
    }

    @Test func aHolderThatGoesIsNoLongerCounted() {
        let budget = MemoryBudget(limitBytes: 1_000, intervalMilliseconds: 86_400_000)
        do {
            let holder = Holder(budget)
            holder.take(700)
            withExtendedLifetime(holder) { #expect(budget.allowance(adding: 400) == 1_000) }
        }
        #expect(budget.heldBytes == 0 && budget.allowance(adding: 400) == nil)
    }

    // MARK: Helpers

    /// Each save and each notification asked Dispatch for a thread of its own.
    @Test func helpersAreAsManyAsAgreedAndEndWhenThereIsNothingToDo() async throws {
        let budget = MemoryBudget(limitBytes: 1_000, intervalMilliseconds: 86_400_000)
        let pool = HelperPool(width: 3, budget: budget)
        let done = Atomic<Int>(0)
        let count = 5_000
        await withCheckedContinuation { continuation in
            for _ in 0..<count {
                pool.async {
                    if done.add(1, ordering: .relaxed).newValue == count { continuation.resume() }
                }
            }
        }
        #expect(pool.mostThreads <= 3)
        try await waitUntil { pool.threadCount == 0 }
        try await waitUntil { budget.heldBytes == 0 }
    }
}

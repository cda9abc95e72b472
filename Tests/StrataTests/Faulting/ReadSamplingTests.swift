import Foundation
import Synchronization
import Testing

@testable import Strata

@Suite struct ReadSamplingTests {
    /// Fires so many faults, and reads the slots of those objects that are samples.
    private func fire(_ count: Int, reading slots: [Int], _ sampling: inout ReadSampling) {
        for _ in 0..<count where sampling.isSample() {
            for slot in slots { _ = sampling.learn(slot) }
        }
    }

    @Test func aContextBeginsWithWhatEarlierOnesRead() {
        let known = Atomic<UInt64>(0)
        var first = ReadSampling()
        first.begin(with: known, turn: 1)
        #expect(first.wanted == 0)
        fire(2, reading: [1, 4], &first)
        first.end(known)
        #expect(known.load(ordering: .relaxed) == 0b10010)

        var second = ReadSampling()
        second.begin(with: known, turn: 2)
        #expect(second.wanted == 0b10010)
        // A sample that is not read yet takes nothing away.
        fire(20, reading: [], &second)
        #expect(second.wanted == 0b10010)
        second.end(known)
        #expect(known.load(ordering: .relaxed) == 0b10010)
    }

    @Test func shortContextsAddWhatTheyRead() {
        let known = Atomic<UInt64>(0b10)
        var sampling = ReadSampling()
        sampling.begin(with: known, turn: 16)
        fire(1, reading: [3], &sampling)
        sampling.end(known)
        #expect(known.load(ordering: .relaxed) == 0b1010)
    }

    @Test func aContextThatHasReadMuchKnowsBetter() {
        let known = Atomic<UInt64>(0b111)
        var sampling = ReadSampling()
        sampling.begin(with: known, turn: 0)
        fire(16 * 10, reading: [5], &sampling)
        #expect(sampling.wanted == 0b100000)
        sampling.end(known)
        #expect(known.load(ordering: .relaxed) == 0b100000)
    }

    @Test func notEveryShortContextLearns() {
        let known = Atomic<UInt64>(0b1)
        let learning = (0..<160).filter { turn in
            var sampling = ReadSampling()
            sampling.begin(with: known, turn: turn)
            return sampling.isSample()
        }
        #expect(learning.count == 10)
    }

    @Test(arguments: StoreKind.allCases) func contextsOfACoordinatorLearnFromEachOther(_ kind: StoreKind) throws {
        let store = try FetchOptionsTests.filled(kind)
        #expect(store.context().faults.sampling.wanted == 0)
        do {
            // One that the store does not keep.
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = store.coordinator
            try context.performAndWait {
                for employee in try context.fetch(NSFetchRequest<Employee>(entityName: "Employee")) { _ = employee.age }
            }
        }
        let slot = try #require(store.context().modelShapes?.byName["Employee"]?.slots.firstIndex { $0.name == "age" })
        #expect(store.context().faults.sampling.wanted == 1 << UInt64(slot))
    }
}

import CoreData
import Foundation
import Synchronization
import Testing

/// Observers of contexts on different threads that take their time.
@Suite struct SlowObserverTests {
    /// Neither save ends before both have told of themselves.
    @Test(arguments: StoreKind.allCases) func observersMayWaitForEachOther(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let contexts = [store.context(), store.context()]
        let arrivals = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
        let met = Atomic<Int>(0)
        let tokens = contexts.indices.map { index in
            NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: contexts[index], queue: nil
            ) { _ in
                arrivals[index].signal()
                if arrivals[1 - index].wait(timeout: .now() + 60) == .success { met.add(1, ordering: .relaxed) }
            }
        }
        defer { tokens.forEach(NotificationCenter.default.removeObserver) }
        let saved = DispatchGroup()
        for context in contexts {
            context.perform {
                Employee(context: context).name = "new"
                try? context.save()
            }
            saved.enter()
            context.perform { saved.leave() }
        }
        saved.wait()
        #expect(met.load(ordering: .relaxed) == 2)
    }

    @Test(arguments: StoreKind.allCases) func anObserverMaySaveItself(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (here, there) = (store.context(), store.context())
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: here, queue: nil
        ) { _ in
            there.performAndWait {
                Employee(context: there).name = "follows"
                #expect(throws: Never.self) { try there.save() }
            }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let followers = SaveRecorder(.NSManagedObjectContextDidSave, there)
        try here.performAndWait {
            for _ in 1...20 {
                Employee(context: here).name = "leads"
                try here.save()
            }
        }
        #expect(followers.infos.count == 20)
    }

    /// The others save meanwhile, and every save is told of.
    @Test func othersDoNotWaitForASlowObserver() throws {
        let store = try TestStore(.memory)
        let slow = store.context()
        let others = (1...4).map { _ in store.context() }
        let isHeld = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: slow, queue: nil
        ) { _ in
            isHeld.signal()
            goOn.wait()
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let recorders = others.map { SaveRecorder(.NSManagedObjectContextDidSave, $0) }
        let saved = DispatchGroup()
        saved.enter()
        slow.perform {
            Employee(context: slow).name = "slow"
            try? slow.save()
            saved.leave()
        }
        isHeld.wait()
        for other in others {
            saved.enter()
            other.perform {
                for _ in 1...10 {
                    Employee(context: other).name = "other"
                    try? other.save()
                }
                saved.leave()
            }
        }
        for other in others { other.performAndWait {} }
        #expect(recorders.allSatisfy { $0.infos.count == 10 })
        goOn.signal()
        saved.wait()
    }
}

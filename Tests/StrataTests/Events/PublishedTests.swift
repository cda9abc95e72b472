import Foundation
import StrataSupport
import Synchronization
import Testing

/// A value that many threads read and few exchange, and the stores that events name.
@Suite struct PublishedTests {
    private final class Number: Sendable {
        let value: Int

        init(_ value: Int) { self.value = value }
    }

    @Test func anExchangedValueIsLetGoOf() {
        weak var old: Number?
        let published: Published<Number>
        do {
            let number = Number(1)
            old = number
            published = Published(number)
        }
        #expect(published.value.value == 1 && old != nil)
        published.publish(Number(2))
        // A reader of another test may be under way: then it goes with a later exchange.
        for _ in 0..<1_000_000 where old != nil { published.publish(Number(2)) }
        #expect(old == nil && published.value.value == 2)
    }

    @Test func theLastValueIsLetGoOfWithItsPlace() {
        weak var last: Number?
        do {
            let number = Number(1)
            last = number
            let published = Published(number)
            #expect(published.value === number)
        }
        #expect(last == nil)
    }

    @Test func readersOfManyThreadsSeeValuesInTheirOrder() {
        let published = Published(Number(0))
        DispatchQueue.concurrentPerform(iterations: 8) { worker in
            if worker == 0 {
                for number in 1...5_000 { published.publish(Number(number)) }
                return
            }
            var seen = 0
            for _ in 0..<20_000 {
                let value = published.value.value
                #expect(value >= seen)
                seen = value
            }
        }
        #expect(published.value.value == 5_000)
    }

    @Test func aPathHasOneStoreWhileSomebodyHoldsIt() {
        let path = "/\(UUID().uuidString)"
        weak var known: EventStore?
        do {
            let store = EventStore.at(path)
            known = store
            #expect(store === EventStore.at(path) && store.path == path)
            #expect(store != EventStore.at(path + "x"))
        }
        #expect(known == nil)
        #expect(EventStore.at(path).path == path)
    }
}

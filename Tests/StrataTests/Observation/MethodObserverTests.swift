import CoreData
import Foundation
import Synchronization
import Testing

@testable import StrataSchema

/// `addObserver(_:selector:name:object:)` with a method where Apple's platforms take a selector.
@Suite struct MethodObserverTests {
    private class Observer {
        let center: NotificationCenter
        private(set) var heard: [String] = []

        init(_ center: NotificationCenter) { self.center = center }

        func changed(_ notification: Notification) { heard.append("changed \(notification.name.rawValue)") }
        func tick() { heard.append("tick") }
        func old(_ notification: NSNotification) { heard.append("old \(notification.userInfo?["a"] ?? "-")") }
        func any(_ sender: Any) { heard.append("any \((sender as? Notification)?.name.rawValue ?? "-")") }
        deinit { center.removeObserver(self) }
    }

    private final class Loud: Observer {
        var isLoud = false
        override func tick() { isLoud = true }
    }

    private static let one = Notification.Name("one")
    private static let two = Notification.Name("two")
    private let center = NotificationCenter()

    @Test func aMethodIsCalledWithWhatItTakes() {
        let observer = Observer(center)
        center.addObserver(observer, selector: Observer.changed(_:), name: Self.one, object: nil)
        center.addObserver(observer, selector: Observer.tick, name: Self.two, object: nil)
        center.addObserver(observer, selector: Observer.old(_:), name: Self.one, object: nil)
        center.addObserver(observer, selector: Observer.any(_:), name: nil, object: nil)
        center.post(name: Self.one, object: nil, userInfo: ["a": 1])
        #expect(Set(observer.heard) == ["changed one", "old 1", "any one"])
        center.post(name: Self.two, object: nil)
        #expect(Set(observer.heard.dropFirst(3)) == ["tick", "any two"])
    }

    @Test func aSubclassesOverrideIsCalled() {
        let observer = Loud(center)
        center.addObserver(observer, selector: Observer.tick, name: Self.one, object: nil)
        center.post(name: Self.one, object: nil)
        #expect(observer.isLoud && observer.heard.isEmpty)
    }

    @Test func onlyTheObjectsNotificationsCome() {
        let observer = Observer(center)
        let (own, other) = (NSObject(), NSObject())
        center.addObserver(observer, selector: Observer.changed(_:), name: Self.one, object: own)
        center.post(name: Self.one, object: other)
        center.post(name: Self.one, object: nil)
        #expect(observer.heard.isEmpty)
        center.post(name: Self.one, object: own)
        #expect(observer.heard == ["changed one"])
    }

    @Test func neitherObserverNorObjectIsKept() {
        weak var observer: Observer?
        weak var object: NSObject?
        do {
            let (strong, sender) = (Observer(center), NSObject())
            (observer, object) = (strong, sender)
            center.addObserver(strong, selector: Observer.changed(_:), name: Self.one, object: sender)
        }
        #expect(observer == nil && object == nil)
        center.post(name: Self.one, object: nil)
    }

    @Test func anObservationEndsWhenTheObserverIsRemoved() {
        let (observer, other, object) = (Observer(center), Observer(center), NSObject())
        for name in [Self.one, Self.two] {
            center.addObserver(observer, selector: Observer.changed(_:), name: name, object: object)
            center.addObserver(other, selector: Observer.tick, name: name, object: nil)
        }
        // Of another center, of another object, of another name: nothing ends.
        NotificationCenter().removeObserver(observer)
        center.removeObserver(observer, name: nil, object: other)
        center.removeObserver(observer, name: Notification.Name("three"), object: nil)
        center.post(name: Self.one, object: object)
        center.removeObserver(observer, name: Self.one, object: object)
        center.post(name: Self.one, object: object)
        center.post(name: Self.two, object: object)
        #expect(observer.heard == ["changed one", "changed two"])
        center.removeObserver(observer)
        center.post(name: Self.two, object: object)
        #expect(observer.heard.count == 2)
        #expect(other.heard.count == 4)
    }

    @Test func whoIsRemovedWhileANotificationIsPostedIsNotCalled() {
        final class Rival: Observer {
            weak var rival: Rival?
            var count = 0
            func take() {
                count += 1
                rival.map { center.removeObserver($0) }
            }
        }
        let rivals = [Rival(center), Rival(center)]
        (rivals[0].rival, rivals[1].rival) = (rivals[1], rivals[0])
        for rival in rivals { center.addObserver(rival, selector: Rival.take, name: Self.one, object: nil) }
        center.post(name: Self.one, object: nil)
        #expect(rivals.map(\.count).reduce(0, +) == 1)
    }

    /// Tokens are objects, too, and are handed on to Foundation.
    @Test func tokensAreRemovedAsEver() {
        let count = Atomic(0)
        let token = center.addObserver(forName: Self.one, object: nil, queue: nil) { _ in
            count.add(1, ordering: .relaxed)
        }
        center.removeObserver(token)
        center.post(name: Self.one, object: nil)
        #expect(count.load(ordering: .relaxed) == 0)
    }

    @Test func observersThatAreGoneDoNotPileUp() {
        final class Silent { func tick() {} }
        let before = MethodObservers.shared.count
        for _ in 0..<1000 { center.addObserver(Silent(), selector: Silent.tick, name: Self.one, object: nil) }
        #expect(MethodObservers.shared.count - before < 200)
    }

    @Test func observersComeAndGoOnSeveralThreads() {
        let own = Notification.Name("own")
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<200 {
                let observer = Observer(center)
                center.addObserver(observer, selector: Observer.changed(_:), name: own, object: observer)
                center.post(name: own, object: observer)
                #expect(observer.heard == ["changed own"])
            }
        }
    }
}

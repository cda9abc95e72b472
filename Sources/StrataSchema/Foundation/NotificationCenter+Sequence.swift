import Foundation

/// The notifications of a name as they are posted. Linux's Foundation lacks it.
///
/// Each iteration begins to listen when its iterator is made, keeps what has not been taken yet, and ends with the
/// task.
public struct NotificationSequence: AsyncSequence, Sendable {
    public typealias Element = Notification
    public typealias Failure = Never

    private struct Subject: @unchecked Sendable {
        // Unchecked: the object is only compared.
        let object: AnyObject?
    }
    fileprivate struct Carried: @unchecked Sendable {
        // Unchecked: what a notification carries is handed from one thread to another, as to any observer.
        let notification: Notification
    }

    private let center: NotificationCenter
    private let name: Notification.Name
    private let subject: Subject

    init(_ center: NotificationCenter, _ name: Notification.Name, _ object: AnyObject?) {
        self.center = center
        self.name = name
        subject = Subject(object: object)
    }

    /// Begins to listen.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: Carried.self)
        let token = Token(
            center,
            center.addObserver(forName: name, object: subject.object, queue: nil) {
                continuation.yield(Carried(notification: $0))
            })
        continuation.onTermination = { _ in token.end() }
        return Iterator(base: stream.makeAsyncIterator(), token: token)
    }

    /// Takes one notification after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncStream<Carried>.Iterator
        fileprivate let token: Token

        /// Waits for the next notification; nil when the task has been cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
            await base.next(isolation: actor)?.notification
        }
    }

    /// Stops listening when it goes.
    fileprivate final class Token: @unchecked Sendable {
        // Unchecked: the centre may be used from any thread, and nothing changes here.
        private let center: NotificationCenter
        private let observer: any NSObjectProtocol

        init(_ center: NotificationCenter, _ observer: any NSObjectProtocol) {
            self.center = center
            self.observer = observer
        }

        func end() { center.removeObserver(observer) }

        deinit { end() }
    }
}

extension NotificationCenter {
    /// The notifications of a name, and of an object if one is given, from when they are iterated over.
    public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> NotificationSequence {
        NotificationSequence(self, name, object)
    }
}

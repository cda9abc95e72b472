public import Synchronization

/// Whoever listens to what the library does.
package struct EventListener: Sendable {
    /// Runs a body with what was bound where the scope was taken.
    package typealias Scope = @Sendable (_ body: () -> Void) -> Void

    /// What it wants to hear of.
    package var kinds: EventKinds
    /// Hears of it, on the thread that did it, which may hold locks: it returns soon, and uses no store.
    package var happened: @Sendable (StrataEvent) -> Void
    /// The calling task's values that belong to the listener; nil if there are none. Asked with
    /// ``EventKinds/taskLocals``.
    package var capture: @Sendable () -> Scope?

    package init(
        kinds: EventKinds, happened: @escaping @Sendable (StrataEvent) -> Void,
        capture: @escaping @Sendable () -> Scope? = { nil }
    ) {
        self.kinds = kinds
        self.happened = happened
        self.capture = capture
    }
}

/// The library's one hook: products above it, and `STRATA_DEBUG`, hear here of what it does.
///
/// Where something happens, ``wants(_:)`` is asked first. Without a listener that is a load and a branch: no clock is
/// read, nothing is counted, allocated or formatted.
@usableFromInline
package enum EventHub {
    /// The kinds of all listeners.
    @usableFromInline static let wanted = Atomic<UInt32>(0)

    private struct State {
        var listeners: [(number: Int, listener: EventListener)] = []
        var nextNumber = 0
    }

    private static let state = AdaptiveMutex(State())

    /// Whether the task is inside of a listener. What that does with a store, be it in a block for which it does not
    /// wait, is not told, lest it never ends.
    @TaskLocal private static var isTelling = false

    /// Whether anybody listens for one of these.
    @inlinable @inline(__always)
    package static func wants(_ kinds: EventKinds) -> Bool { wanted.load(ordering: .relaxed) & kinds.rawValue != 0 }

    /// - Returns: what ``remove(_:)`` takes.
    package static func add(_ listener: EventListener) -> Int {
        state.withLock { state in
            state.nextNumber += 1
            state.listeners.append((state.nextNumber, listener))
            publish(state)
            return state.nextNumber
        }
    }

    /// Events that are being told still reach the listener.
    package static func remove(_ number: Int) {
        state.withLock { state in
            state.listeners.removeAll { $0.number == number }
            publish(state)
        }
    }

    private static func publish(_ state: State) {
        let kinds = state.listeners.reduce(EventKinds()) { $0.union($1.listener.kinds) }
        wanted.store(kinds.rawValue, ordering: .relaxed)
    }

    /// Tells who listens for it.
    package static func tell(_ event: StrataEvent) {
        let listeners = state.withLock { $0.listeners }
        let kind = event.kind
        guard !isTelling else { return }
        $isTelling.withValue(true) {
            for entry in listeners where entry.listener.kinds.contains(kind) { entry.listener.happened(event) }
        }
    }

    /// What listeners bind for the calling task, for work that another thread does for it.
    package static func capture() -> EventListener.Scope? {
        let listeners = state.withLock { $0.listeners }
        var all: EventListener.Scope?
        if isTelling { all = { body in Self.$isTelling.withValue(true) { body() } } }
        for entry in listeners where entry.listener.kinds.contains(.taskLocals) {
            guard let scope = entry.listener.capture() else { continue }
            guard let outer = all else {
                all = scope
                continue
            }
            all = { body in outer { scope(body) } }
        }
        return all
    }
}

extension EventHub {
    /// Runs work on a store and tells how long it took, if anybody listens for that.
    ///
    /// - Parameter event: nil when there was nothing to tell of; asked after the work is done, or has failed.
    @inline(__always)
    package static func telling<Result: ~Copyable, Failure: Error>(
        _ kinds: EventKinds, of stores: @autoclosure () -> [String], as event: (StoreWork) -> StrataEvent?,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard wants(kinds) else { return try body() }
        let began = ContinuousClock.now
        do throws(Failure) {
            let result = try body()
            if let event = event(StoreWork(stores: stores(), duration: .now - began)) { tell(event) }
            return result
        } catch {
            if let event = event(StoreWork(stores: stores(), duration: .now - began, error: error)) { tell(event) }
            throw error
        }
    }
}

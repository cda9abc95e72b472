internal import CStrataSupport
public import Synchronization

/// The library's one hook: products above it, and `STRATA_DEBUG`, hear here of what it does.
///
/// Where something happens, ``wants(_:)`` is asked first. Without a listener that is a load and a branch: no clock is
/// read, nothing is counted, allocated or formatted.
@usableFromInline
package enum EventHub {
    /// The kinds of all listeners.
    @usableFromInline static let wanted = Atomic<UInt32>(0)

    /// An object, so that telling it something takes one reference and no copies of its closures.
    private final class Entry: Sendable {
        let number: Int
        let listener: EventListener

        init(_ number: Int, _ listener: EventListener) {
            self.number = number
            self.listener = listener
        }
    }

    /// All listeners at some time.
    private final class Listeners: Sendable {
        let all: [Entry]
        /// Those that have something to bind.
        let capturing: [Entry]
        /// Those that hear of events.
        let telling: [Entry]

        var kinds: EventKinds { all.reduce(EventKinds()) { $0.union($1.listener.kinds) } }

        init(_ all: [Entry]) {
            self.all = all
            capturing = all.filter { $0.listener.kinds.contains(.taskLocals) }
            telling = all.filter { $0.listener.kinds != .taskLocals }
        }
    }

    private static let listeners = Published(Listeners([]))
    /// Held while the listeners are exchanged; the number that was given last.
    private static let lastNumber = AdaptiveMutex(0)

    /// Whether the task is inside of a listener. What that does with a store, be it in a block for which it does not
    /// wait, is not told, lest it never ends. Binding it costs as much as counting an event: for what runs on the
    /// listener's thread, that thread's own mark does.
    @TaskLocal private static var isTelling = false

    /// Whether anybody listens for one of these.
    @inlinable @inline(__always)
    package static func wants(_ kinds: EventKinds) -> Bool { wanted.load(ordering: .relaxed) & kinds.rawValue != 0 }

    /// - Returns: what ``remove(_:)`` takes.
    package static func add(_ listener: EventListener) -> Int {
        lastNumber.withLock { lastNumber in
            lastNumber += 1
            publish(listeners.value.all + [Entry(lastNumber, listener)])
            return lastNumber
        }
    }

    /// Events that are being told still reach the listener.
    package static func remove(_ number: Int) {
        lastNumber.withLock { _ in publish(listeners.value.all.filter { $0.number != number }) }
    }

    private static func publish(_ all: [Entry]) {
        let new = Listeners(all)
        listeners.publish(new)
        wanted.store(new.kinds.rawValue, ordering: .relaxed)
    }

    /// Tells who listens for it, or, of what is part of something that is told later, with that.
    package static func tell(_ event: StrataEvent) {
        if EventParts.take(event) { return }
        tellNow(event)
    }

    /// As ``tell(_:)-(StrataEvent)``: a flush is mostly part of a save, and made into no event of its own then.
    package static func tell(_ flush: FlushEvent) {
        if EventParts.take(flush) { return }
        tellNow(.flush(flush))
    }

    /// Tells of what was part of something that is not told itself.
    package static func tell(_ parts: EventParts) {
        parts.forEach([.fault, .flush]) { tell($0) }
    }

    /// Tells of an event that is no part of another.
    static func tellNow(_ event: StrataEvent) { tell(event, with: EventParts()) }

    /// Tells who listens for something, and for what was part of it.
    package static func tell(_ event: StrataEvent, with parts: EventParts) {
        if isInside { return }
        let (listeners, kind) = (listeners.value, event.kind)
        strata_events_set_telling(1)
        defer { strata_events_set_telling(0) }
        for entry in listeners.telling {
            let kinds = entry.listener.kinds
            guard kinds.contains(kind) else {
                parts.forEach(kinds) { call(entry, $0, EventParts()) }
                continue
            }
            call(entry, event, parts)
        }
    }

    private static func call(_ entry: Entry, _ event: StrataEvent, _ parts: EventParts) {
        if entry.listener.guardsCalls { return entry.listener.happened(event, parts) }
        callingOut { entry.listener.happened(event, parts) }
    }

    /// Whether the thread or the task is inside of a listener.
    private static var isInside: Bool { strata_events_is_telling() != 0 || isTelling }

    /// Calls what may be another's code, for a listener: tasks that it begins are inside of the listener, too.
    package static func callingOut(_ body: () -> Void) { $isTelling.withValue(true) { body() } }

    /// What listeners bind for the calling task, for work that another thread does for it.
    package static func capture() -> EventListener.Scope? {
        var all: EventListener.Scope?
        if isInside { all = { body in callingOut(body) } }
        for entry in listeners.value.capturing {
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
        _ kinds: EventKinds, of stores: @autoclosure () -> [EventStore], as event: (StoreWork) -> StrataEvent?,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard wants(kinds) else { return try body() }
        let began = EventInstant.now
        do throws(Failure) {
            let result = try body()
            if let event = event(StoreWork(stores: stores(), since: began)) { tell(event) }
            return result
        } catch {
            if let event = event(StoreWork(stores: stores(), since: began, error: error)) { tell(event) }
            throw error
        }
    }
}

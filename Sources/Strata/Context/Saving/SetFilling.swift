import Dispatch
import Foundation
import StrataLog
import Synchronization

/// A set of objects that another core fills with what the context's queue hands over, part by part.
final class SetFilling: @unchecked Sendable {
    // Unchecked: `parts` belongs to the context's queue, `set` to whoever is filling it, which the state says.

    /// Objects that each come with a reference, which goes to the set.
    typealias Part = ContiguousArray<Unmanaged<NSManagedObject>>

    /// Unchecked: constant, and counting references to objects is safe on any thread.
    private final class Handed: @unchecked Sendable {
        let part: Part

        init(_ part: Part) { self.part = part }
    }

    private struct State {
        var waiting: [Handed] = []
        /// Whether a thread has been asked for that is going to look for parts.
        var isScheduled = false
        /// Whether that thread is filling the set.
        var isRunning = false
        /// The context's queue takes the set over.
        var isOver = false
    }

    private let state = Mutex(State())
    private let stopped = DispatchSemaphore(value: 0)
    private var parts: [Part] = []
    private var set: Set<ObjectMember> = []

    /// Gives up the references of objects that are not handed over after all.
    static func release(_ part: Part) {
        for object in part { object.release() }
    }

    /// - Precondition: neither ``finish()`` nor ``cancel()`` has been called.
    func add(_ part: Part) {
        parts.append(part)
        let handed = Handed(part)
        let isNeeded = state.withLock { state in
            state.waiting.append(handed)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isNeeded { HelperPool.shared.async { self.run() } }
    }

    private func run() {
        while let handed = next() { fill(handed.part) }
    }

    private func next() -> Handed? {
        state.withLock { state in
            if state.isOver || state.waiting.isEmpty {
                if state.isOver, state.isRunning { stopped.signal() }
                (state.isScheduled, state.isRunning) = (false, false)
                return nil
            }
            state.isRunning = true
            return state.waiting.removeFirst()
        }
    }

    private func fill(_ part: Part) {
        // Unlike an insertion, this gives nothing back that would have to be counted.
        for object in part { set.update(with: ObjectMember(object.takeRetainedValue())) }
    }

    /// Whether these are the objects that were handed over, in the same order.
    func isFilled(with objects: ContiguousArray<NSManagedObject>) -> Bool {
        guard parts.reduce(0, { $0 + $1.count }) == objects.count else { return false }
        var isSame = true
        objects.withObjectPointers { pointers in
            var index = 0
            for part in parts {
                for object in part {
                    if UnsafeRawPointer(object.toOpaque()) != pointers[index] { isSame = false }
                    index += 1
                }
            }
        }
        return isSame
    }

    /// The set. Whatever the other core has not begun with is put into it here.
    func finish() -> Set<NSManagedObject> {
        for handed in stop() { fill(handed.part) }
        let set = set
        self.set = []
        return set.asObjects()
    }

    /// Lets go of the objects, and returns when the other core has none of them any more. Does nothing after
    /// ``finish()``.
    func cancel() {
        for handed in stop() { Self.release(handed.part) }
        set = []
    }

    /// Takes the set over from the other core, and gives what is still to be put into it.
    private func stop() -> [Handed] {
        let isRunning = state.withLock { state in
            state.isOver = true
            return state.isRunning
        }
        if isRunning { stopped.wait() }
        return state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
